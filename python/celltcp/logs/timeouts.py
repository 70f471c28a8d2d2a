"""Time-outs in the log of a sender: rows without data, at a congestion window of one segment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from celltcp.logs.recording import Recording

#: Maximum payload of a segment in an Ethernet frame, bytes.
ETHERNET_SEGMENT = 1460
#: Maximum window of one segment, in segments: reports round it to three digits.
_MAX_WINDOW = 1.05
#: Columns of a recording with a value for each row.
_COLUMNS = (
    *("ns", "values", "lengths", "rtt_ms", "window_rtt_ms", "retransmissions", "windows", "timed_out"),
)


def timed_out_rows(
    bps: NDArray[np.float64],
    windows: NDArray[np.float64],
    retransmissions: NDArray[np.float64],
    segment: float,
) -> NDArray[np.bool_]:
    """Returns the rows in which a sender wrote nothing because it waited for time-outs.

    An ACK would have let the window grow beyond one segment, so that nothing arrived either. A sender
    without data, or with a full send buffer, keeps its window.

    Args:
        bps: rates of the rows, bit/s.
        windows: congestion windows at their ends, bytes; 0 if unknown.
        retransmissions: segments sent again.
        segment: size of a segment of all streams together, bytes.
    """
    result: NDArray[np.bool_] = (bps == 0) & (windows > 0) & (windows <= _MAX_WINDOW * segment)
    for first, end in _runs(result):
        # The first time-out may end in the row before, with data.
        if not retransmissions[max(first - 1, 0) : end].any():
            result[first:end] = False
    return result


def _runs(rows: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yields the first row of each run, and the one after its last."""
    bounds = np.flatnonzero(np.diff(rows.astype(np.int8), prepend=0, append=0))
    yield from zip(bounds[::2].tolist(), bounds[1::2].tolist(), strict=True)


def timeouts_texts(recording: Recording) -> list[str]:
    """Returns what rows of time-outs show, as text; empty without such rows."""
    rows, lengths, again = recording.timed_out, recording.lengths, recording.retransmissions
    if rows is None or lengths is None or not rows.any():
        return []
    runs = list(_runs(rows))
    first, end = max(runs, key=lambda run: int(lengths[run[0] : run[1]].sum()))
    start_s, length_s = recording.ns[first] / 1e9, lengths[first:end].sum() / 1e9
    of_text = f" (the longest of {len(runs)})" if len(runs) > 1 else ""
    again_text = "" if again is None else f", {again[first:end].sum():.0f} Retr"
    # The last wait is as long as all before it together.
    return [
        f"nothing arrived from {start_s:.1f} to {start_s + length_s:.1f} s{of_text} (Cwnd of one "
        f"segment{again_text}): time-outs after an outage of the link of {length_s / 2:.1f} to "
        f"{length_s:.1f} s, since TCP's wait doubles with each"
    ]


def without_timeouts(recording: Recording) -> Recording:
    """Returns a recording without time-outs and the row after each, which has what they lost."""
    rows = recording.timed_out
    if rows is None or not rows.any():
        return recording
    is_left_out = rows.copy()
    is_left_out[1:] |= rows[:-1]
    # The first loss may be that of the row before.
    is_left_out[:-1] |= rows[1:]
    columns = {name: getattr(recording, name) for name in _COLUMNS}
    return replace(
        recording,
        **{name: column[~is_left_out] for name, column in columns.items() if column is not None},
    )
