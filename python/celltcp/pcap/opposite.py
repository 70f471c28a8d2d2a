"""Captured transfers in the opposite direction of the same link, in whose queue ACKs wait."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

#: Minimum payload of a connection that counts as a transfer, bytes.
MIN_TRANSFER_BYTES = 100_000
#: Minimum shares of the time and of the payload of a transfer at which another one delays its ACKs.
_MIN_OVERLAP_SHARE = 0.3
_MIN_PAYLOAD_SHARE = 0.04
#: Intervals over which a rate is a mean, and maximum range of a steady rate as a share of its median.
_BLOCK = 5
_MAX_STEADY_RANGE = 0.4


def opposite_transfer(
    connections: pd.DataFrame, row: Mapping[Hashable, Any], intervals: pd.DataFrame
) -> dict[Hashable, Any] | None:
    """Returns the largest transfer that the receiver of another one sent meanwhile; None without one.

    It is also None for a transfer at a steady rate: ACKs that wait in a queue come in bursts.

    `row` is the connection of the other transfer, and `intervals` are those of its data.
    """
    sender, receiver = hosts_of(row)
    if sender == receiver or _is_steady(intervals):
        return None
    min_payload = max(MIN_TRANSFER_BYTES, _MIN_PAYLOAD_SHARE * payload_of(row))
    transfers = [
        other
        for other in connections.to_dict("records")
        if other["file"] == row["file"] and other["connection"] != row["connection"]
        if hosts_of(other)[0] == receiver and payload_of(other) >= min_payload and overlaps(other, row)
    ]
    return max(transfers, key=payload_of, default=None)


def _is_steady(intervals: pd.DataFrame) -> bool:
    """Returns whether the same rate is acknowledged all the time."""
    rates = intervals.sort_values("t_s")["acked_bytes"].rolling(_BLOCK).mean()
    low, median, high = rates.quantile([0.1, 0.5, 0.9])
    return bool(median > 0 and high - low <= _MAX_STEADY_RANGE * median)


def hosts_of(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """Returns the addresses of the hosts that send and receive most of the payload."""
    client, server = (str(row[host]).rpartition(":")[0] for host in ("client", "server"))
    return (client, server) if row["direction"] == "up" else (server, client)


def payload_of(row: Mapping[Hashable, Any]) -> int:
    """Returns the payload of the host that sends most, bytes."""
    return int(row[f"bytes_{row['direction']}"])


def overlaps(other: Mapping[Hashable, Any], row: Mapping[Hashable, Any]) -> bool:
    """Returns whether another connection runs for a large part of the time of `row`."""
    ends_s = [each["start_ns"] / 1e9 + each["duration_s"] for each in (other, row)]
    common_s = min(ends_s) - max(each["start_ns"] / 1e9 for each in (other, row))
    return bool(row["duration_s"] > 0 and common_s >= _MIN_OVERLAP_SHARE * row["duration_s"])
