"""Congestion windows of the connections of a flow: by time, around recoveries and after pauses."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from celltcp.results.tables import frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.results.tables import Results

#: Resolution of times of recoveries, s.
_TIME_RESOLUTION_S = 1e-6
#: Maximum time between an exit from slow start and a recovery that brings it about, s.
_EXIT_RESOLUTION_S = 1e-3
_NO_SERIES = np.empty(0), np.empty(0)
_NO_EDGES = np.empty(0)


class WindowChange(NamedTuple):
    """Congestion window before and after a recovery, segments; NaN where it is not known."""

    before: float
    after: float


class IdleRestarts(NamedTuple):
    """Congestion windows before and after each pause that shrank the window, segments."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]


class FlowWindows:
    """Congestion windows of the connections of a flow.

    Between ends of slots, they are those on the line through two slots without a recovery.
    """

    def __init__(self, results: Results, slots: pd.DataFrame) -> None:
        """Takes the slots of the connections; the windows at each ACK are used if there are any."""
        self._slots = slots
        tables = results.tables
        samples = tables.get("samples")
        rows, times_s = slots, slots["t_s"] + float(results.about["slot_s"])
        #: Whether the windows are those at each ACK.
        self.is_of_acks = samples is not None and len(samples) > 0
        if samples is not None and self.is_of_acks:
            rows = frame(samples)
            times_s = rows["t_ns"] / 1e9
        windows = pd.DataFrame({"t_s": times_s, "cwnd": rows["cwnd"]}).astype(float)
        self._series: Mapping[Hashable, tuple[NDArray[np.float64], NDArray[np.float64]]] = {
            key: (group["t_s"].to_numpy(), group["cwnd"].to_numpy())
            for key, group in windows.groupby([rows["run"], rows["flow"]])
        }
        #: Starts and ends of recoveries of a connection, s, in this order.
        self._recoveries: Mapping[Hashable, NDArray[np.float64]] = {}
        if "recoveries" in tables:
            self._recoveries = {
                key: np.sort(group.to_numpy(float), axis=None)
                for key, group in frame(tables["recoveries"]).groupby(["run", "flow"])[["t_s", "end_s"]]
            }
        #: Time, s, and window of the first exit from slow start.
        self._exits: Mapping[Hashable, tuple[float, float]] = {}
        if "slow_start_exit_s" in (flows := frame(tables["flows"])):
            exits_s = flows["first_data_s"] + flows["slow_start_exit_s"]
            keys = zip(flows["run"], flows["flow"], strict=True)
            exits = zip(exits_s, flows["slow_start_exit_cwnd"], strict=True)
            self._exits = dict(zip(keys, exits, strict=True))

    def series(self, run: int, connection: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns times, s, and windows of a connection at each ACK, or at ends of slots."""
        return self._series.get((run, connection), _NO_SERIES)

    def change(
        self, run: int, connection: int, start_s: float, end_s: float, *, is_timeout: bool
    ) -> WindowChange:
        """Returns the change of the congestion window by a recovery.

        Args:
            run: number of the run.
            connection: number of the connection in the run.
            start_s: start of the recovery.
            end_s: end of the recovery.
            is_timeout: whether a time-out reduced the window, which then grows during the recovery.
        """
        times, windows = self.series(run, connection)
        before, after = self.before(run, connection, start_s), self._after(run, connection, end_s)
        has_begun, has_ended = (times >= t_s - _TIME_RESOLUTION_S for t_s in (start_s, end_s))
        during = windows[has_begun & ~has_ended]
        return WindowChange(before, min(*during, after) if is_timeout and len(during) else after)

    def before(self, run: int, connection: int, start_s: float) -> float:
        """Returns the window at the start of a recovery, segments; NaN if it is not known."""
        exit_s, exit_cwnd = self._exits.get((run, connection), (math.nan, math.nan))
        if abs(exit_s - start_s) <= _EXIT_RESOLUTION_S:
            return exit_cwnd
        times, _ = self.series(run, connection)
        # The ACK that begins a recovery may reduce the window already.
        last = int(np.searchsorted(times, start_s - _TIME_RESOLUTION_S)) - 1
        if last < 0:
            return math.nan
        return self._on_line(run, connection, last, max(last - 1, 0), start_s - _TIME_RESOLUTION_S)

    def _after(self, run: int, connection: int, end_s: float) -> float:
        """Returns the window at the end of a recovery, segments; NaN if it is not known."""
        times, windows = self.series(run, connection)
        first = int(np.searchsorted(times, end_s - _TIME_RESOLUTION_S))
        if first == len(times):
            return math.nan
        edges = self._recoveries.get((run, connection), _NO_EDGES)
        if ((edges > end_s + _TIME_RESOLUTION_S) & (edges <= times[first])).any():
            # The slot ends in the next recovery: this one had its window before its end.
            return float(windows[max(first - 1, 0)])
        return self._on_line(run, connection, first, min(first + 1, len(times) - 1), end_s)

    def _on_line(self, run: int, connection: int, index: int, other: int, t_s: float) -> float:
        """Returns the window at an instant on the line through two slots, at least one segment.

        It is that of the first one, `index`, with windows at each ACK, and with a recovery between.
        """
        times, windows = self.series(run, connection)
        edges = self._recoveries.get((run, connection), _NO_EDGES)
        first_s, last_s = sorted((t_s, times[other]))
        is_inside = (edges > first_s + _TIME_RESOLUTION_S) & (edges < last_s - _TIME_RESOLUTION_S)
        if self.is_of_acks or index == other or is_inside.any():
            return float(windows[index])
        slope = (windows[other] - windows[index]) / (times[other] - times[index])
        return max(float(windows[index] + max(slope, 0.0) * (t_s - times[index])), 1.0)

    def idle_restarts(self, max_share: float) -> IdleRestarts:
        """Returns the pauses that shrank the window to less than `max_share` of it."""
        slots = self._slots.sort_values(["run", "flow", "t_s"])
        by_connection = slots.groupby(["run", "flow"], sort=False)
        before, inflight = (by_connection[name].shift() for name in ("cwnd", "inflight"))
        # A time-out shrinks the window as well, but with data in flight.
        has_shrunk = (inflight == 0) & (slots["cwnd"] < max_share * before) & ~(slots["timeouts"] > 0)
        return IdleRestarts(
            before[has_shrunk].to_numpy(float), slots.loc[has_shrunk, "cwnd"].to_numpy(float)
        )
