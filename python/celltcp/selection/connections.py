"""Connections with a selector in stored results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from celltcp.results.tables import Results


@dataclass(frozen=True)
class Connection:
    """A connection with decisions, and the slots in which it was alive."""

    #: Its number in the run: column `flow` of the tables.
    number: int
    #: Name of the flow of the scenario that it belongs to; the connections of a sequence share it.
    name: str
    #: Requested congestion control, such as `"auto:policy=rules"`.
    cca: str
    #: Slots of its lifetime.
    slots: int

    def __str__(self) -> str:
        return f"{self.number} ({self.name}, {self.cca})"


def selected_in(results: Results, run: int) -> list[Connection]:
    """Returns the connections of a run that have a selector and lived for at least a slot, in order."""
    is_run = pc.field("run") == run
    decided = set(results.tables["decisions"].filter(is_run)["flow"].to_pylist())
    lived = _slots(results, "slots", run)
    lived &= _slots(results, "estimates", run)
    slots = Counter(flow for flow, _ in lived)
    flows = results.tables["flows"].filter(is_run).select(["flow", "name", "cca"]).to_pylist()
    result = [
        Connection(int(flow["flow"]), str(flow["name"]), str(flow["cca"]), slots[flow["flow"]])
        for flow in flows
        if flow["flow"] in decided and flow["flow"] in slots
    ]
    return sorted(result, key=lambda each: each.number)


def main_one(connections: Sequence[Connection]) -> Connection:
    """Returns the connection that is shown by default.

    It is of the first flow that has a selector; of several connections of that flow it is the one that
    lived longest, the first of equals.
    """
    first = connections[0].name
    return max(
        (connection for connection in connections if connection.name == first),
        key=lambda each: each.slots,
    )


def _slots(results: Results, table: str, run: int) -> set[tuple[int, float]]:
    """Returns the connections and slots in the table."""
    rows = results.tables[table].filter(pc.field("run") == run).select(["flow", "t_s"]).to_pydict()
    return set(zip(rows["flow"], rows["t_s"], strict=True))
