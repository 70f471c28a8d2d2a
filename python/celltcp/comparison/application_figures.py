"""Figures of applications: times of responses, pages and transfers, late frames, scores of videos."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celltcp.comparison.metrics import APPLICATIONS, TRANSFERS, AppMetric
from celltcp.results.columns import rows_of, text_array_of
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest

#: Figures by name, a value per run; NaN where a run has none.
Figures = dict[str, NDArray[np.float64]]


def application_figures(results: Results, runs: Sequence[int]) -> dict[str, Figures]:
    """Returns the figures of the applications of all flows, by flow in the order of the scenario.

    Only applications that have recorded something are there, and transfers that have an end.

    Args:
        results: of the campaign.
        runs: numbers of the runs.
    """
    if "events" not in results.tables:
        # An evaluation keeps none.
        return {}
    known = FlowUnderTest.each_with_workload(results.about)
    names = dict.fromkeys(name for (name,) in rows_of(results.tables["flows"], "name"))
    flows = {name: _flow_of(name, known) for name in names}
    values = _event_values(results, flows)
    first_bytes = _first_bytes(results, flows)
    for flow, transfers in _transfers(results, flows).items():
        values.setdefault(flow, {})[_COMPLETION] = transfers
        values[flow][_FIRST_BYTE] = first_bytes[flow]
    order = dict.fromkeys([*(flow.name for flow, _ in known), *(name for name, _ in flows.values())])
    return {flow: _figures(values[flow], runs) for flow in order if flow in values}


#: Name of a flow and its workload.
_Flow = tuple[str, Mapping[str, Any]]
#: Values of a run by kind of event.
_Values = dict[str, dict[int, list[float]]]


def _flow_of(name: str, known: Sequence[tuple[FlowUnderTest, Mapping[str, Any]]]) -> _Flow:
    """Returns the flow that connections of a name belong to."""
    for flow, workload in known:
        if flow.includes(name):
            return flow.name, workload
    # Further flows of a line-up are copies of the first.
    return name, known[0][1]


def _figures(by_kind: _Values, runs: Sequence[int]) -> Figures:
    figures: Figures = {}
    for application in APPLICATIONS:
        kinds = {name: figure.kind or name for name, figure in application.items()}
        if application is TRANSFERS:
            figures |= _of_transfers(by_kind.get(_COMPLETION), by_kind.get(_FIRST_BYTE, {}), runs)
        elif not by_kind.keys().isdisjoint(kinds.values()):
            for name, figure in application.items():
                if figure.is_occasional and kinds[name] not in by_kind:
                    continue
                figures[name] = _per_run(by_kind.get(kinds[name], {}), runs, _statistic(figure))
    return figures


#: Names of the times of transfers among the kinds of events.
_COMPLETION, _FIRST_BYTE = "completion", "first_byte"


def _event_values(results: Results, flows: Mapping[str, _Flow]) -> dict[str, _Values]:
    """Returns the values that events have, by flow, kind and run."""
    wanted = {
        figure.kind or name for application in APPLICATIONS for name, figure in application.items()
    }
    of = {
        (run, number): flows[name][0]
        for run, number, name in rows_of(results.tables["flows"], "run", "flow", "name")
    }
    events = results.tables["events"]
    is_wanted = pc.is_in(events["kind"].cast(pa.string()), value_set=text_array_of(sorted(wanted)))
    result: dict[str, _Values] = {}
    for run, number, kind, detail in rows_of(events.filter(is_wanted), "run", "flow", "kind", "detail"):
        of_kind = result.setdefault(of[run, number], {}).setdefault(kind, {})
        of_kind.setdefault(run, []).append(float(detail))
    return result


def _transfers(results: Results, flows: Mapping[str, _Flow]) -> dict[str, dict[int, list[float]]]:
    """Returns completion times of flows that have an end, by flow and run; NaN for unfinished ones.

    A transfer that the end of the run has cut is left out unless it had taken longer by then than each
    complete one: nothing says that it would not have been complete.
    """
    ends_s = dict(rows_of(results.tables["runs"], "run", "duration_s"))
    result: dict[str, dict[int, list[float]]] = {}
    cut: list[tuple[str, int, float]] = []
    columns = ("run", "name", "start_s", "completion_s")
    for run, name, start_s, completion_s in rows_of(results.tables["flows"], *columns):
        flow, workload = flows[name]
        if not _is_finite(workload):
            continue
        times = result.setdefault(flow, {}).setdefault(run, [])
        if completion_s is None or math.isnan(completion_s):
            cut.append((flow, run, ends_s[run] - start_s))
        else:
            times.append(completion_s)
    for flow, run, taken_s in cut:
        times = result[flow][run]
        if taken_s > max((each for each in times if not math.isnan(each)), default=0.0):
            times.append(math.nan)
    return result


def _first_bytes(
    results: Results, flows: Mapping[str, _Flow]
) -> collections.defaultdict[str, dict[int, list[float]]]:
    """Returns times to first bytes by flow and run; none for results of earlier builds."""
    result: collections.defaultdict[str, dict[int, list[float]]] = collections.defaultdict(dict)
    table = results.tables["flows"]
    if "first_byte_s" in table.column_names:
        for run, name, time_s in rows_of(table, "run", "name", "first_byte_s"):
            if time_s is not None and not math.isnan(time_s):
                result[flows[name][0]].setdefault(run, []).append(time_s)
    return result


def _is_finite(workload: Mapping[str, Any]) -> bool:
    """Returns whether the transfers of a workload have an end."""
    kind = workload.get("kind", "bulk")
    return kind == "sequence" or (kind == "bulk" and "bytes" in workload)


def _of_transfers(
    times: Mapping[int, Sequence[float]] | None,
    first_bytes: Mapping[int, Sequence[float]],
    runs: Sequence[int],
) -> Figures:
    if times is None:
        return {}
    complete = {run: [each for each in of if not math.isnan(each)] for run, of in times.items()}
    shares = {run: [len(complete[run]) / len(of)] for run, of in times.items() if of}
    return {
        **({"first_byte_s": _per_run(first_bytes, runs, _mean)} if first_bytes else {}),
        "completion_s": _per_run(complete, runs, _mean),
        "completion_max_s": _per_run(complete, runs, max),
        "completed_share": _per_run(shares, runs, _mean),
    }


def _per_run(
    values: Mapping[int, Sequence[float]],
    runs: Sequence[int],
    statistic: Callable[[Sequence[float]], float],
) -> NDArray[np.float64]:
    return np.array([statistic(values[run]) if values.get(run) else math.nan for run in runs])


def _statistic(figure: AppMetric) -> Callable[[Sequence[float]], float]:
    if figure.percentile is None:
        return _mean
    percentile = figure.percentile
    return lambda values: _nearest_rank(values, percentile)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _nearest_rank(values: Sequence[float], percentile: int) -> float:
    """Returns a percentile as all tables have it: the smallest value that so many are not above."""
    rank = math.ceil(percentile * len(values) / 100)
    return sorted(values)[max(rank, 1) - 1]
