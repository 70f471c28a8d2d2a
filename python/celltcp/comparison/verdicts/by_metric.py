"""Best congestion control by a chosen metric, METRIC or METRIC:FLOW."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp._core import CelltcpError
from celltcp.comparison.applications.applications import has_too_few
from celltcp.comparison.metric_names import RANKING_NAMES, ranking_metric
from celltcp.comparison.metrics import GOODPUT, JAIN, METRICS, RANKED, SHARE, best_of, workload_metrics
from celltcp.comparison.verdicts.costs import with_cost
from celltcp.comparison.verdicts.prices import priced
from celltcp.results.captured_limits import is_other_path
from celltcp.results.tested import FlowUnderTest

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.statistics import Verdict


#: Maximum number of metrics with names near an unknown one.
_MAX_NEAR = 3


class ChosenMetric(NamedTuple):
    """Metric of a flow by which congestion controls rank."""

    metric: str
    flow: str


class ChosenBest(NamedTuple):
    """Values of a chosen metric under each congestion control, and the best one by them."""

    chosen: ChosenMetric
    #: By CCA or mix, the values of the runs in the order of the seeds.
    values: Mapping[str, list[float]]
    verdict: Verdict
    #: CCAs under which the values are lower bounds.
    bounds: Collection[str] = ()
    #: CCAs under which the values are maxima, as a percentile has too few.
    maxima: Collection[str] = ()


def chosen_first(flows: Iterable[str], by: Iterable[str], about: Mapping[str, Any]) -> list[str]:
    """Returns names of flows, first those with chosen metrics; `about` is as in `check_metric`."""
    chosen = [check_metric(each, about).flow for each in by]
    flows = list(flows)
    return sorted(flows, key=[*chosen, *flows].index)


def check_metric(text: str, about: Mapping[str, Any]) -> ChosenMetric:
    """Parses METRIC or METRIC:FLOW, and checks that the flow's workload can have the metric.

    The default flow is the first one, or the only flow whose application has the metric. Names of
    plotted values, such as `response`, stand for their ranking metric.

    Args:
        text: the metric.
        about: metadata of results, or of a campaign: a mapping with the text of its `scenario`.

    Raises:
        CelltcpError: if there is no such metric or flow, or the flow has no such metric.
    """
    name, _, flow = text.partition(":")
    metric = ranking_metric(name)
    if metric not in RANKED:
        near = ", ".join(difflib.get_close_matches(name, RANKING_NAMES, _MAX_NEAR, cutoff=0.5))
        hint = f" (did you mean {near}?)" if near else ""
        raise CelltcpError(f"by: {name!r} is not a metric{hint}; allowed: {', '.join(RANKING_NAMES)}")
    by_flow = {
        each.name: workload_metrics(workload)
        for each, workload in FlowUnderTest.each_with_workload(about)
    }
    if flow and flow not in by_flow:
        raise CelltcpError(f"by: {flow!r} is not a flow of the scenario; allowed: {', '.join(by_flow)}")
    chosen = ChosenMetric(metric, flow or next(iter(by_flow)))
    if metric in (*METRICS, JAIN, SHARE):
        return chosen
    flows_with_metric = [each for each, metrics in by_flow.items() if metric in metrics]
    if not flow and chosen.flow not in flows_with_metric and len(flows_with_metric) == 1:
        return ChosenMetric(metric, flows_with_metric[0])
    if chosen.flow not in flows_with_metric:
        names = dict.fromkeys(each for metrics in by_flow.values() for each in metrics)
        ranked = [*METRICS, *(each for each in names if each in RANKED)]
        allowed = [f"{metric}:{each}" for each in flows_with_metric] or ranked
        raise CelltcpError(f"by: flow {chosen.flow!r} has no {metric}; allowed: {', '.join(allowed)}")
    return chosen


def best_by(comparison: Comparison, text: str) -> ChosenBest:
    """Returns the best congestion control or mix by a metric.

    The values are NaN if the application can have the metric, but no run has a value. A percentile of
    too few values is the maximum of a run, which the result says.

    Raises:
        CelltcpError: if there is no such metric or flow, or the flow has no such metric.
    """
    chosen = check_metric(text, comparison.results.about)
    values: Mapping[str, list[float]]
    bounds: Collection[str] = ()
    maxima: Collection[str] = ()
    if chosen.metric == JAIN:
        values = {cca: comparison.jains_index(cca) for cca in comparison.ccas}
    elif chosen.metric in (*METRICS, SHARE):
        values = _network_values(comparison, chosen)
    else:
        values = _application_values(comparison, chosen)
        for each in comparison.applications:
            if each.flow == chosen.flow:
                bounds = each.bounds(chosen.metric)
                maxima = [cca for cca, of in each.metrics.items() if has_too_few(chosen.metric, of)]
    ranked = {} if is_other_path(comparison.results) else values
    best = best_of(chosen.metric, ranked, random=not comparison.decides)
    if chosen.metric in METRICS and comparison.is_competing and comparison.decides:
        goodput = _network_values(comparison, chosen._replace(metric=GOODPUT))
        best = with_cost(best, chosen.metric, goodput, {})
    if ranked:
        flow = FlowUnderTest.named(comparison.results.about, chosen.flow)
        best = priced(best, chosen.metric, values, comparison, [flow])
    return ChosenBest(chosen, values, _without_bounds(best, ranked, bounds), bounds, maxima)


def _without_bounds(best: Verdict, names: Iterable[str], bounds: Collection[str]) -> Verdict:
    """Returns a verdict in which no lower bound is better than a known time."""
    known = [name for name in names if name != best.leader and name not in bounds]
    if best.leader not in bounds or not known:
        return best
    undecided = [name for name in best.undecided if name in bounds]
    return replace(
        best,
        tied=tuple(name for name in best.tied if name in bounds),
        undecided=(*undecided, *known),
        runs_needed=None,
        are_all_tied=False,
    )


def _network_values(comparison: Comparison, chosen: ChosenMetric) -> Mapping[str, list[float]]:
    flow = FlowUnderTest.named(comparison.results.about, chosen.flow)
    return {cca: comparison.values_of(flow, cca, chosen.metric) for cca in comparison.ccas}


def _application_values(comparison: Comparison, chosen: ChosenMetric) -> Mapping[str, list[float]]:
    for application in comparison.applications:
        if application.flow == chosen.flow and chosen.metric in application.names:
            return application.values(chosen.metric)
    return {cca: [math.nan] * len(comparison.values(cca, "seed")) for cca in comparison.ccas}
