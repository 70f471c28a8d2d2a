"""Captured transfers in the other direction of the same link, in whose queue ACKs wait."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

#: Minimum share of the time of a transfer, and of its payload, at which another one holds up its ACKs.
_OVERLAP = 0.3
_PAYLOAD = 0.1
#: Intervals over which a rate is taken, and its range as a share of its median when it is steady.
_BLOCK = 5
_STEADY = 0.4
#: Minimum payload of such a transfer, bytes.
_LEAST_BYTES = 100_000


def opposite(
    connections: pd.DataFrame, row: Mapping[Hashable, Any], intervals: pd.DataFrame
) -> dict[Hashable, Any] | None:
    """Returns the largest transfer that the receiver of another one sent meanwhile; None without one.

    A transfer at a steady rate has a queue of its own: behind another queue, ACKs come in bursts.

    Args:
        connections: rows of connections.
        row: connection of the transfer.
        intervals: of the transfer, in its direction.
    """
    sender, receiver = _hosts(row)
    if sender == receiver or _is_steady(intervals):
        return None
    transfers = [
        each
        for each in connections.to_dict("records")
        if each["file"] == row["file"] and each["connection"] != row["connection"]
        if _hosts(each)[0] == receiver and _is_large(each, row) and _overlaps(each, row)
    ]
    return max(transfers, key=_payload, default=None)


def _is_steady(intervals: pd.DataFrame) -> bool:
    """Returns whether the same rate is acknowledged in all of the time."""
    rates = intervals.sort_values("t_s")["acked_bytes"].rolling(_BLOCK).mean()
    low, usual, high = rates.quantile([0.1, 0.5, 0.9])
    return bool(high - low <= _STEADY * usual)


def _hosts(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """Returns the hosts that send and receive most of the payload."""
    client, server = (str(row[end]).rpartition(":")[0] for end in ("client", "server"))
    return (client, server) if row["direction"] == "up" else (server, client)


def _payload(row: Mapping[Hashable, Any]) -> int:
    return int(row[f"bytes_{row['direction']}"])


def _is_large(other: Mapping[Hashable, Any], row: Mapping[Hashable, Any]) -> bool:
    return _payload(other) >= max(_LEAST_BYTES, _PAYLOAD * _payload(row))


def _overlaps(other: Mapping[Hashable, Any], row: Mapping[Hashable, Any]) -> bool:
    ends = [each["start_ns"] / 1e9 + each["duration_s"] for each in (other, row)]
    common = min(ends) - max(each["start_ns"] / 1e9 for each in (other, row))
    return bool(row["duration_s"] > 0 and common >= _OVERLAP * row["duration_s"])
