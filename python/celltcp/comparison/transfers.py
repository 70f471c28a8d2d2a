"""Transfers with an end: connections of flows whose workload ends, complete or cut."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from celltcp.results.columns import rows_of
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest

#: Name of a flow and its workload.
NamedFlow = tuple[str, Mapping[str, Any]]


class Transfer(NamedTuple):
    """Connection of a flow whose transfers have an end."""

    run: int
    #: Name of the flow.
    flow: str
    #: Number of the connection in its run.
    connection: int
    start_s: float
    #: Time from the request to the last byte, s; NaN if it was never complete.
    completion_s: float
    #: Completion time, or the time until the end of the run.
    lasted_s: float


def flows_by_connection(results: Results) -> dict[str, NamedFlow]:
    """Returns the flow of each name of connections, and its workload."""
    known = FlowUnderTest.each_with_workload(results.about)
    names = dict.fromkeys(name for (name,) in rows_of(results.tables["flows"], "name"))
    return {name: _flow_of(name, known) for name in names}


def _flow_of(name: str, known: list[tuple[FlowUnderTest, dict[str, Any]]]) -> NamedFlow:
    """Returns the flow that connections of a name belong to."""
    for flow, workload in known:
        if flow.includes(name):
            return flow.name, workload
    # Further flows of a line-up are copies of the first.
    return name, known[0][1]


def transfers_of(results: Results, flows: Mapping[str, NamedFlow]) -> list[Transfer]:
    """Returns the transfers of flows that have an end, complete ones first.

    A transfer that the end of the run has cut is left out unless it had taken longer by then than each
    complete one: nothing says that it would not have been complete.

    Args:
        results: of the campaign.
        flows: by the names of connections, as those of `flows_by_connection`.
    """
    every = list(_finite(results, flows))
    complete = [transfer for transfer in every if not math.isnan(transfer.completion_s)]
    longest: dict[tuple[int, str], float] = {}
    for transfer in complete:
        key = transfer.run, transfer.flow
        longest[key] = max(transfer.completion_s, longest.get(key, 0.0))
    cut = (transfer for transfer in every if math.isnan(transfer.completion_s))
    never = [
        transfer
        for transfer in cut
        if transfer.lasted_s > longest.get((transfer.run, transfer.flow), 0.0)
    ]
    return [*complete, *never]


def _finite(results: Results, flows: Mapping[str, NamedFlow]) -> Iterator[Transfer]:
    """Yields all connections of flows whose transfers have an end."""
    ends_s = dict(rows_of(results.tables["runs"], "run", "duration_s"))
    columns = ("run", "flow", "name", "start_s", "completion_s")
    for run, number, name, start_s, completion_s in rows_of(results.tables["flows"], *columns):
        flow, workload = flows[name]
        if _has_end(workload):
            time_s = math.nan if completion_s is None else completion_s
            lasted_s = ends_s[run] - start_s if math.isnan(time_s) else time_s
            yield Transfer(run, flow, number, start_s, time_s, lasted_s)


def _has_end(workload: Mapping[str, Any]) -> bool:
    """Returns whether the transfers of a workload have an end."""
    kind = workload.get("kind", "bulk")
    return kind == "sequence" or (kind == "bulk" and "bytes" in workload)
