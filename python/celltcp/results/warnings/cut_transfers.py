"""Warnings about transfers cut by the end of a run, with a duration that would likely suffice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.results.columns import connections, distinct, numbers, rows_of
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.results.tables import Results

#: Margin of the advised duration, as a share of the rest of the transfer.
_MARGIN = 0.25
#: Growth of the rate from one quarter of the time so far to the next that shows a start-up.
_STARTUP_GROWTH = 1.5


class _Progress(NamedTuple):
    """Goodput of a connection, and what the bottleneck could have carried for it, Mbit/s by slot."""

    goodput: NDArray[np.float64]
    capacity: NDArray[np.float64]
    #: Length of a slot, s.
    slot_s: float

    def rest_s(self, missing_bytes: float, rtt_s: float) -> float:
        """Returns the time that the rest of a transfer would likely take, s; infinity if nothing comes.

        The rate stays what it was in the latest half of the time, or in the latest quarter if it grew.
        During a start-up it doubles with each RTT until it has the capacity (RFC 5681, section 3.1).
        Parts are no shorter than an RTT, within which data comes in bursts.
        """
        length = max(len(self.goodput) // 4, round(rtt_s / self.slot_s), 1)
        parts = self.goodput[-2 * length : -length], self.goodput[-length:]
        before, latest = (float(part.mean()) if len(part) else 0.0 for part in parts)
        rate = max(latest, (before + latest) / 2)
        if not rate > 0:
            return math.inf
        missing_mbit = 8e-6 * missing_bytes
        known = self.capacity[~np.isnan(self.capacity)]
        capacity = float(known.mean()) if len(known) else rate
        if latest > _STARTUP_GROWTH * before and capacity > latest and rtt_s > 0:
            return math.log2(capacity / latest) * rtt_s + missing_mbit / capacity
        return missing_mbit / rate


def cut_transfers(results: Results, sizes: Mapping[FlowUnderTest, tuple[str, float]]) -> list[str]:
    """Returns a warning for each flow of which no transfer was complete, with a duration that would do.

    Flows that delivered nothing are left out: `no_delivery` names them.

    Args:
        results: of a campaign.
        sizes: size of the transfers of each flow, as text and in bytes.
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
            next((each for flow, each in sizes.items() if flow.includes(name)), ("", 0.0))
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
        f"{', '.join(names[each] for each in by_cca)}: no transfer of {name} ({text}) was complete "
        f"within the {duration_s:g} s of a run; {_advice(by_cca)}"
        for (name, text), by_cca in needed.items()
    ]


def _advice(needed: Mapping[str, float]) -> str:
    longest = max(needed.values())
    if math.isinf(longest):
        return "nothing arrived any more at its end, so that no duration is known that would do"
    return f"--duration {math.ceil(longest)}s would likely do"


def _progress(results: Results) -> dict[tuple[int, int], _Progress]:
    """Returns the goodput of each connection over the time of its slots, by run and number."""
    slots = results.tables["slots"]
    known, _, group = distinct(connections(slots))
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(known) + 1))
    goodput, capacity = (numbers(slots[name])[order] for name in ("goodput_mbps", "capacity_mbps"))
    runs, flows = (numbers(slots[name])[order] for name in ("run", "flow"))
    slot_s = float(results.about["slot_s"])
    return {
        (int(runs[begin]), int(flows[begin])): _Progress(
            goodput[begin:end], capacity[begin:end], slot_s
        )
        for begin, end in itertools.pairwise(bounds.tolist())
    }
