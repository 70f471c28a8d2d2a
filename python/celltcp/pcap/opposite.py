"""Captured transfers in the opposite direction of the same link, in whose queue ACKs wait."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from celltcp.pcap.transfers import Transfers, hosts_of, overlaps, payload_of

#: Minimum share of the payload of a transfer at which another one beside it delays its ACKs.
_MIN_PAYLOAD_SHARE = 0.04
#: Intervals over which a rate is a mean, and maximum range of a steady rate as a share of its median.
_BLOCK = 5
_MAX_STEADY_RANGE = 0.4


def opposite_transfer(
    transfers: Transfers, row: Mapping[Hashable, Any], intervals: pd.DataFrame
) -> dict[Hashable, Any] | None:
    """Returns the largest transfer that the receiver of another one sent meanwhile; None without one.

    It is also None for a transfer at a steady rate: ACKs that wait in a queue come in bursts.

    `row` is the connection of the other transfer, and `intervals` are those of its data.
    """
    sender, receiver = hosts_of(row)
    if sender == receiver or _is_steady(intervals):
        return None
    min_payload = _MIN_PAYLOAD_SHARE * payload_of(row)
    opposite = [
        other
        for other in transfers.others(row)
        if hosts_of(other)[0] == receiver and payload_of(other) >= min_payload and overlaps(other, row)
    ]
    return max(opposite, key=payload_of, default=None)


def _is_steady(intervals: pd.DataFrame) -> bool:
    """Returns whether the same rate is acknowledged all the time."""
    rates = intervals.sort_values("t_s")["acked_bytes"].rolling(_BLOCK).mean()
    low, median, high = rates.quantile([0.1, 0.5, 0.9])
    return bool(median > 0 and high - low <= _MAX_STEADY_RANGE * median)
