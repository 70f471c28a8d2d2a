"""Cost of a CCA switch in the second after it, against a run without the switch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from celltcp._core import NATIVE
from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job
from celltcp.results.rows import spans
from celltcp.results.tables import frame
from celltcp.scenarios.scenarios import ScenarioSource

#: Time before and after a switch that is compared, s.
_WINDOW_S = 1.0

#: Reasons why switches are not measured.
_OTHER_CONNECTION = "not of the first connection"
_NEAR_END = "less than 1 s before the end of the connection"


class Switch(NamedTuple):
    """A switch of the CCA, as scenarios have it in `switch`."""

    t_ns: int
    to_cca: str
    how: str


@dataclass(frozen=True)
class SelectorSwitch:
    """A switch that a selector made, and its effects."""

    label: str
    seed: int
    t_ns: int
    cause: str
    from_cca: str
    to_cca: str
    #: Congestion control at the establishment, and switches before this switch.
    first: str
    earlier: tuple[Switch, ...]
    #: Reason why the switch is not measured; empty if it is.
    unmeasured: str
    #: Retransmitted share of the packets of the second after the switch; NaN if unmeasured, as
    #: are the others, and those of before also where there is no whole second before.
    lost: float
    goodput_before_mbps: float
    goodput_after_mbps: float
    capacity_before_mbps: float
    capacity_after_mbps: float
    #: Past that a replay must share: bytes delivered, bytes waiting, retransmissions.
    past: tuple[int, int, int]

    @property
    def replay(self) -> tuple[object, ...]:
        """Key of the run without this switch. Switches that share that run have the same key."""
        return self.seed, self.t_ns, self.first, self.earlier


def switches_in(tables: dict[str, pa.Table], jobs: Sequence[Job]) -> list[SelectorSwitch]:
    """Returns the switches in these runs, with the reason for each that cannot be measured.

    A choice at the end of the handshake, before anything is sent, is not a switch. It belongs to the
    switches before a switch, and is of the kind `kernel`.
    """
    if "decisions" not in tables:
        return []
    decisions = frame(tables["decisions"]).sort_values(["run", "flow", "t_ns"])
    slots = frame(tables["slots"])
    slots = slots[slots["flow"] == 0]
    rows_of = spans(slots["run"])
    result: list[SelectorSwitch] = []
    numbered = {job.number: job for job in jobs}
    for run, group in decisions.groupby("run", sort=True):
        if not (group["cause"] != "establishment").any():
            continue
        job = numbered[int(str(run))]
        run_slots = _Slots(
            slots[rows_of.get(job.number, slice(0))], job.scenario.slot_s, packet_bytes(job)
        )
        for flow, rows in group.groupby("flow", sort=True):
            result += _selector_switches(rows, job, run_slots if flow == 0 else None)
    return result


def _selector_switches(
    decisions: pd.DataFrame, job: Job, slots: _Slots | None
) -> Iterator[SelectorSwitch]:
    """Returns the switches of a connection; only for the first of a run are slots known."""
    first, *later = decisions.to_dict("records")
    earlier: tuple[Switch, ...] = ()
    for each in later:
        t_ns, to_cca, cause = int(each["t_ns"]), str(each["to_cca"]), str(each["cause"])
        if cause == "establishment":
            if to_cca != each["from_cca"]:
                earlier = (*earlier, Switch(t_ns, to_cca, "kernel"))
            continue
        before = slots.before(t_ns) if slots else None
        after = slots.after(t_ns) if slots else None
        yield SelectorSwitch(
            job.cca,
            job.seed,
            t_ns,
            cause,
            str(each["from_cca"]),
            to_cca,
            str(first["to_cca"]),
            earlier,
            _OTHER_CONNECTION if slots is None else _NEAR_END if after is None else "",
            slots.lost(after) if slots and after is not None else math.nan,
            _mean(before, "goodput_mbps"),
            _mean(after, "goodput_mbps"),
            _mean(before, "capacity_mbps"),
            _mean(after, "capacity_mbps"),
            slots.past(t_ns) if slots else (0, 0, 0),
        )
        earlier = (*earlier, Switch(t_ns, to_cca, "context"))


def _mean(slots: pd.DataFrame | None, column: str) -> float:
    return math.nan if slots is None else float(slots[column].mean())


def replay_jobs(source: ScenarioSource, changes: Sequence[SelectorSwitch], engine: Engine) -> list[Job]:
    """Returns runs without each switch and those after it; switches may share a run.

    Only the native engine repeats a run exactly up to the switch; on another engine there are none.
    """
    jobs: dict[tuple[object, ...], Job] = {}
    for change in changes:
        if change.unmeasured or change.replay in jobs or engine.name != NATIVE:
            continue
        switches = ", ".join(
            f'{{at = "{at}ns", to = "{to}", mode = "{how}"}}' for at, to, how in change.earlier
        )
        # A slot more than what is measured, which begins and ends with slots, as runs do.
        slot_ns = round(source.scenario.slot_s * 1e9)
        end_ns = (-(-(change.t_ns + round(_WINDOW_S * 1e9)) // slot_ns) + 1) * slot_ns
        end_ns = min(end_ns, round(source.scenario.duration_s * 1e9))
        changed = source.changed(
            f'flows.0.cca="{change.first}"', f"flows.0.switch=[{switches}]", f'duration="{end_ns}ns"'
        ).scenario
        label = f"{change.first}-stays-at-{change.t_ns}"
        jobs[change.replay] = Job(len(jobs), label, change.seed, changed, engine)
    return list(jobs.values())


def costs_of(
    changes: Sequence[SelectorSwitch], tables: dict[str, pa.Table] | None, jobs: Sequence[Job]
) -> pd.DataFrame:
    """Returns a row per switch: losses in the second after it, with it and in the replay without it.

    `unmeasured` says why a switch could not be measured; empty if it was. `replayed` says whether
    there is a run without the switch and with the same past to the byte; if not, `lost_staying` is NaN.
    """
    order = dict.fromkeys(change.replay for change in changes if not change.unmeasured)
    stays: dict[tuple[object, ...], _Slots] = {}
    if tables:
        slots = frame(tables["slots"])
        slots = slots[slots["flow"] == 0]
        rows_of = spans(slots["run"])
        for key, job in zip(order, jobs, strict=True):
            selected = slots[rows_of.get(job.number, slice(0))]
            stays[key] = _Slots(selected, job.scenario.slot_s, packet_bytes(job))
    rows = []
    for change in changes:
        stay = None if change.unmeasured else stays.get(change.replay)
        after = stay.after(change.t_ns) if stay else None
        same = stay is not None and after is not None and stay.past(change.t_ns) == change.past
        lost = stay.lost(after) if stay and after is not None and same else math.nan
        rows.append(
            {
                "label": change.label,
                "seed": change.seed,
                "t_s": change.t_ns * 1e-9,
                "cause": change.cause,
                "from_cca": change.from_cca,
                "to_cca": change.to_cca,
                "unmeasured": change.unmeasured,
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


def packet_bytes(job: Job) -> int:
    """Returns the size of a full packet at the IP layer, bytes."""
    return int(str(json.loads(job.scenario.to_json())["path"]["mtu"]).rstrip("B"))


class _Slots:
    """Slots of the connection, counted from the start of the run."""

    def __init__(self, slots: pd.DataFrame, slot_s: float, packet: int) -> None:
        self._slots = slots.set_index((slots["t_s"] / slot_s).round().astype(int))
        self._slot_s = slot_s
        self._second = round(_WINDOW_S / slot_s)
        self._packet = packet

    def before(self, t_ns: int) -> pd.DataFrame | None:
        """Returns the whole slots of the second before; None if some are missing."""
        end = math.floor(t_ns * 1e-9 / self._slot_s + 1e-9)
        return self._whole(end - self._second, end)

    def after(self, t_ns: int) -> pd.DataFrame | None:
        """Returns the whole slots of the second after; None if some are missing."""
        begin = math.ceil(t_ns * 1e-9 / self._slot_s - 1e-9)
        return self._whole(begin, begin + self._second)

    def _whole(self, begin: int, end: int) -> pd.DataFrame | None:
        result = self._slots.loc[begin : end - 1]
        return result if len(result) == end - begin else None

    def lost(self, slots: pd.DataFrame) -> float:
        """Returns retransmitted segments over arrived packets plus these, in full packets."""
        retransmissions = float(slots["retransmissions"].sum())
        arrived = float(slots["rate_mbps"].sum()) * self._slot_s * 1e6 / 8 / self._packet
        return retransmissions / (arrived + retransmissions) if arrived + retransmissions else 0.0

    def past(self, t_ns: int) -> tuple[int, int, int]:
        """Returns sums over the slots before: bytes delivered, bytes queued, segments retransmitted."""
        end = math.floor(t_ns * 1e-9 / self._slot_s + 1e-9)
        before = self._slots.loc[: end - 1]
        columns = ("delivered_bytes", "queue_bytes", "retransmissions")
        delivered, waiting, retransmissions = (int(before[column].sum()) for column in columns)
        return delivered, waiting, retransmissions
