"""Runs of a comparison: a row each, aggregated from its connections and slots."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celltcp._core import jain
from celltcp.results.columns import (
    connections,
    distinct,
    group_means,
    means_by,
    numbers,
    rows_of,
    sums_by,
    values_of,
)
from celltcp.results.tables import Results, frame
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.requirements import COMPLETIONS, Bounded, Weights

#: Columns of connections from which runs are aggregated.
_FLOW_COLUMNS = [
    *("run", "flow", "first_data_s", "duration_s", "goodput_mbps"),
    *("rtt_mean_ms", "rtt_p95_ms", "rtt_min_ms"),
    *("owd_p95_ms", "retransmissions", "pm_balanced", "pm_delay", "segments"),
]

#: Columns of early acknowledgements, which results of earlier versions lack.
_EARLY_ACK_COLUMNS = ("acked_early_bytes", "acked_early_ends")


def run_table(
    results: Results,
    derived: Sequence[Weights | Bounded],
    application_metrics: Mapping[str, NDArray[np.float64]],
    competitors: Mapping[int, list[float]] | None = None,
    *,
    completions: bool = False,
    flow: FlowUnderTest | None = None,
) -> dict[str, list[Any]]:
    """Returns the columns of a table with a row per run: the flow under test, and the fairness of all.

    Connections of that flow add up: goodput as what all of them delivered over the time in which at
    least one ran, retransmissions as a sum, RTTs and PM as means weighted by segments, the 95th
    percentile as the largest. The delay that is induced is that above the lowest RTT of all of them: a
    short connection may meet nothing but a long queue.

    Args:
        results: of the campaign.
        derived: further requirements, which are measured slot by slot.
        application_metrics: those of the application of that flow, by name, a value per run.
        competitors: what each got while all flows ran, by run (`shares.Shared`); None where each run
            has a single connection, which has the path to itself.
        completions: whether to add the metric of completions.
        flow: another flow than the one under test.
    """
    flows = results.tables["flows"]
    early = [name for name in _EARLY_ACK_COLUMNS if name in flows.column_names]
    columns = {name: numbers(flows[name]).tolist() for name in (*_FLOW_COLUMNS, *early)}
    for each in derived:
        columns[each.metric] = _measured(results, each)
    runs = {
        name: numbers(results.tables["runs"][name]).tolist() for name in ("run", "seed", "duration_s")
    }
    under_test = flow or FlowUnderTest.of(results.about)
    # A flow may begin too late in a run to open a connection.
    rows: dict[int, list[int]] = {run: [] for run in runs["run"]}
    for index, (run, name) in enumerate(rows_of(flows, "run", "name")):
        if run in rows and under_test.includes(name):
            rows[run].append(index)

    def each_run(metric: str, of: Callable[[list[Any]], Any]) -> list[Any]:
        values = columns[metric]
        return [of([values[index] for index in places]) for places in rows.values()]

    def total(metric: str) -> list[Any]:
        # With an unknown value, the column is not of integers.
        result: list[Any] = np.array(each_run(metric, sum)).tolist()
        return result

    def weighted(metric: str) -> list[float]:
        values, segments = columns[metric], columns["segments"]
        return [
            weighted_mean([values[index] for index in places], [segments[index] for index in places])
            for places in rows.values()
        ]

    lowest = each_run("rtt_min_ms", _lowest)
    columns["induced_delay_ms"] = list(columns["rtt_mean_ms"])
    for places, least in zip(rows.values(), lowest, strict=True):
        for index in places:
            columns["induced_delay_ms"][index] -= least
    if competitors is None:
        competitors = _alone(results)
    return {
        "run": runs["run"],
        "cca": [cca for (cca,) in rows_of(results.tables["runs"], "cca")],
        "seed": runs["seed"],
        "goodput_mbps": [goodput_together(columns, places) for places in rows.values()],
        "rtt_mean_ms": weighted("rtt_mean_ms"),
        "rtt_p95_ms": each_run("rtt_p95_ms", _highest),
        "rtt_min_ms": lowest,
        "induced_delay_ms": weighted("induced_delay_ms"),
        "owd_p95_ms": each_run("owd_p95_ms", _highest),
        "retransmissions": total("retransmissions"),
        "pm_balanced": weighted("pm_balanced"),
        "pm_delay": weighted("pm_delay"),
        **{each.metric: weighted(each.metric) for each in derived},
        **({COMPLETIONS: _completions(results, rows, runs["duration_s"])} if completions else {}),
        **{name: total(name) for name in early},
        **{name: values.tolist() for name, values in application_metrics.items()},
        "fairness": [jain(competitors.get(run, [])) for run in runs["run"]],
        "duration_s": runs["duration_s"],
    }


def _alone(results: Results) -> dict[int, list[float]]:
    """Returns the goodput of the connection of each run, as a sum over its slots, Mbit/s."""
    slots = results.tables["slots"]
    got = sums_by(numbers(slots["run"]).tolist(), numbers(slots["goodput_mbps"]).tolist())
    return {run: [goodput] for run, goodput in got.items()}


def goodput_together(columns: Mapping[str, Sequence[float]], places: Sequence[int]) -> float:
    """Returns the goodput of a flow over the time in which at least one connection ran.

    Args:
        columns: of all connections.
        places: those of the flow.
    """
    rates = [columns["goodput_mbps"][index] for index in places]
    if len(rates) < 2:
        return math.fsum(rates)
    # A connection that sent nothing has no first data byte.
    sent = [index for index in places if columns["duration_s"][index] > 0]
    begins, lasts, rate = (
        np.array([columns[name][index] for index in sent])
        for name in ("first_data_s", "duration_s", "goodput_mbps")
    )
    order = np.argsort(begins)
    begins, lasts, rate = begins[order], lasts[order], rate[order]
    delivered = float((rate * lasts).sum())
    ends = begins + lasts
    before = np.concatenate([[math.nan], np.maximum.accumulate(ends)[:-1]])
    busy = (ends - np.fmax(begins, before[: len(ends)])).clip(min=0).sum()
    return delivered / float(busy) if busy else 0.0


def _highest(values: Sequence[float]) -> float:
    """Returns the highest of the known values; NaN without one."""
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _lowest(values: Sequence[float]) -> float:
    """Returns the lowest of the known values; NaN without one."""
    return min((value for value in values if not math.isnan(value)), default=math.nan)


def _measured(results: Results, derived: Weights | Bounded) -> list[float]:
    """Returns the measure of a requirement of each connection: the mean over its slots."""
    columns = ["run", "flow", "goodput_mbps", "rtt_mean_ms", "a", "b", "c"]
    slots = results.tables["slots"].select(columns)
    values = derived.measure(frame(slots)).to_numpy(np.float64)
    known, _, group = distinct(connections(slots))
    means = group_means(values, group, len(known))
    result: list[float] = values_of(
        connections(results.tables["flows"]), known, means, math.nan
    ).tolist()
    return result


def _completions(
    results: Results, rows: Mapping[int, Sequence[int]], durations_s: Sequence[float]
) -> list[float]:
    """Returns one over the mean completion time of the flow under test, 1/s; NaN without a completion.

    A connection that was still running at the end of a run counts with the time that it had.

    Args:
        results: of the campaign.
        rows: places of the connections of that flow by run.
        durations_s: of the runs.
    """
    flows = results.tables["flows"]
    starts, ends = (numbers(flows[name]).tolist() for name in ("start_s", "completion_s"))
    of_run, times, complete = [], [], set()
    for (run, places), duration_s in zip(rows.items(), durations_s, strict=True):
        for index in places:
            is_complete = not math.isnan(ends[index])
            of_run.append(run)
            times.append(ends[index] if is_complete else duration_s - starts[index])
            complete |= {run} if is_complete else set()
    means = means_by(of_run, times)
    return [1.0 / means[run] if run in complete else math.nan for run in rows]


def weighted_mean(values: Sequence[float], segments: Sequence[int]) -> float:
    """Returns the mean weighted by segments, over the connections that have the metric."""
    known = [
        (value, count)
        for value, count in zip(values, segments, strict=True)
        if count and not math.isnan(value)
    ]
    total = sum(count for _, count in known)
    return math.fsum(value * count for value, count in known) / float(total) if total else math.nan
