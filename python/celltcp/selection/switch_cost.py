"""Cost of a CCA switch: effects in the second after it, compared with a run without the switch."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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

#: Length of the windows before and after a switch that are compared, s.
_WINDOW_S = 1.0

#: Reasons why switches are not measured.
_OTHER_CONNECTION = "not of the first connection"
_NEAR_END = "less than 1 s before the end of the connection"


#: Columns of `costs_of`.
_COST_COLUMNS = (
    *("label", "seed", "t_s", "cause", "from_cca", "to_cca", "unmeasured"),
    *("lost", "lost_staying", "replayed", "goodput_before_mbps", "goodput_after_mbps"),
    *("capacity_before_mbps", "capacity_after_mbps"),
)


class Switch(NamedTuple):
    """A switch of the CCA, as in the field `switch` of a flow."""

    t_ns: int
    to_cca: str
    mode: str


@dataclass(frozen=True)
class SelectorSwitch:
    """A switch that a selector made, and its effects.

    Effects are NaN if the switch is unmeasured. Those before it are NaN as well if it has no whole
    second before it.
    """

    label: str
    seed: int
    t_ns: int
    cause: str
    from_cca: str
    to_cca: str
    #: Congestion control at the establishment.
    first_cca: str
    earlier: tuple[Switch, ...]
    #: Reason why the switch is not measured; empty if it is.
    unmeasured: str
    #: Retransmitted share of the packets of the second after the switch.
    lost: float
    goodput_before_mbps: float
    goodput_after_mbps: float
    capacity_before_mbps: float
    capacity_after_mbps: float
    #: Past that a replay must share, see `_Slots.past`.
    past: tuple[int, ...]

    @property
    def replay_key(self) -> tuple[object, ...]:
        """Key of the run without this switch. Switches that share a run have the same key."""
        return self.seed, self.t_ns, self.first_cca, self.earlier


def switches_in(tables: dict[str, pa.Table], jobs: Sequence[Job]) -> list[SelectorSwitch]:
    """Returns the switches in these runs, with the reason for each that cannot be measured.

    A choice at the end of the handshake, before anything is sent, is not a switch. It is one of the
    earlier switches of later ones, with the mode `kernel`.
    """
    if "decisions" not in tables:
        return []
    decisions = frame(tables["decisions"]).sort_values(["run", "flow", "t_ns"])
    slots_of = _slots_of_first(tables)
    result: list[SelectorSwitch] = []
    job_of = {job.number: job for job in jobs}
    for run, group in decisions.groupby("run", sort=True):
        if (group["cause"] != "establishment").any():
            job = job_of[int(str(run))]
            for flow, rows in group.groupby("flow", sort=True):
                result += _selector_switches(rows, job, slots_of(job) if flow == 0 else None)
    return result


def _selector_switches(
    decisions: pd.DataFrame, job: Job, slots: _Slots | None
) -> Iterator[SelectorSwitch]:
    """Yields the switches of a connection; slots are given for the first connection of a run."""
    first, *later = decisions.to_dict("records")
    earlier: tuple[Switch, ...] = ()
    for decision in later:
        t_ns, to_cca = int(decision["t_ns"]), str(decision["to_cca"])
        if decision["cause"] == "establishment":
            if to_cca != decision["from_cca"]:
                earlier = (*earlier, Switch(t_ns, to_cca, "kernel"))
            continue
        before = slots.before(t_ns) if slots else None
        after = slots.after(t_ns) if slots else None
        yield SelectorSwitch(
            job.cca,
            job.seed,
            t_ns,
            str(decision["cause"]),
            str(decision["from_cca"]),
            to_cca,
            str(first["to_cca"]),
            earlier,
            _OTHER_CONNECTION if slots is None else _NEAR_END if after is None else "",
            slots.lost(after) if slots and after is not None else math.nan,
            _mean(before, "goodput_mbps"),
            _mean(after, "goodput_mbps"),
            _mean(before, "capacity_mbps"),
            _mean(after, "capacity_mbps"),
            slots.past(t_ns) if slots else (),
        )
        earlier = (*earlier, Switch(t_ns, to_cca, "context"))


def _mean(slots: pd.DataFrame | None, column: str) -> float:
    return math.nan if slots is None else float(slots[column].mean())


def replay_jobs(
    source: ScenarioSource, switches: Sequence[SelectorSwitch], engine: Engine
) -> list[Job]:
    """Returns the runs without the measured switches, each without the switches after it as well.

    Only the native engine repeats a run exactly up to the switch; for another engine there are none.
    """
    jobs: dict[tuple[object, ...], Job] = {}
    for switch in switches:
        if switch.unmeasured or switch.replay_key in jobs or engine.name != NATIVE:
            continue
        earlier = ", ".join(
            f'{{at = "{t_ns}ns", to = "{to_cca}", mode = "{mode}"}}'
            for t_ns, to_cca, mode in switch.earlier
        )
        # A run ends with a slot, and one slot after the measured ones.
        slot_ns = round(source.scenario.slot_s * 1e9)
        end_ns = (-(-(switch.t_ns + round(_WINDOW_S * 1e9)) // slot_ns) + 1) * slot_ns
        end_ns = min(end_ns, round(source.scenario.duration_s * 1e9))
        scenario = source.changed(
            f'flows.0.cca="{switch.first_cca}"',
            f"flows.0.switch=[{earlier}]",
            f'duration="{end_ns}ns"',
        ).scenario
        label = f"{switch.first_cca}-stays-at-{switch.t_ns}"
        jobs[switch.replay_key] = Job(len(jobs), label, switch.seed, scenario, engine)
    return list(jobs.values())


def costs_of(
    switches: Sequence[SelectorSwitch], tables: dict[str, pa.Table] | None, replays: Sequence[Job]
) -> pd.DataFrame:
    """Returns a row per switch: its fields, and the losses in the replay without it.

    `replayed` is whether there is a replay with the same past to the byte. If not, `lost_staying` is
    NaN.

    Args:
        switches: the switches.
        tables: tables of the replays.
        replays: runs of `replay_jobs`.
    """
    keys = dict.fromkeys(switch.replay_key for switch in switches if not switch.unmeasured)
    replay_slots: dict[tuple[object, ...], _Slots] = {}
    if tables:
        replay_slots = dict(zip(keys, map(_slots_of_first(tables), replays), strict=True))
    rows = []
    for switch in switches:
        replay = None if switch.unmeasured else replay_slots.get(switch.replay_key)
        after = replay.after(switch.t_ns) if replay else None
        values = vars(switch) | {"t_s": switch.t_ns * 1e-9, "lost_staying": math.nan, "replayed": False}
        if replay and after is not None and replay.past(switch.t_ns) == switch.past:
            values |= {"lost_staying": replay.lost(after), "replayed": True}
        rows.append({name: values[name] for name in _COST_COLUMNS})
    return pd.DataFrame(rows)


def packet_bytes(job: Job) -> int:
    """Returns the size of a full packet at the IP layer, bytes."""
    return int(str(json.loads(job.scenario.to_json())["path"]["mtu"]).rstrip("B"))


def _slots_of_first(tables: Mapping[str, pa.Table]) -> Callable[[Job], _Slots]:
    """Returns a function that returns the slots of the first connection of a run."""
    slots = frame(tables["slots"])
    slots = slots[slots["flow"] == 0]
    rows_of = spans(slots["run"])
    return lambda job: _Slots(slots[rows_of.get(job.number, slice(0))], job)


class _Slots:
    """Slots of the first connection of a run, by their index in the run."""

    def __init__(self, slots: pd.DataFrame, job: Job) -> None:
        self._slot_s = job.scenario.slot_s
        self._slots = slots.set_index((slots["t_s"] / self._slot_s).round().astype(int))
        self._window = round(_WINDOW_S / self._slot_s)
        self._packet_bytes = packet_bytes(job)

    def before(self, t_ns: int) -> pd.DataFrame | None:
        """Returns the slots of the second before a time; None if some are missing."""
        end = math.floor(t_ns * 1e-9 / self._slot_s + 1e-9)
        return self._complete(end - self._window, end)

    def after(self, t_ns: int) -> pd.DataFrame | None:
        """Returns the slots of the second after a time; None if some are missing."""
        start = math.ceil(t_ns * 1e-9 / self._slot_s - 1e-9)
        return self._complete(start, start + self._window)

    def _complete(self, start: int, end: int) -> pd.DataFrame | None:
        slots = self._slots.loc[start : end - 1]
        return slots if len(slots) == end - start else None

    def lost(self, slots: pd.DataFrame) -> float:
        """Returns retransmissions as a share of these and of arrived data in full packets."""
        retransmissions = float(slots["retransmissions"].sum())
        arrived = float(slots["rate_mbps"].sum()) * self._slot_s * 1e6 / 8 / self._packet_bytes
        return retransmissions / (arrived + retransmissions) if arrived + retransmissions else 0.0

    def past(self, t_ns: int) -> tuple[int, ...]:
        """Returns sums over the slots before a time: bytes delivered and queued, retransmissions."""
        end = math.floor(t_ns * 1e-9 / self._slot_s + 1e-9)
        columns = ["delivered_bytes", "queue_bytes", "retransmissions"]
        return tuple(self._slots.loc[: end - 1, columns].sum().astype(int))
