"""Size of the buffer of a path: the bytes that left the queue while a packet waited in it.

A packet of a first-in, first-out queue waits until all before it have left. Their bytes are the
integral of the rate over its wait, so that a rate that changes meanwhile is no error.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import INTERVAL_S

#: Minimum number of losses by overflow that show the size of the buffer.
_MIN_OVERFLOW_LOSSES = 3

#: Smallest buffer of an estimate without an overflow: ten packets, bytes.
_MIN_BUFFER_BYTES = 15_000.0


class Departures:
    """Bytes that a link of changing capacity has sent until each time."""

    def __init__(self, times_s: NDArray[np.float64], capacity_mbps: NDArray[np.float64]) -> None:
        """Adds up the capacity of intervals that begin at `times_s`."""
        self._edges_s = np.append(times_s, times_s[-1] + INTERVAL_S)
        self._sent = np.append(0.0, np.cumsum(capacity_mbps) * 1e6 / 8 * INTERVAL_S)
        self._last_rate = float(capacity_mbps[-1]) * 1e6 / 8

    def between(self, from_s: NDArray[np.float64], until_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the bytes sent from one time until another; after the end at the last capacity."""
        return self._until(until_s) - self._until(from_s)

    def _until(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        sent: NDArray[np.float64] = np.interp(time_s, self._edges_s, self._sent)
        later: NDArray[np.float64] = np.maximum(time_s - self._edges_s[-1], 0.0)
        return sent + self._last_rate * later


def buffer_size(
    losses: pd.DataFrame,
    delays_ms: pd.Series,
    intervals: pd.DataFrame,
    row: dict[Hashable, Any],
    sent: Departures,
    acked: Departures,
) -> tuple[float, bool]:
    """Returns the bytes that the queue holds, and whether an overflow shows them.

    Without an overflow it is the longest queue. A delay that is none of the link would make that too
    long at the capacity, so that only the bytes that arrived meanwhile count.

    Args:
        losses: losses of the transfer.
        delays_ms: delay of the queue in intervals, by the index of `intervals`.
        intervals: intervals of the transfer.
        row: its row in the table of connections.
        sent: bytes that left the queue at losses: those that arrived, or the capacity without SACK.
        acked: bytes of the transfer that arrived.
    """
    overflow = losses[(losses["kind"] == "congestion") & losses["rtt_ms"].notna()]
    if len(overflow) >= _MIN_OVERFLOW_LOSSES:
        # Some of these losses may be random ones at a shorter queue.
        return float(np.percentile(_queued_at_losses(overflow, row, sent), 75)), True
    until_s = intervals["t_s"].loc[delays_ms.index].to_numpy(float) + INTERVAL_S / 2
    waited_s = delays_ms.fillna(0.0).clip(lower=0.0).to_numpy(float) / 1e3
    queued = acked.between(until_s - waited_s, until_s)
    return max(float(queued.max(initial=0.0)), _MIN_BUFFER_BYTES), False


def _queued_at_losses(
    losses: pd.DataFrame, row: dict[Hashable, Any], sent: Departures
) -> NDArray[np.float64]:
    """Returns the bytes in the queue that each loss met, by the RTT of the segment next to it.

    That segment left a queue before the capture when it passed; the ACKs of those that left a queue
    behind it while it waited came from the lowest RTT on.
    """
    lost_s = losses["t_s"].to_numpy(float)
    is_before = losses["is_upstream"].to_numpy(bool) | (row["place"] == "receiver")
    lowest_ms = np.where(is_before, row["near_rtt_min_ms"], row["far_rtt_min_ms"])
    waited_s = np.maximum(losses["rtt_ms"].to_numpy(float) - lowest_ms, 0.0) / 1e3
    until_s = lost_s + np.where(is_before, 0.0, losses["rtt_ms"].to_numpy(float) / 1e3)
    return sent.between(until_s - waited_s, until_s)
