"""Transfers with an end: connections of flows whose workload has an end, complete or not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from celltcp.results.columns import rows_of
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest, has_end

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
    #: Completion time, or the time until the end of the run if it was never complete, s.
    time_so_far_s: float


def flows_by_connection(results: Results) -> dict[str, NamedFlow]:
    """Returns the flow and its workload by the name of connections."""
    scenario_flows = FlowUnderTest.each_with_workload(results.about)
    names = dict.fromkeys(name for (name,) in rows_of(results.tables["flows"], "name"))
    return {name: _flow_of(name, scenario_flows) for name in names}


def _flow_of(name: str, scenario_flows: list[tuple[FlowUnderTest, dict[str, Any]]]) -> NamedFlow:
    """Returns the flow that connections of a name belong to."""
    for flow, workload in scenario_flows:
        if flow.includes(name):
            return flow.name, workload
    # Further flows of a mix are copies of the first flow of the scenario.
    return name, scenario_flows[0][1]


def transfers_of(results: Results, flows: Mapping[str, NamedFlow]) -> list[Transfer]:
    """Returns the transfers of flows that have an end, complete ones first.

    A transfer that the end of the run cut counts only if its time so far exceeds that of each complete
    transfer; otherwise it might have been complete as soon as those. `flows` are those of
    `flows_by_connection`.
    """
    transfers = list(_finite_transfers(results, flows))
    complete = [transfer for transfer in transfers if not math.isnan(transfer.completion_s)]
    longest: dict[tuple[int, str], float] = {}
    for transfer in complete:
        key = transfer.run, transfer.flow
        longest[key] = max(transfer.completion_s, longest.get(key, 0.0))
    cut = (transfer for transfer in transfers if math.isnan(transfer.completion_s))
    incomplete = [
        transfer
        for transfer in cut
        if transfer.time_so_far_s > longest.get((transfer.run, transfer.flow), 0.0)
    ]
    return [*complete, *incomplete]


def _finite_transfers(results: Results, flows: Mapping[str, NamedFlow]) -> Iterator[Transfer]:
    """Yields all connections of flows whose transfers have an end."""
    ends_s = dict(rows_of(results.tables["runs"], "run", "duration_s"))
    columns = ("run", "flow", "name", "start_s", "completion_s")
    for run, number, name, start_s, completion_s in rows_of(results.tables["flows"], *columns):
        flow, workload = flows[name]
        if has_end(workload):
            time_s = math.nan if completion_s is None else completion_s
            time_so_far_s = ends_s[run] - start_s if math.isnan(time_s) else time_s
            yield Transfer(run, flow, number, start_s, time_s, time_so_far_s)
