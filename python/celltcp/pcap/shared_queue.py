"""Transfers between the same hosts, behind whose data the packets of other connections queue."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from celltcp.pcap.opposite import MIN_TRANSFER_BYTES, hosts_of, overlaps, payload_of

#: Minimum RTTs of a queue: ratio to the lowest one, and ms. A silence of a receiver is as long.
_MIN_QUEUE_RATIO, _MIN_QUEUE_MS = 2.0, 200.0
#: Minimum payload of transfers that share a path, as a share of that of the other.
_MIN_SHARING_PAYLOAD = 0.1
#: Minimum payload over that of the connection that waits.
_MIN_PAYLOAD_RATIO = 10


def queue_filler(connections: pd.DataFrame, row: Mapping[Hashable, Any]) -> dict[Hashable, Any] | None:
    """Returns the largest transfer that fills a long queue between the hosts of a small connection.

    It is None without one.
    """
    hosts = set(hosts_of(row))
    transfers = [
        other
        for other in connections.to_dict("records")
        if other["file"] == row["file"] and set(hosts_of(other)) == hosts
        if payload_of(other) >= max(MIN_TRANSFER_BYTES, _MIN_PAYLOAD_RATIO * payload_of(row))
        if longest_rtt_ms(other) >= max(_MIN_QUEUE_RATIO * other["rtt_min_ms"], _MIN_QUEUE_MS)
        if overlaps(other, row)
    ]
    return max(transfers, key=payload_of, default=None)


def sharing_transfers(
    connections: pd.DataFrame, row: Mapping[Hashable, Any]
) -> list[dict[Hashable, Any]]:
    """Returns the transfers that share the path of another one: same hosts, direction and time."""
    min_payload = max(MIN_TRANSFER_BYTES, _MIN_SHARING_PAYLOAD * payload_of(row))
    return [
        other
        for other in connections.to_dict("records")
        if other["file"] == row["file"] and other["connection"] != row["connection"]
        if hosts_of(other) == hosts_of(row) and payload_of(other) >= min_payload
        if overlaps(other, row)
    ]


def longest_rtt_ms(row: Mapping[Hashable, Any]) -> float:
    """Returns the 95th percentile of the RTTs on the side of a capture where they are longer, ms."""
    rtts_ms = [float(row[f"{side}_rtt_p95_ms"]) for side in ("far", "near")]
    return max((rtt for rtt in rtts_ms if rtt >= 0), default=0.0)
