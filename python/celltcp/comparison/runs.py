"""Table of the runs of a comparison, aggregated from connections and slots."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celltcp.results.columns import (
    connection_keys,
    distinct,
    group_means,
    means_by,
    numbers,
    rows_of,
    values_of,
)
from celltcp.results.tables import Results, frame
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.requirements import COMPLETIONS, OtherMeasure, Weights

#: Columns of connections from which runs are aggregated.
_FLOW_COLUMNS = [
    *("run", "flow", "first_data_s", "duration_s", "goodput_mbps"),
    *("rtt_mean_ms", "rtt_p95_ms", "rtt_min_ms"),
    *("owd_p95_ms", "retransmissions", "pm_balanced", "pm_delay", "segments"),
]

#: Columns of early acknowledgements, which results of earlier versions lack.
_EARLY_ACK_COLUMNS = ("acked_early_bytes", "acked_early_ends")

#: Columns of connections that are equal in identical runs.
_IDENTITY_COLUMNS = (
    *("flow", "bytes", "segments", "retransmissions", "duration_s", "goodput_mbps"),
    *("rtt_mean_ms", "rtt_p95_ms"),
)


def run_table(
    results: Results,
    derived: Sequence[Weights | OtherMeasure],
    application_metrics: Mapping[str, NDArray[np.float64]],
    fairness: Mapping[int, float],
    *,
    completions: bool = False,
    flow: FlowUnderTest | None = None,
) -> dict[str, list[Any]]:
    """Returns the columns of a table with a row per run: metrics of a flow, and Jain's index of all.

    The connections of the flow are aggregated. Goodput is what all of them delivered over the time in
    which at least one ran. Retransmissions are summed. Mean RTTs and PM are weighted by segments. 95th
    percentiles and maxima are the highest one of any connection. The induced delay is the mean RTT
    above the lowest RTT of all connections, because a short connection may see nothing but a long
    queue.

    Args:
        results: of the campaign.
        derived: requirements whose metrics are computed slot by slot.
        application_metrics: metrics of the flow's application by name, a value per run.
        fairness: Jain's index of the competitors by run; none of those without two of them.
        completions: whether to add `COMPLETIONS`.
        flow: the flow; the one under test unless given.
    """
    flows = results.tables["flows"]
    early_columns = [name for name in _EARLY_ACK_COLUMNS if name in flows.column_names]
    columns = {name: numbers(flows[name]).tolist() for name in (*_FLOW_COLUMNS, *early_columns)}
    # Results of earlier versions lack it.
    has_max_rtt = "rtt_max_ms" in flows.column_names
    max_rtts_ms = numbers(flows["rtt_max_ms"]) if has_max_rtt else np.full(len(flows), np.nan)
    columns["rtt_max_ms"] = max_rtts_ms.tolist()
    for requirement in derived:
        columns[requirement.metric] = _requirement_metric(results, requirement)
    runs = {
        name: numbers(results.tables["runs"][name]).tolist() for name in ("run", "seed", "duration_s")
    }
    measured_flow = flow or FlowUnderTest.of(results.about)
    # A flow may begin too late in a run to open a connection.
    rows: dict[int, list[int]] = {run: [] for run in runs["run"]}
    for index, (run, name) in enumerate(rows_of(flows, "run", "name")):
        if run in rows and measured_flow.includes(name):
            rows[run].append(index)

    def total(metric: str) -> list[Any]:
        sums = [sum(columns[metric][index] for index in indices) for indices in rows.values()]
        # With a NaN among them, all sums are floating-point numbers.
        result: list[Any] = np.array(sums).tolist()
        return result

    def extreme(metric: str, statistic: Callable[..., float]) -> list[float]:
        values = (map(columns[metric].__getitem__, indices) for indices in rows.values())
        return [
            statistic((value for value in of_run if not math.isnan(value)), default=math.nan)
            for of_run in values
        ]

    def weighted(metric: str) -> list[float]:
        values, segments = columns[metric], columns["segments"]
        return [
            weighted_mean([values[index] for index in indices], [segments[index] for index in indices])
            for indices in rows.values()
        ]

    min_rtts_ms = extreme("rtt_min_ms", min)
    columns["induced_delay_ms"] = list(columns["rtt_mean_ms"])
    for indices, min_rtt_ms in zip(rows.values(), min_rtts_ms, strict=True):
        for index in indices:
            columns["induced_delay_ms"][index] -= min_rtt_ms
    return {
        "run": runs["run"],
        "cca": [cca for (cca,) in rows_of(results.tables["runs"], "cca")],
        "seed": runs["seed"],
        "goodput_mbps": [flow_goodput(columns, indices) for indices in rows.values()],
        "rtt_mean_ms": weighted("rtt_mean_ms"),
        # Of many connections the largest would be that of a single one.
        "rtt_p95_ms": weighted("rtt_p95_ms"),
        "rtt_max_ms": extreme("rtt_max_ms", max),
        "rtt_min_ms": min_rtts_ms,
        "induced_delay_ms": weighted("induced_delay_ms"),
        "owd_p95_ms": weighted("owd_p95_ms"),
        "retransmissions": total("retransmissions"),
        "pm_balanced": weighted("pm_balanced"),
        "pm_delay": weighted("pm_delay"),
        **{requirement.metric: weighted(requirement.metric) for requirement in derived},
        **({COMPLETIONS: _completions(results, rows, runs["duration_s"])} if completions else {}),
        **{name: total(name) for name in early_columns},
        **{name: values.tolist() for name, values in application_metrics.items()},
        "fairness": [fairness.get(run, math.nan) for run in runs["run"]],
        "duration_s": runs["duration_s"],
    }


def flow_goodput(columns: Mapping[str, Sequence[float]], indices: Sequence[int]) -> float:
    """Returns the goodput of a flow over the time in which at least one connection ran, Mbit/s.

    `indices` are those of the connections of the flow in the columns of all connections.
    """
    rates = [columns["goodput_mbps"][index] for index in indices]
    if len(rates) < 2:
        return math.fsum(rates)
    # A connection that sent nothing has no first data byte.
    sending = [index for index in indices if columns["duration_s"][index] > 0]
    starts, durations, rate = (
        np.array([columns[name][index] for index in sending])
        for name in ("first_data_s", "duration_s", "goodput_mbps")
    )
    order = np.argsort(starts)
    starts, durations, rate = starts[order], durations[order], rate[order]
    delivered = float((rate * durations).sum())
    ends = starts + durations
    last_ends = np.concatenate([[-math.inf], np.maximum.accumulate(ends)])[:-1]
    busy_s = (ends - np.fmax(starts, last_ends)).clip(min=0).sum()
    return delivered / float(busy_s) if busy_s else 0.0


def _requirement_metric(results: Results, derived: Weights | OtherMeasure) -> list[float]:
    """Returns the metric of a requirement for each connection: the mean over its slots."""
    # The factors A, B and C of PM, and the columns that bounds refer to.
    columns = ["run", "flow", "goodput_mbps", "rtt_mean_ms", "a", "b", "c"]
    slots = results.tables["slots"].select(columns)
    values = derived.measure(frame(slots)).to_numpy(np.float64)
    keys, _, group = distinct(connection_keys(slots))
    means = group_means(values, group, len(keys))
    result: list[float] = values_of(
        connection_keys(results.tables["flows"]), keys, means, math.nan
    ).tolist()
    return result


def _completions(
    results: Results, rows: Mapping[int, Sequence[int]], durations_s: Sequence[float]
) -> list[float]:
    """Returns one over the mean completion time of a flow, 1/s; NaN without a completion.

    A connection that was still running at the end of a run counts with its time until then. `rows` are
    the indices of the flow's connections by run, `durations_s` the lengths of the runs.
    """
    flows = results.tables["flows"]
    starts, completions = (numbers(flows[name]).tolist() for name in ("start_s", "completion_s"))
    run_numbers, times, complete_runs = [], [], set()
    for (run, indices), duration_s in zip(rows.items(), durations_s, strict=True):
        for index in indices:
            is_complete = not math.isnan(completions[index])
            run_numbers.append(run)
            times.append(completions[index] if is_complete else duration_s - starts[index])
            if is_complete:
                complete_runs.add(run)
    means = means_by(run_numbers, times)
    return [1.0 / means[run] if run in complete_runs else math.nan for run in rows]


def weighted_mean(values: Sequence[float], segments: Sequence[int]) -> float:
    """Returns the mean weighted by segments; NaN values are left out."""
    weighted = [
        (value, weight)
        for value, weight in zip(values, segments, strict=True)
        if weight and not math.isnan(value)
    ]
    total = sum(weight for _, weight in weighted)
    return math.fsum(value * weight for value, weight in weighted) / total if total else math.nan


def identical_ccas(
    results: Results,
    runs: Sequence[int],
    seeds: Sequence[int],
    indices: Mapping[str, Sequence[int]],
) -> list[list[str]]:
    """Returns groups of congestion controls or mixes under which the runs are the same, seed by seed.

    `indices` are those of the runs of each CCA or mix among `runs` and `seeds`.
    """
    rows: dict[int, list[tuple[Any, ...]]] = {}
    for run, *row in rows_of(results.tables["flows"], "run", *_IDENTITY_COLUMNS):
        rows.setdefault(run, []).append(tuple(map(repr, row)))
    groups: dict[str, list[str]] = {}
    for cca, places in indices.items():
        own_runs = [(seeds[index], rows.get(runs[index])) for index in places]
        groups.setdefault(repr(own_runs), []).append(cca)
    return [group for group in groups.values() if len(group) > 1]
