"""Warnings about transfers cut by the end of a run, with a duration that would likely suffice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
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


def cut_transfers(results: Results, sizes: Mapping[FlowUnderTest, tuple[str, float]]) -> list[str]:
    """Returns a warning for each flow without a complete transfer, with a sufficient duration.

    Flows that delivered nothing are left out: `no_delivery` names them.

    `sizes` has the size of each flow's transfers as text and in bytes.
    """
    duration_s = float(results.about["duration_s"])
    lineups = results.lineups
    transfers: dict[tuple[str, str], list[tuple[tuple[int, int], float, float, int]]] = {}
    columns = ("run", "flow", "name", "completion_s", "rtt_mean_ms", "bytes")
    for run, number, name, *transfer in rows_of(results.tables["flows"], *columns):
        if run in lineups:
            key = lineups[run], name
            transfers.setdefault(key, []).append(((run, number), *transfer))
    cut = {
        (lineup, name): (text, size, group)
        for (lineup, name), group in transfers.items()
        for text, size in [
            next(
                (text_and_bytes for flow, text_and_bytes in sizes.items() if flow.includes(name)),
                ("", 0.0),
            )
        ]
        if size and all(math.isnan(end) and done for _, end, _, done in group)
    }
    progress = _progress(results) if cut else {}
    needed: dict[tuple[str, str], dict[str, float]] = {}
    for (lineup, name), (text, size, group) in cut.items():
        rests = (
            progress[key].rest_s(size - done, 0.0 if math.isnan(rtt_ms) else rtt_ms / 1e3)
            for key, _, rtt_ms, done in group
            if key in progress
        )
        longest = duration_s + (1 + _MARGIN) * max(rests, default=math.inf)
        needed.setdefault((name, text), {})[lineup] = longest
    names = labels(lineups.values())
    return [
        f"{', '.join(names[lineup] for lineup in by_cca)}: no transfer of {name} ({text}) was complete "
        f"within the {duration_s:g} s of a run; {_advice(by_cca)}"
        for (name, text), by_cca in needed.items()
    ]


def _advice(needed: Mapping[str, float]) -> str:
    longest = max(needed.values())
    if math.isinf(longest):
        return "nothing arrived any more at its end, so that no duration is known that would do"
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
