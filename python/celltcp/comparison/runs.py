"""Runs of a comparison: a row each, summed up from their connections and slots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import jain
from celltcp.comparison.figures import application_figures
from celltcp.requirements import COMPLETIONS, Bounded, Weights
from celltcp.results import Results
from celltcp.results.frames import frame, spans
from celltcp.results.tested import FlowUnderTest

#: Columns of connections that runs are summed up from.
_FLOW_COLUMNS = [
    *("run", "flow", "name", "first_data_s", "duration_s", "goodput_mbps"),
    *("rtt_mean_ms", "rtt_p95_ms", "rtt_min_ms"),
    *("induced_delay_ms", "owd_p95_ms", "retransmissions", "pm_balanced", "pm_delay", "segments"),
]

#: Columns of early acknowledgements, which results of earlier versions do not have.
_EARLY = ("acked_early_bytes", "acked_early_ends")


def run_table(
    results: Results,
    derived: Sequence[Weights | Bounded],
    competitors: pd.DataFrame,
    *,
    completions: bool = False,
) -> pd.DataFrame:
    """Returns a row per run: the flow under test, and the fairness of all.

    Connections of that flow add up: goodput as what all of them delivered over the time in which at
    least one ran, retransmissions as a sum, RTTs and PM as means weighted by segments, the 95th
    percentile as the largest.

    Args:
        results: of the campaign.
        derived: requirements that are measured slot by slot beside the named ones.
        competitors: what each got while all flows ran (`shares.Shared`).
        completions: whether to add the metric of completions.
    """
    early = [name for name in _EARLY if name in results.tables["flows"].column_names]
    flows = frame(results.tables["flows"].select([*_FLOW_COLUMNS, *early]))
    for each in derived:
        flows[each.metric] = _measured(results, flows, each)
    runs = frame(results.tables["runs"].select(["run", "cca", "seed", "duration_s"]))
    shares = competitors["goodput_mbps"].tolist()
    sharing = {run: shares[span] for run, span in spans(competitors["run"]).items()}
    tested = flows[FlowUnderTest.of(results.about).has(flows["name"])]
    connections = spans(tested["run"])
    # A flow may begin too late in a run to open a connection.
    rows = [connections.get(run, slice(0, 0)) for run in runs["run"]]
    columns = {metric: tested[metric].tolist() for metric in [*_FLOW_COLUMNS[3:], *early]}
    segments = tested["segments"].tolist()

    def each_run(metric: str, of: Callable[[list[Any]], Any]) -> list[Any]:
        values = columns[metric]
        return [of(values[span]) for span in rows]

    def weighted(metric: str) -> list[float]:
        values = tested[metric].tolist()
        return [_weighted(values[span], segments[span]) for span in rows]

    return pd.DataFrame(
        {
            "run": runs["run"].to_numpy(np.int64),
            "cca": [str(cca) for cca in runs["cca"]],
            "seed": runs["seed"].to_numpy(np.int64),
            "goodput_mbps": [_goodput(tested.iloc[span]) for span in rows],
            "rtt_mean_ms": weighted("rtt_mean_ms"),
            "rtt_p95_ms": each_run("rtt_p95_ms", _highest),
            "rtt_min_ms": each_run("rtt_min_ms", _lowest),
            "induced_delay_ms": weighted("induced_delay_ms"),
            "owd_p95_ms": each_run("owd_p95_ms", _highest),
            "retransmissions": each_run("retransmissions", sum),
            "pm_balanced": weighted("pm_balanced"),
            "pm_delay": weighted("pm_delay"),
            **{each.metric: weighted(each.metric) for each in derived},
            **({COMPLETIONS: _completions(results, tested, runs)} if completions else {}),
            **{name: each_run(name, sum) for name in early},
            **application_figures(results, tested, runs["run"]),
            "fairness": [jain(sharing.get(run, [])) for run in runs["run"]],
            "duration_s": runs["duration_s"],
        }
    )


def _goodput(connections: pd.DataFrame) -> float:
    """Returns what the connections of a flow delivered over the time in which at least one ran."""
    rates = connections["goodput_mbps"].tolist()
    if len(rates) < 2:
        return math.fsum(rates)
    # A connection that sent nothing has no first data byte.
    sent = connections[connections["duration_s"] > 0].sort_values("first_data_s")
    delivered = float((sent["goodput_mbps"] * sent["duration_s"]).sum())
    ends = sent["first_data_s"] + sent["duration_s"]
    busy = (ends - np.fmax(sent["first_data_s"], ends.cummax().shift())).clip(lower=0).sum()
    return delivered / float(busy) if busy else 0.0


def _highest(values: Sequence[float]) -> float:
    """Returns the highest of the known values; NaN without one."""
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _lowest(values: Sequence[float]) -> float:
    """Returns the lowest of the known values; NaN without one."""
    return min((value for value in values if not math.isnan(value)), default=math.nan)


def _measured(results: Results, flows: pd.DataFrame, derived: Weights | Bounded) -> NDArray[np.float64]:
    """Returns the measure of a requirement of each connection: the mean over its slots."""
    columns = ["run", "flow", "goodput_mbps", "rtt_mean_ms", "a", "b", "c"]
    slots = frame(results.tables["slots"].select(columns))
    means = derived.measure(slots).groupby([slots["run"], slots["flow"]]).mean()
    keys = pd.MultiIndex.from_frame(flows[["run", "flow"]])
    found: NDArray[np.float64] = means.reindex(keys).to_numpy(np.float64)
    return found


def _completions(results: Results, tested: pd.DataFrame, runs: pd.DataFrame) -> list[float]:
    """Returns one over the mean completion time of the flow under test, 1/s; NaN without a completion.

    A connection that was still running at the end of a run counts with the time that it had.
    """
    times = frame(results.tables["flows"].select(["run", "flow", "start_s", "completion_s"]))
    times = tested[["run", "flow"]].merge(times, on=["run", "flow"])
    ends = times["run"].map(runs.set_index("run")["duration_s"])
    done = times["completion_s"].fillna(ends - times["start_s"])
    complete = times["completion_s"].notna().groupby(times["run"]).any()
    means = done.groupby(times["run"]).mean().where(complete)
    return [1.0 / float(means.get(run, math.nan)) for run in runs["run"]]


def _weighted(values: Sequence[float], segments: Sequence[int]) -> float:
    """Returns the mean weighted by segments, over the connections that have the metric."""
    known = [
        (value, count)
        for value, count in zip(values, segments, strict=True)
        if count and not math.isnan(value)
    ]
    total = sum(count for _, count in known)
    return math.fsum(value * count for value, count in known) / float(total) if total else math.nan
