"""Warnings about transfers cut by the end of a run, with a duration that would likely suffice."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.results.columns import connection_keys, distinct, numbers, rows_of
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.results.tables import Results

#: Margin of the advised duration, as a share of the duration of the rest.
_MARGIN = 0.25
#: Minimum growth of the rate during a start-up, from the third to the last quarter of the time.
_STARTUP_GROWTH = 1.5


class _Progress(NamedTuple):
    """Goodput of a connection over time."""

    #: Goodput by slot, Mbit/s.
    goodput: NDArray[np.float64]
    #: Capacity of the bottleneck for the connection by slot, Mbit/s.
    capacity: NDArray[np.float64]
    #: Length of a slot, s.
    slot_s: float

    def rest_s(self, missing_bytes: float, rtt_s: float) -> float:
        """Returns the likely duration of the rest of a transfer, s; infinity if nothing arrives.

        The rate is that of the last half of the time, or of the last quarter if it grew. During a
        start-up it doubles with each RTT until it reaches the capacity (RFC 5681, section 3.1). Parts
        are no shorter than an RTT, within which data arrives in bursts.
        """
        length = max(len(self.goodput) // 4, round(rtt_s / self.slot_s), 1)
        parts = self.goodput[-2 * length : -length], self.goodput[-length:]
        previous_mbps, last_mbps = (float(part.mean()) if len(part) else 0.0 for part in parts)
        rate_mbps = max(last_mbps, (previous_mbps + last_mbps) / 2)
        if not rate_mbps > 0:
            return math.inf
        missing_mbit = 8e-6 * missing_bytes
        known = self.capacity[~np.isnan(self.capacity)]
        capacity_mbps = float(known.mean()) if len(known) else rate_mbps
        is_startup = last_mbps > _STARTUP_GROWTH * previous_mbps
        if is_startup and capacity_mbps > last_mbps and rtt_s > 0:
            return math.log2(capacity_mbps / last_mbps) * rtt_s + missing_mbit / capacity_mbps
        return missing_mbit / rate_mbps


class _Transfer(NamedTuple):
    """Transfer of a flow: its run and connection, and how far it came."""

    run: int
    connection: int
    completion_s: float
    rtt_mean_ms: float
    done_bytes: int
    #: Time from its request to the end of the run, s.
    time_so_far_s: float

    @property
    def is_complete(self) -> bool:
        """Whether the transfer was complete."""
        return not math.isnan(self.completion_s)


def cut_transfers(results: Results, sizes: Mapping[FlowUnderTest, tuple[str, float]]) -> list[str]:
    """Returns a warning for each flow with cut transfers, with a duration that would likely suffice.

    Flows that delivered nothing are left out: `no_delivery` names them. So are transfers whose time so
    far is below that of a complete one of their run.

    `sizes` has the size of each flow's transfers as text and in bytes.
    """
    duration_s = float(results.about["duration_s"])
    progress: dict[tuple[int, int], _Progress] = {}
    # Numbers of cut and of all transfers, and the duration needed, by flow and CCA mix.
    cut: dict[tuple[str, str, bool], dict[str, tuple[int, int, float]]] = {}
    for (lineup, name), group in _transfers(results).items():
        flows = (each for flow, each in sizes.items() if flow.includes(name))
        text, size = next(flows, ("", 0.0))
        longest: dict[int, float] = {}
        for each in group:
            if each.is_complete:
                longest[each.run] = max(each.completion_s, longest.get(each.run, 0.0))
        unfinished = [
            each
            for each in group
            if not each.is_complete and each.time_so_far_s > longest.get(each.run, 0.0)
        ]
        is_delivered = all(each.done_bytes for each in group)
        if not size or not unfinished or not is_delivered:
            continue
        progress = progress or _progress(results)
        rests = (
            progress[key].rest_s(size - each.done_bytes, rtt_s)
            for each in unfinished
            if (key := (each.run, each.connection)) in progress
            for rtt_s in [0.0 if math.isnan(each.rtt_mean_ms) else each.rtt_mean_ms / 1e3]
        )
        needed_s = duration_s + (1 + _MARGIN) * max(rests, default=math.inf)
        by_cca = cut.setdefault((name, text, not longest), {})
        by_cca[lineup] = len(unfinished), len(group), needed_s
    names = labels(results.lineups.values())
    return [
        f"{', '.join(names[lineup] for lineup in by_cca)}: "
        f"{_text(name, text, by_cca.values(), duration_s, is_all=is_all)}; "
        f"{_advice(needed_s for _, _, needed_s in by_cca.values())}"
        for (name, text, is_all), by_cca in cut.items()
    ]


def unfinished_sequences(results: Results, counts: Mapping[FlowUnderTest, int]) -> list[str]:
    """Returns a warning for each sequence whose last transfers were not complete within the runs.

    The duration that would likely suffice is that for as many transfers at the pace of those.

    `counts` has the number of transfers of each flow in a run.
    """
    duration_s, names = float(results.about["duration_s"]), labels(results.lineups.values())
    run_counts = collections.Counter(results.lineups.values())
    by_flow: dict[str, dict[str, float]] = {}
    for (lineup, name), group in _transfers(results).items():
        complete = sum(each.is_complete for each in group) / run_counts[lineup]
        flow = next((flow for flow in counts if flow.includes(name)), None)
        if flow is not None:
            by_cca = by_flow.setdefault(flow.name, {})
            by_cca[lineup] = by_cca.get(lineup, 0.0) + complete
    warnings = []
    for flow, count in counts.items():
        means = {lineup: mean for lineup, mean in by_flow.get(flow.name, {}).items() if mean < count}
        if not means:
            continue
        fewest, most = (f"{of(means.values()):.3g}" for of in (min, max))
        mean_text = fewest if fewest == most else f"{fewest} to {most}"
        needed_s = (1 + _MARGIN) * duration_s * count / (min(means.values()) or math.nan)
        advice = "a longer --duration" if math.isnan(needed_s) else f"--duration {math.ceil(needed_s)}s"
        warnings.append(
            f"{', '.join(names[lineup] for lineup in means)}: {mean_text} of {count} transfers of "
            f"{flow.name} were complete within the {duration_s:g} s of a run; {advice} would likely do"
        )
    return warnings


def _transfers(results: Results) -> dict[tuple[str, str], list[_Transfer]]:
    """Returns the transfers by CCA mix and name of the flow."""
    duration_s, lineups = float(results.about["duration_s"]), results.lineups
    columns = ("run", "flow", "name", "start_s", "completion_s", "rtt_mean_ms", "bytes")
    transfers: dict[tuple[str, str], list[_Transfer]] = {}
    for run, number, name, start_s, end_s, rtt_ms, done in rows_of(results.tables["flows"], *columns):
        if run in lineups:
            transfer = _Transfer(run, number, end_s, rtt_ms, done, duration_s - start_s)
            transfers.setdefault((lineups[run], name), []).append(transfer)
    return transfers


def _text(
    name: str, size: str, counts: Iterable[tuple[int, int, float]], duration_s: float, *, is_all: bool
) -> str:
    """Returns how many transfers of a flow were cut, and what that does to their times."""
    within = f"complete within the {duration_s:g} s of a run"
    if is_all:
        return f"no transfer of {name} ({size}) was {within}"
    cut, every = (sum(each) for each in list(zip(*counts, strict=True))[:2])
    return (
        f"{cut} of {every} transfers of {name} ({size}) {'was' if cut == 1 else 'were'} not {within}, "
        "so that their times are lower bounds"
    )


def _advice(needed_s: Iterable[float]) -> str:
    longest = max(needed_s)
    if math.isinf(longest):
        return "nothing arrived any more at the end of a run, so that a longer one need not do"
    return f"--duration {math.ceil(longest)}s would likely do"


def _progress(results: Results) -> dict[tuple[int, int], _Progress]:
    """Returns the goodput of each connection over time, by run and number of the connection."""
    slots = results.tables["slots"]
    keys, _, group = distinct(connection_keys(slots))
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(keys) + 1))
    goodput, capacity = (numbers(slots[name])[order] for name in ("goodput_mbps", "capacity_mbps"))
    runs, flows = (numbers(slots[name])[order] for name in ("run", "flow"))
    slot_s = float(results.about["slot_s"])
    return {
        (int(runs[begin]), int(flows[begin])): _Progress(
            goodput[begin:end], capacity[begin:end], slot_s
        )
        for begin, end in itertools.pairwise(bounds.tolist())
    }
