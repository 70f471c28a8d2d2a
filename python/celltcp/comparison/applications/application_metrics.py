"""Metrics of applications: times of responses, pages and transfers, late frames, scores of videos."""

from __future__ import annotations

import collections
import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celltcp.comparison.applications.frame_kinds import (
    KIND_EVENTS,
    frame_kinds,
    select_frames,
    selected_kinds,
)
from celltcp.comparison.applications.transfers import NamedFlow, flows_by_connection, transfers_of
from celltcp.comparison.metrics import (
    AGES,
    APPLICATIONS,
    FRAMES,
    LAST_COMPLETION,
    LATE_RESPONSE,
    MISSING_FRAMES,
    RESPONSE,
    RESPONSE_TIMES,
    TRANSFERS,
    AppMetric,
)
from celltcp.results.columns import rows_of, text_array_of
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.requests import response_deadline_s

#: Metrics by name, a value per run; NaN where a run has none.
MetricValues = dict[str, NDArray[np.float64]]


def application_metrics(results: Results, runs: Sequence[int]) -> dict[str, MetricValues]:
    """Returns the metrics of the applications of all flows, by flow in the order of the scenario.

    Only applications with recorded events are included, and transfers that have an end. The values are
    in the order of `runs`, which are run numbers.
    """
    if "events" not in results.tables:
        # Evaluations store no events.
        return {}
    flows = flows_by_connection(results)
    values = _event_values(results, flows)
    first_bytes = _first_bytes(results, flows)
    for flow, by_kind in _transfer_values(results, flows).items():
        values[flow] = {**values.get(flow, {}), **by_kind, _FIRST_BYTE: first_bytes[flow]}
    in_scenario = FlowUnderTest.each_with_workload(results.about)
    order = dict.fromkeys(
        [*(flow.name for flow, _ in in_scenario), *(name for name, _ in flows.values())]
    )
    return {flow: _flow_metrics(values[flow], runs) for flow in order if flow in values}


#: Values by kind of event and run.
_Values = dict[str, dict[int, list[float]]]


def frame_kind_metrics(results: Results, runs: Sequence[int]) -> dict[str, dict[str, MetricValues]]:
    """Returns the metrics of each kind of frames, by flow with several kinds and label of the kind."""
    flows = flows_by_connection(results)
    metrics: dict[str, dict[str, MetricValues]] = {}
    for name, workload in dict(flows.values()).items() if "events" in results.tables else ():
        for number, kind in enumerate(frame_kinds(workload)):
            values = _event_values(results, flows, {name: {number}})
            if name in values:
                metrics.setdefault(name, {})[kind.label] = _flow_metrics(values[name], runs)
    return metrics


def _flow_metrics(by_kind: _Values, runs: Sequence[int]) -> MetricValues:
    """Returns the metrics of a flow from the values of its events."""
    metrics: MetricValues = {}
    for application in APPLICATIONS:
        kinds = {name: metric.kind or name for name, metric in application.items()}
        if application is TRANSFERS:
            if _COMPLETION in by_kind:
                metrics |= _transfer_metrics(by_kind, runs)
        elif not by_kind.keys().isdisjoint(kinds.values()):
            for name, metric in application.items():
                if metric.is_occasional and kinds[name] not in by_kind:
                    continue
                values = by_kind.get(kinds[name], {})
                if kinds[name] in AGES.values():
                    metrics[name] = np.array([float(len(values.get(run, ()))) for run in runs])
                    if name == MISSING_FRAMES:
                        metrics[name] /= _per_run(by_kind[FRAMES], runs, math.fsum)
                    continue
                ages = by_kind.get(AGES.get(kinds[name], ""), {})
                if metric.is_spread:
                    # No bound: it may be higher or lower, as those that are not complete will be.
                    values = {run: of_run for run, of_run in values.items() if run not in ages}
                elif not metric.is_count:
                    values = _with_ages(values, ages)
                metrics[name] = _per_run(values, runs, _statistic(metric))
    return metrics


def unit_times(results: Results, flow: str, kind: str) -> dict[int, list[float]]:
    """Returns the durations of the units of work of a flow by run; of unfinished ones their age."""
    by_kind = _event_values(results, flows_by_connection(results)).get(flow, {})
    return _with_ages(by_kind.get(kind, {}), by_kind.get(AGES.get(kind, ""), {}))


def transfer_times(results: Results, flow: str) -> dict[int, list[float]]:
    """Returns the completion times of a flow by run, s; of the longest cut ones the time so far."""
    by_kind = _transfer_values(results, flows_by_connection(results))[flow]
    return _with_unfinished(by_kind, _complete(by_kind))


def _transfer_values(results: Results, flows: Mapping[str, NamedFlow]) -> dict[str, _Values]:
    """Returns the times of transfers, until complete and so far, by flow, kind and run, s."""
    values: dict[str, _Values] = {}
    for transfer in transfers_of(results, flows):
        by_kind = values.setdefault(transfer.flow, {})
        for kind, time_s in (
            (_COMPLETION, transfer.completion_s),
            (_TIME_SO_FAR, transfer.time_so_far_s),
        ):
            by_kind.setdefault(kind, {}).setdefault(transfer.run, []).append(time_s)
    return values


def _complete(by_kind: _Values) -> dict[int, list[float]]:
    """Returns the times of the transfers that were complete, by run, s."""
    return {
        run: [time_s for time_s in times if not math.isnan(time_s)]
        for run, times in by_kind[_COMPLETION].items()
    }


def _with_ages(
    times: Mapping[int, list[float]], ages: Mapping[int, list[float]]
) -> dict[int, list[float]]:
    """Returns the durations of units by run; for unfinished units their age, a lower bound."""
    return {run: [*times.get(run, ()), *ages.get(run, ())] for run in dict.fromkeys([*times, *ages])}


#: Keys of the times of transfers among the kinds of events.
_COMPLETION, _TIME_SO_FAR, _FIRST_BYTE = "completion", "lasted", "first_byte"


def _event_values(
    results: Results,
    flows: Mapping[str, NamedFlow],
    kinds: Mapping[str, Collection[int]] | None = None,
) -> dict[str, _Values]:
    """Returns the details of events by flow, kind and run.

    `kinds` are the numbers of the kinds of frames to include, by flow; by default those that decide.
    """
    event_kinds = {
        metric.kind or name for application in APPLICATIONS for name, metric in application.items()
    }
    by_key = {
        (run, number): flows[name]
        for run, number, name in rows_of(results.tables["flows"], "run", "flow", "name")
    }
    deadlines_s = {name: response_deadline_s(workload) for name, workload in flows.values()}
    selected = selected_kinds(by_key, kinds)
    event_kinds |= {*KIND_EVENTS} if selected else set()
    events = results.tables["events"]
    is_wanted = pc.is_in(events["kind"].cast(pa.string()), value_set=text_array_of(sorted(event_kinds)))
    result: dict[str, _Values] = {}
    rows = rows_of(events.filter(is_wanted), "run", "flow", "t_ns", "kind", "detail")
    for run, number, _, kind, detail in select_frames(rows, selected) if selected else rows:
        name, value = by_key[run, number][0], float(detail)
        by_kind = result.setdefault(name, {})
        by_kind.setdefault(kind, {}).setdefault(run, []).append(value)
        deadline_s = deadlines_s[name]
        # A request without its response counts once it is late.
        if (
            deadline_s is not None
            and kind in RESPONSE_TIMES
            and (kind != AGES[RESPONSE] or value > deadline_s)
        ):
            late = by_kind.setdefault(LATE_RESPONSE, {}).setdefault(run, [])
            late.append(float(value > deadline_s))
    return result


def _first_bytes(
    results: Results, flows: Mapping[str, NamedFlow]
) -> collections.defaultdict[str, dict[int, list[float]]]:
    """Returns the times to the first byte by flow and run, s; empty for results of earlier versions."""
    result: collections.defaultdict[str, dict[int, list[float]]] = collections.defaultdict(dict)
    table = results.tables["flows"]
    if "first_byte_s" in table.column_names:
        for run, name, time_s in rows_of(table, "run", "name", "first_byte_s"):
            if time_s is not None and not math.isnan(time_s):
                result[flows[name][0]].setdefault(run, []).append(time_s)
    return result


def _transfer_metrics(by_kind: _Values, runs: Sequence[int]) -> MetricValues:
    times, first_bytes = by_kind[_COMPLETION], by_kind.get(_FIRST_BYTE, {})
    times_so_far = _per_run(by_kind[_TIME_SO_FAR], runs, _mean)
    complete = _complete(by_kind)
    shares = {
        run: [len(complete[run]) / len(all_times)] for run, all_times in times.items() if all_times
    }
    with_unfinished = _with_unfinished(by_kind, complete)
    are_several = any(len(all_times) > 1 for all_times in times.values())
    return {
        **({"first_byte_s": _per_run(first_bytes, runs, _mean)} if first_bytes else {}),
        "transfers": _per_run(times, runs, len),
        "completion_s": _per_run(complete, runs, _mean),
        **(
            {
                name: _per_run(with_unfinished, runs, _statistic(metric))
                for name, metric in TRANSFERS.items()
                if metric.percentile is not None
            }
            if are_several
            else {}
        ),
        LAST_COMPLETION: _per_run(with_unfinished, runs, max),
        "completion_sd_s": _per_run(complete, runs, _deviation),
        **(
            {"completion_least_s": times_so_far}
            if any(share != [1.0] for share in shares.values())
            else {}
        ),
        "completed_share": _per_run(shares, runs, _mean),
    }


def _with_unfinished(
    by_kind: _Values, complete: Mapping[int, Sequence[float]]
) -> dict[int, list[float]]:
    """Returns completion times by run, and times so far that exceed each of them."""
    return {
        run: [
            *times,
            *(lasted for lasted in by_kind[_TIME_SO_FAR][run] if lasted > max(times, default=0.0)),
        ]
        for run, times in complete.items()
    }


def _per_run(
    values: Mapping[int, Sequence[float]],
    runs: Sequence[int],
    statistic: Callable[[Sequence[float]], float],
) -> NDArray[np.float64]:
    return np.array([statistic(values[run]) if values.get(run) else math.nan for run in runs])


def _statistic(metric: AppMetric) -> Callable[[Sequence[float]], float]:
    if metric.is_count:
        return len
    if metric.is_spread:
        return _deviation
    if metric.percentile is None:
        return _mean
    percentile = metric.percentile
    return lambda values: nearest_rank(values, percentile)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else math.nan


def nearest_rank(values: Sequence[float], percentile: float) -> float:
    """Returns a percentile by nearest rank: the lowest value with this share of values up to it."""
    # Products of 99.9 have rounding errors.
    rank = math.ceil(round(percentile * len(values) / 100, 6))
    return sorted(values)[max(rank, 1) - 1]
