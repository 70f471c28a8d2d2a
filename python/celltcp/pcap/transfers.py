"""Transfers of captures: connections with much payload, their hosts, and those at the same time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

#: Minimum payload of a connection that counts as a transfer, bytes.
MIN_TRANSFER_BYTES = 100_000
#: Minimum share of the time of a transfer for which another one is beside it.
_MIN_OVERLAP_SHARE = 0.3
#: Minimum payload of a transfer, as a share of that of another one, with which it compares, and minimum
#: ratio of their rates at which it is slower.
_MIN_ALIKE_SHARE, _MIN_SLOWER_RATIO = 0.5, 2.0


class Transfers:
    """Transfers of captures, read once for all connections that look for others."""

    def __init__(self, connections: pd.DataFrame) -> None:
        """Reads the transfers from the table of connections."""
        payload = connections["bytes_up"].where(
            connections["direction"] == "up", connections["bytes_down"]
        )
        self._by_file: dict[Hashable, list[dict[Hashable, Any]]] = {}
        for row in connections[payload >= MIN_TRANSFER_BYTES].to_dict("records"):
            self._by_file.setdefault(row["file"], []).append(row)

    def others(self, row: Mapping[Hashable, Any]) -> list[dict[Hashable, Any]]:
        """Returns the transfers of the capture of a connection without that, in both directions."""
        own = self._by_file.get(row["file"], [])
        return [each for each in own if each["connection"] != row["connection"]]

    def in_direction(self, row: Mapping[Hashable, Any]) -> list[dict[Hashable, Any]]:
        """Returns the other transfers of the capture of a connection in its direction."""
        return [each for each in self.others(row) if each["direction"] == row["direction"]]


def client_of(row: Mapping[Hashable, Any]) -> str:
    """Returns the address of the host that opened a connection."""
    return str(row["client"]).rpartition(":")[0]


def hosts_of(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """Returns the addresses of the hosts that send and receive most of the payload."""
    client, server = (str(row[host]).rpartition(":")[0] for host in ("client", "server"))
    return (client, server) if row["direction"] == "up" else (server, client)


def payload_of(row: Mapping[Hashable, Any]) -> int:
    """Returns the payload of the host that sends most, bytes."""
    return int(row[f"bytes_{row['direction']}"])


def is_slower(other: Mapping[Hashable, Any], row: Mapping[Hashable, Any]) -> bool:
    """Returns whether another transfer of half the payload or more has half the rate or less."""
    payload, other_payload = payload_of(row), payload_of(other)
    if other_payload < _MIN_ALIKE_SHARE * payload:
        return False
    own_s = float(row["download_s"]) * other_payload / max(payload, 1)
    return own_s > 0 and bool(other["download_s"] >= _MIN_SLOWER_RATIO * own_s)


def main_transfer(rows: Sequence[dict[Hashable, Any]]) -> dict[Hashable, Any]:
    """Returns the connection with most payload; the slowest of its hosts where some are slower."""
    largest = max(rows, key=lambda row: int(row["bytes_up"] + row["bytes_down"]))
    slower = [
        each
        for each in rows
        if each["file"] == largest["file"] and hosts_of(each) == hosts_of(largest)
        if is_slower(each, largest)
    ]
    return max(slower, key=lambda row: float(row["download_s"]), default=largest)


def overlaps(other: Mapping[Hashable, Any], row: Mapping[Hashable, Any]) -> bool:
    """Returns whether another connection runs for a large part of the time of `row`."""
    ends_s = [each["start_ns"] / 1e9 + each["duration_s"] for each in (other, row)]
    common_s = min(ends_s) - max(each["start_ns"] / 1e9 for each in (other, row))
    return bool(row["duration_s"] > 0 and common_s >= _MIN_OVERLAP_SHARE * row["duration_s"])
