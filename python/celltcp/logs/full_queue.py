"""Full queues that a TCP test overflowed: its rate is the capacity, whatever the congestion window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.scenarios.quantity_texts import size_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.logs.recording import Recording

#: Minimum number of rows from the first loss on, and maximum share of them with losses.
_MIN_ROWS, _MAX_LOSS_SHARE = 8, 1 / 3
#: Minimum share of the rows without a loss in which the window grows, or shrinks by less than 2 %.
_MIN_GROWING_SHARE, _MIN_GROWTH = 0.9, 0.98
#: Maximum window, as a share of the largest one, of rows to compare, and minimum number of them.
_MAX_LOW_WINDOW, _MIN_LOW_ROWS = 0.87, 2
#: Minimum rate of those rows, as a share of that of the others: a window that is the limit has less.
_MIN_RATE_RATIO = 0.95
#: Minimum ratio of the median RTT to the lowest one, and of the largest window to what fills the path.
_MIN_RTT_RATIO, _MIN_WINDOW_RATIO = 1.3, 2.0
#: Minimum number of rows with an RTT.
_MIN_RTT_ROWS = 8


class FullQueue(NamedTuple):
    """Queue of a link that a test overflowed."""

    #: Largest congestion window from the overflow on, and the lowest one at the same rate, bytes.
    window: float
    lowest_window: float
    #: Segments that were sent again.
    retransmissions: int
    #: Median rate, bit/s.
    bps: float

    @property
    def text(self) -> str:
        """What the log shows, as text."""
        length_text = time_text(8 * self.window / self.bps)
        return (
            f"its rate is the capacity: it is the same at a Cwnd of {size_text(self.lowest_window)} as "
            f"at {size_text(self.window)} ({length_text} of data), where a full queue lost segments, "
            f"which is normal ({self.retransmissions} Retr); buffer: the largest Cwnd less rate times "
            "idle RTT"
        )


def full_queue(recording: Recording) -> FullQueue | None:
    """Returns the queue that a test overflowed; None where its log does not show that.

    A sender whose window is the limit gets a rate in proportion to it. Behind a queue that stands, the
    rate is the same after a reduction. Where losses are so frequent that rows do not show the window
    between them, RTTs have to show the queue.
    """
    windows, retransmissions = recording.windows, recording.retransmissions
    if windows is None or retransmissions is None or len(windows) != len(retransmissions):
        return None
    # The intervals of a receiver may end with a part of a second.
    rates = recording.values[: len(windows)]
    if len(rates) < len(windows):
        return None
    is_loss = retransmissions > 0
    median_bps = float(np.median(rates)) if len(rates) else 0.0
    if not is_loss.any() or not median_bps > 0:
        return None
    first = int(np.argmax(is_loss))
    largest = float(windows[first:].max())
    # The first row has the handshake and the start.
    is_low = windows <= _MAX_LOW_WINDOW * largest
    is_low[0] = False
    is_high = windows > _MAX_LOW_WINDOW * largest
    if len(windows) - first < _MIN_ROWS or is_low.sum() < _MIN_LOW_ROWS or not is_high.any():
        return None
    if rates[is_low].mean() < _MIN_RATE_RATIO * rates[is_high].mean():
        return None
    if not (_grows_between(windows[first:], is_loss[first:]) or _has_long_rtts(recording, largest)):
        return None
    count = round(float(retransmissions.sum()))
    return FullQueue(largest, float(windows[is_low].min()), count, median_bps)


def _grows_between(windows: NDArray[np.float64], is_loss: NDArray[np.bool_]) -> bool:
    """Returns whether rows show the window between losses, which are few: it grows there."""
    is_calm = ~(is_loss[1:] | is_loss[:-1])
    if is_loss.mean() > _MAX_LOSS_SHARE or not is_calm.any():
        return False
    grows = windows[1:] >= _MIN_GROWTH * windows[:-1]
    return bool(grows[is_calm].mean() >= _MIN_GROWING_SHARE)


def _has_long_rtts(recording: Recording, window: float) -> bool:
    """Returns whether RTTs are those of a queue, and a window far above what fills the path."""
    if recording.rtt_ms is None:
        return False
    rtts_ms = recording.rtt_ms[np.isfinite(recording.rtt_ms)]
    if len(rtts_ms) < _MIN_RTT_ROWS:
        return False
    lowest_ms = min(float(rtts_ms.min()), recording.lowest_rtt_ms or np.inf)
    path_bytes = float(np.median(recording.values)) / 8 * lowest_ms / 1e3
    is_long = np.median(rtts_ms) >= _MIN_RTT_RATIO * lowest_ms
    return bool(is_long and window >= _MIN_WINDOW_RATIO * path_bytes)
