"""Connections that have a selector in stored results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from celltcp.results.tables import Results


@dataclass(frozen=True)
class Connection:
    """A connection with a selector."""

    #: Its number in the run: column `flow` of the tables.
    number: int
    #: Name of its flow in the scenario; the connections of a sequence share it.
    name: str
    #: Requested congestion control, such as `"auto:policy=rules"`.
    cca: str
    #: Number of slots with estimates.
    slots: int

    def __str__(self) -> str:
        return f"{self.number} ({self.name}, {self.cca})"


def connections_in(results: Results, run: int) -> list[Connection]:
    """Returns the connections of a run that have decisions and a slot with estimates, by number."""

    def rows(table: str, *columns: str) -> list[dict[str, Any]]:
        return results.tables[table].filter(pc.field("run") == run).select(columns).to_pylist()

    decided = {row["flow"] for row in rows("decisions", "flow")}
    recorded, estimated = (
        {(row["flow"], row["t_s"]) for row in rows(table, "flow", "t_s")}
        for table in ("slots", "estimates")
    )
    slots = Counter(flow for flow, _ in recorded & estimated)
    result = [
        Connection(int(flow["flow"]), str(flow["name"]), str(flow["cca"]), slots[flow["flow"]])
        for flow in rows("flows", "flow", "name", "cca")
        if flow["flow"] in decided and flow["flow"] in slots
    ]
    return sorted(result, key=lambda connection: connection.number)


def default_connection(connections: Sequence[Connection]) -> Connection:
    """Returns that connection of the first flow which has the most slots."""
    flow = connections[0].name
    return max(
        (connection for connection in connections if connection.name == flow),
        key=lambda connection: connection.slots,
    )
