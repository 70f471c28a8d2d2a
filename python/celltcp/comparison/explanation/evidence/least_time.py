"""Least time of a transfer with an end: first byte, slow start, and the rest at the capacity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.evidence.outages import MIN_OUTAGE_SHARE
from celltcp.results.statistics import MARGIN, estimate
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.initial_window import initial_window
from celltcp.scenarios.quantity_texts import rate_text, size_text, time_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.outcome import LeastTimeRow

#: Excess over the least time below which a text has none.
_MIN_EXCESS = 0.001
#: Tolerance of the check that no transfer took less, as a share.
_TOLERANCE = 0.01


class LeastTime(NamedTuple):
    """Least time of a transfer on a path of its own, as a mean over runs, s."""

    size_bytes: float
    #: From the request to the first byte, with the handshake.
    first_byte_s: float
    #: In which a window that doubles with each RTT leaves capacity unused.
    slow_start_s: float
    #: With the capacity in full use, until the last byte.
    full_rate_s: float
    #: Bytes in the meantime.
    full_rate_bytes: float
    #: Part of that time in outages of the link, s.
    outage_s: float
    #: Initial window of each connection, segments, and their number.
    initial_window: int
    connections: int
    #: Shortest mean time under the congestion controls of the results.
    best_s: float

    @property
    def total_s(self) -> float:
        """Time from the request to the last byte, s."""
        return self.first_byte_s + self.slow_start_s + self.full_rate_s

    @property
    def text(self) -> str:
        """Sentence with the time and its parts."""
        rest = ""
        if self.full_rate_s > 0:
            is_dark = self.outage_s >= MIN_OUTAGE_SHARE * self.full_rate_s
            outage_s = self.outage_s if is_dark else 0.0
            lit_s = self.full_rate_s - outage_s
            mbps = 8e-6 * self.full_rate_bytes / lit_s
            dark_text = f"{time_text(outage_s)} in outages of the link and " if is_dark else ""
            rest = f", then {dark_text}{time_text(lit_s)} at {rate_text(mbps)} of payload"
        window_text = count_text(self.initial_window, "segment")
        in_text, each = "one connection", ""
        if self.connections > 1:
            in_text, each = f"{self.connections} connections", "each "
        return (
            f"{size_text(self.size_bytes)} need at least {time_text(self.total_s)} in {in_text} with a "
            f"window that at most doubles with each round trip, {each}from {window_text} on: "
            f"{time_text(self.first_byte_s)} to the first byte, "
            f"{time_text(self.slow_start_s)} in slow start{rest}{self._excess_text}"
        )

    @property
    def _excess_text(self) -> str:
        """What the best result took beyond it as a clause; empty unless that is little."""
        excess = self.best_s / self.total_s - 1
        if not excess <= MARGIN:
            return ""
        beyond = f"{percent_text(excess)} more" if excess >= _MIN_EXCESS else "no more"
        window = (
            ", but for a larger initial window" if self.slow_start_s > MARGIN * self.total_s else ""
        )
        best = f"The best mean here, {time_text(self.best_s)}"
        return f". {best}, is {beyond}: little is left to gain by a CCA{window}"

    def to_json(self) -> LeastTimeRow:
        """Returns the time and its parts as JSON."""
        return {
            "bytes": self.size_bytes,
            "total_s": self.total_s,
            "first_byte_s": self.first_byte_s,
            "slow_start_s": self.slow_start_s,
            "full_rate_s": self.full_rate_s,
            "outage_s": self.outage_s,
        }


class _Capacity(NamedTuple):
    """Capacity of a path over time, as payload that it can have delivered by the end of each slot."""

    start_s: float
    slot_s: float
    bytes_by_end: NDArray[np.float64]

    def end_s(self, begin_s: float, size_bytes: float) -> float:
        """Returns the time at which a size that begins to arrive at a time can have arrived, s."""
        ends = self.start_s + self.slot_s * np.arange(len(self.bytes_by_end) + 1)
        totals = np.concatenate(([0.0], self.bytes_by_end))
        wanted = float(np.interp(begin_s, ends, totals)) + size_bytes
        if wanted <= totals[-1]:
            index = int(np.searchsorted(totals, wanted))
            gained = totals[index] - totals[index - 1] if index else 0.0
            return float(ends[index] - self.slot_s * (totals[index] - wanted) / (gained or 1.0))
        # Beyond the end of the slots the capacity is the mean of those before.
        mean = totals[-1] / (ends[-1] - ends[0])
        return float(ends[-1] + (wanted - totals[-1]) / mean)


def least_time_of(evidence: Evidence) -> LeastTime | None:
    """Returns the least time of a flow's transfer; None without one, or with others on the path.

    Parts that start together are one transfer. Those of a sequence are each on their own.
    """
    section = evidence.scenario["flows"][evidence.flow_index]
    is_alone = len(evidence.scenario["flows"]) == 1 and not evidence.has_middleboxes
    size, count = transfer_bytes(evidence.workload), evidence.sessions
    are_apart = "start_spread" in section or not evidence.is_bulk
    if not size or not is_alone or (count > 1 and are_apart):
        return None
    if "first_byte_s" not in evidence.connections or not evidence.mss > 0:
        return None
    applications = [each for each in evidence.comparison.applications if each.completion_metric]
    times_s = (application.means(application.completion_metric) for application in applications)
    best_s = min((time_s for means in times_s for time_s in means), default=math.nan)
    rows = [
        row
        for run in evidence.runs
        if (row := _least_time(evidence, run, size * count, count)) is not None
    ]
    if not rows or math.isnan(best_s):
        return None
    columns = zip(*rows, strict=True)
    window = initial_window(evidence.scenario.get("tcp", {}))
    least = LeastTime._make([*(float(np.mean(each)) for each in columns), window, count, best_s])
    # An own congestion control may start faster than a window that doubles.
    return None if best_s < (1 - _TOLERANCE) * least.total_s else least


def takes_least_time(evidence: Evidence) -> bool:
    """Returns whether transfers take hardly more than the least time under their congestion control."""
    least = least_time_of(evidence)
    if least is None:
        return False
    values = (
        application.values(application.completion_metric)[evidence.cca]
        for application in evidence.comparison.applications
        if application.completion_metric
    )
    return min(estimate(each).mean for each in values) <= (1 + MARGIN) * least.total_s


def transfer_bytes(workload: Mapping[str, Any]) -> float:
    """Returns the size of a transfer with an end, also of each one of a sequence, bytes; 0 if none."""
    field = {"bulk": "bytes", "sequence": "size"}.get(workload.get("kind", "bulk"), "")
    size = workload.get(field)
    if isinstance(size, Mapping):
        # Other kinds of sizes are drawn.
        size = size["value"] if size["kind"] == "constant" else None
    return in_unit(size, "B") or 0.0


def fits_initial_window(evidence: Evidence) -> bool:
    """Returns whether the initial window holds a transfer, which is then in flight as a whole."""
    window = initial_window(evidence.scenario.get("tcp", {})) * evidence.mss
    return 0 < transfer_bytes(evidence.workload) <= window


def _least_time(evidence: Evidence, run: int, size: float, count: int) -> tuple[float, ...] | None:
    """Returns the fields of `LeastTime` in a run, but for the last three.

    None if nothing arrived, or without a capacity.
    """
    connections = evidence.connections[evidence.connections["run"] == run]
    slots = evidence.slots[evidence.slots["run"] == run]
    rates = slots["capacity_mbps"].to_numpy(float)
    first = connections.sort_values("first_byte_s").iloc[:1]
    start_s, first_byte_s = (float(first[name].sum()) for name in ("start_s", "first_byte_s"))
    rtt_s = float(connections["rtt_min_ms"].min()) / 1e3
    if not rates.sum() > 0 or not rtt_s > 0 or not first_byte_s > 0:
        return None
    capacity = _Capacity(
        float(slots["t_s"].min()), evidence.slot_s, np.cumsum(rates) * 1e6 / 8 * evidence.slot_s
    )
    begin_s = t_s = start_s + first_byte_s
    segment = _full_segment(connections)
    window = initial_window(evidence.scenario.get("tcp", {})) * segment * count
    # The first segment of each window has arrived when its time begins.
    rest = size - segment
    while rest > window and capacity.end_s(t_s, window - segment) < t_s + rtt_s:
        rest -= window
        window *= 2
        t_s += rtt_s
    rest = max(rest, 0.0)
    # The last window of a short transfer fills the path for no longer than it takes.
    end_s = capacity.end_s(t_s, rest)
    outage_s = sum(
        max(min(outage.end_s, end_s) - max(outage.start_s, t_s), 0.0)
        for outage in evidence.outages
        if outage.run == run
    )
    return size, first_byte_s, t_s - begin_s, end_s - t_s, rest, outage_s


def _full_segment(connections: pd.DataFrame) -> float:
    """Returns the payload that a full segment has at most, bytes: the last one may be nearly empty."""
    full = connections["segments"] - connections["retransmissions"] - 1
    return float((connections["bytes"] / full.clip(lower=1)).max())
