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
_NO_SERIES = np.empty(0), np.empty(0)


class WindowChange(NamedTuple):
    """Congestion window before and after a recovery, segments; NaN where it is not known."""

    before: float
    after: float


class IdleRestarts(NamedTuple):
    """Congestion windows before and after each pause that shrank the window, segments."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]


class FlowWindows:
    """Congestion windows of the connections of a flow."""

    def __init__(self, results: Results, slots: pd.DataFrame) -> None:
        """Takes the slots of the connections; the windows at each ACK are used if there are any."""
        self._slots = slots
        samples = results.tables.get("samples")
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
        # The ACK that begins a recovery may reduce the window already.
        has_begun, has_ended = (times >= t_s - _TIME_RESOLUTION_S for t_s in (start_s, end_s))
        before, after = windows[~has_begun], windows[has_ended]
        if not len(before) or not len(after):
            return WindowChange(math.nan, math.nan)
        during = windows[has_begun & ~has_ended]
        reduced = min(*during, after[0]) if is_timeout and len(during) else after[0]
        return WindowChange(float(before[-1]), float(reduced))

    def at_overflow(self, run: int, connection: int, sent_s: float, start_s: float) -> float:
        """Returns the window at the start of a recovery from an overflow, segments; NaN if unknown.

        It is one more than at the end of a slot before the lost segment was sent, as growth of the
        window caused the overflow.
        """
        times, windows = self.series(run, connection)
        index = int(np.searchsorted(times, start_s - _TIME_RESOLUTION_S)) - 1
        if index < 0:
            return math.nan
        return float(windows[index]) + (not self.is_of_acks and times[index] < sent_s)

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
