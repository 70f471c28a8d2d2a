"""Lowest RTTs of hosts: those of one connection serve the others of the same hosts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

import pyarrow as pa

from celltcp.pcap.diagnosis.evidence import records
from celltcp.pcap.transfers import hosts_of

#: Maximum time between two connections whose path is the same, s.
_MAX_APART_S = 60.0
#: Columns of the connections that name and time them, and those of lowest RTTs.
_HOST_COLUMNS = ("file", "client", "server", "direction", "start_ns", "duration_s")
_NEAR, _FAR, _PATH = "near_rtt_min_ms", "far_rtt_min_ms", "rtt_min_ms"
_Row = dict[Hashable, Any]


def with_host_rtts(table: pa.Table) -> pa.Table:
    """Returns the table of connections with the lowest RTTs of all connections of the same hosts.

    A connection that begins while another one fills a queue never sees the path without it. Connections
    of the same hosts are those in the same capture that are at most a minute apart.
    """
    rows = records(table.select([*_HOST_COLUMNS, _NEAR, _FAR, _PATH]).to_pandas())
    for group in _groups(rows):
        _share(group)
    for name in (_NEAR, _FAR, _PATH):
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        table = table.set_column(index, field, pa.array([row[name] for row in rows], field.type))
    return table


def _groups(rows: list[_Row]) -> Iterator[list[_Row]]:
    """Yields connections of the same hosts, several at a time, in the order of time until a pause."""
    groups: dict[Hashable, list[_Row]] = {}
    ends_s: dict[Hashable, float] = {}
    for row in sorted(rows, key=lambda row: int(row["start_ns"])):
        key, start_s = (row["file"], *sorted(hosts_of(row))), row["start_ns"] / 1e9
        if key in groups and start_s > ends_s[key] + _MAX_APART_S:
            yield groups.pop(key)
        groups.setdefault(key, []).append(row)
        ends_s[key] = max(ends_s.get(key, start_s), start_s + row["duration_s"])
    yield from groups.values()


def _share(group: list[_Row]) -> None:
    """Sets the lowest RTT to each host of a group of connections, and that of their path."""
    lowest_ms: dict[str, float] = {}
    for row in group:
        for host, name in _sides(row):
            if not math.isnan(row[name]):
                lowest_ms[host] = min(lowest_ms.get(host, math.inf), float(row[name]))
    for row in group:
        for host, name in _sides(row):
            # A side without any sample remains without one.
            if row[name] > lowest_ms.get(host, math.inf):
                row[name] = lowest_ms[host]
        if row[_PATH] > row[_NEAR] + row[_FAR]:
            row[_PATH] = row[_NEAR] + row[_FAR]


def _sides(row: _Row) -> list[tuple[str, str]]:
    """Returns sender and receiver of a connection, with the column of the lowest RTT to each."""
    sender, receiver = hosts_of(row)
    return [(sender, _NEAR), (receiver, _FAR)]
