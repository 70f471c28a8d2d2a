"""What a change of the congestion control costs in the second after it, against staying."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from celltcp.campaign import Job
from celltcp.comparison import frame
from celltcp.engines import Engine
from celltcp.selection.sources import Source
from celltcp.statistics import Estimate, estimate

#: Over which time a change is looked at, s.
_LOOKED_AT_S = 1.0


class TakeOver(NamedTuple):
    """Another congestion control takes over, as scenarios have it in `switch`."""

    t_ns: int
    to_cca: str
    how: str


@dataclass(frozen=True)
class Change:
    """A change that a selector made, and what followed."""

    label: str
    seed: int
    t_ns: int
    cause: str
    from_cca: str
    to_cca: str
    #: Who was there at the establishment, and what was done before this change.
    first: str
    earlier: tuple[TakeOver, ...]
    #: Share of the packets of the second after the change that were sent again.
    lost: float
    goodput_before_mbps: float
    goodput_after_mbps: float
    capacity_before_mbps: float
    capacity_after_mbps: float
    #: What tells whether a replay has the same past: bytes delivered and waiting, segments sent again.
    past: tuple[int, int, int]

    @property
    def staying(self) -> tuple[object, ...]:
        """The same for changes of which staying is the same run."""
        return self.seed, self.t_ns, self.first, self.earlier


def changes_in(tables: dict[str, pa.Table], jobs: Sequence[Job]) -> list[Change]:
    """The changes of first connections in these runs, but for those too near to the ends.

    What is chosen at the first RTT sample changes nothing that has been under way; it is no change, but
    part of what was done before one, and takes over as in the kernel.
    """
    if "decisions" not in tables:
        return []
    decisions = frame(tables["decisions"])
    slots = frame(tables["slots"])
    slots = slots[slots["flow"] == 0]
    found: list[Change] = []
    numbered = {job.number: job for job in jobs}
    mine = decisions[decisions["flow"] == 0].sort_values(["run", "t_ns"])
    for run, rows in mine.groupby("run", sort=True):
        job = numbered[int(str(run))]
        first, *later = rows.to_dict("records")
        if not later:
            continue
        here = _Slots(slots[slots["run"] == run], job.scenario.slot_s, packet_bytes(job))
        earlier: tuple[TakeOver, ...] = ()
        for each in later:
            t_ns, to_cca, cause = int(each["t_ns"]), str(each["to_cca"]), str(each["cause"])
            if cause == "establishment":
                if to_cca != each["from_cca"]:
                    earlier = (*earlier, TakeOver(t_ns, to_cca, "kernel"))
                continue
            seconds = here.around(t_ns)
            if seconds is not None:
                before, after = seconds
                found.append(
                    Change(
                        job.cca,
                        job.seed,
                        t_ns,
                        cause,
                        str(each["from_cca"]),
                        to_cca,
                        str(first["to_cca"]),
                        earlier,
                        here.lost(after),
                        float(before["goodput_mbps"].mean()),
                        float(after["goodput_mbps"].mean()),
                        float(before["capacity_mbps"].mean()),
                        float(after["capacity_mbps"].mean()),
                        here.past(t_ns),
                    )
                )
            earlier = (*earlier, TakeOver(t_ns, to_cca, "context"))
    return found


def staying_jobs(source: Source, changes: Sequence[Change], engine: Engine) -> list[Job]:
    """Runs in which each change was not made, and none after it; one for changes that share it."""
    jobs: dict[tuple[object, ...], Job] = {}
    for change in changes:
        if change.staying in jobs:
            continue
        switches = ", ".join(
            f'{{at = "{at}ns", to = "{to}", how = "{how}"}}' for at, to, how in change.earlier
        )
        # A slot more than what is looked at, which begins and ends with slots, as runs do.
        slot_ns = round(source.scenario.slot_s * 1e9)
        end_ns = (-(-(change.t_ns + round(_LOOKED_AT_S * 1e9)) // slot_ns) + 1) * slot_ns
        end_ns = min(end_ns, round(source.scenario.duration_s * 1e9))
        changed = source.changed(
            f'flows.0.cca="{change.first}"', f"flows.0.switch=[{switches}]", f'duration="{end_ns}ns"'
        )
        label = f"{change.first}-stays-at-{change.t_ns}"
        jobs[change.staying] = Job(len(jobs), label, change.seed, changed, engine)
    return list(jobs.values())


def costs_of(
    changes: Sequence[Change], tables: dict[str, pa.Table] | None, jobs: Sequence[Job]
) -> pd.DataFrame:
    """One row per change: what was lost in the second after it, and what staying would have lost.

    `replayed` tells whether the run that stays has the same past to the byte; if not, `lost_staying` is
    NaN.
    """
    order = list(dict.fromkeys(change.staying for change in changes))
    slots = frame(tables["slots"]) if tables else pd.DataFrame()
    slots = slots[slots["flow"] == 0] if tables else slots
    stays = {
        key: _Slots(slots[slots["run"] == job.number], job.scenario.slot_s, packet_bytes(job))
        for key, job in zip(order, jobs, strict=True)
    }
    rows = []
    for change in changes:
        stay = stays[change.staying]
        seconds = stay.around(change.t_ns)
        same = seconds is not None and stay.past(change.t_ns) == change.past
        lost = stay.lost(seconds[1]) if seconds is not None and same else math.nan
        rows.append(
            {
                "label": change.label,
                "seed": change.seed,
                "t_s": change.t_ns * 1e-9,
                "cause": change.cause,
                "from_cca": change.from_cca,
                "to_cca": change.to_cca,
                "lost": change.lost,
                "lost_staying": lost,
                "replayed": same,
                "goodput_before_mbps": change.goodput_before_mbps,
                "goodput_after_mbps": change.goodput_after_mbps,
                "capacity_before_mbps": change.capacity_before_mbps,
                "capacity_after_mbps": change.capacity_after_mbps,
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Price:
    """What changes cost on average."""

    changes: int
    replayed: int
    #: Share of packets sent again in the second after a change, and if it had not been made.
    lost: Estimate
    lost_staying: Estimate
    #: The difference, change by change.
    extra: Estimate
    #: Changes after which the capacity was no lower than before, and what the goodput then did, in %
    #: of the mean before.
    capacity_held: int
    goodput_change: Estimate


def price_of(costs: pd.DataFrame) -> Price:
    """Means over changes, those without a replay left out of the losses."""
    same = costs[costs["replayed"]]
    held = costs[costs["capacity_after_mbps"] >= costs["capacity_before_mbps"]]
    # Single ratios have no mean where next to nothing came through before.
    before = held["goodput_before_mbps"]
    change = 100 * (held["goodput_after_mbps"] - before) / before.mean()
    return Price(
        len(costs),
        len(same),
        estimate(same["lost"].tolist()),
        estimate(same["lost_staying"].tolist()),
        estimate((same["lost"] - same["lost_staying"]).tolist()),
        len(held),
        estimate(change.tolist()),
    )


def packet_bytes(job: Job) -> int:
    """Size of a full packet at the IP layer, bytes."""
    return int(str(json.loads(job.scenario.to_json())["path"]["mtu"]).rstrip("B"))


class _Slots:
    """The slots of a connection, counted from the start of the run."""

    def __init__(self, slots: pd.DataFrame, slot_s: float, packet: int) -> None:
        self._slots = slots.set_index((slots["t_s"] / slot_s).round().astype(int))
        self._slot_s = slot_s
        self._packet = packet

    def around(self, t_ns: int) -> tuple[pd.DataFrame, pd.DataFrame] | None:
        """The seconds before and after, in whole slots; none if one is not all there."""
        count = round(_LOOKED_AT_S / self._slot_s)
        exact = t_ns * 1e-9 / self._slot_s
        begin, end = math.ceil(exact - 1e-9), math.floor(exact + 1e-9)
        before = self._slots.loc[end - count : end - 1]
        after = self._slots.loc[begin : begin + count - 1]
        return (before, after) if len(before) == len(after) == count else None

    def lost(self, slots: pd.DataFrame) -> float:
        """Segments sent again over packets that arrived and those, in full packets."""
        again = float(slots["retransmissions"].sum())
        arrived = float(slots["rate_mbps"].sum()) * self._slot_s * 1e6 / 8 / self._packet
        return again / (arrived + again) if arrived + again else 0.0

    def past(self, t_ns: int) -> tuple[int, int, int]:
        """Sums of bytes delivered, bytes waiting and segments sent again in the slots before."""
        end = math.floor(t_ns * 1e-9 / self._slot_s + 1e-9)
        before = self._slots.loc[: end - 1]
        columns = ("delivered_bytes", "queue_bytes", "retransmissions")
        delivered, waiting, again = (int(before[column].sum()) for column in columns)
        return delivered, waiting, again
