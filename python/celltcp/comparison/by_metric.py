"""Best congestion control by a metric of one's choice: METRIC, or METRIC:FLOW."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp._core import CelltcpError
from celltcp.comparison.metrics import METRICS, RANKED, sign_of
from celltcp.comparison.runs import run_table
from celltcp.results.statistics import Verdict, verdict
from celltcp.results.tested import FlowUnderTest

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison


class ChosenMetric(NamedTuple):
    """Metric of a flow by which congestion controls rank."""

    metric: str
    flow: str


class ChosenBest(NamedTuple):
    """Values of a chosen metric under each congestion control, and the best one by them."""

    chosen: ChosenMetric
    #: By CCA or line-up, the values of the runs in the order of the seeds.
    values: Mapping[str, list[float]]
    verdict: Verdict


def chosen_metric(text: str, about: Mapping[str, Any]) -> ChosenMetric:
    """Reads METRIC or METRIC:FLOW; without a flow it is the first one of the scenario.

    Args:
        text: the metric.
        about: description of the results, or the scenario of a campaign as `scenario`.

    Raises:
        CelltcpError: if there is no such metric or flow.
    """
    metric, _, flow = text.partition(":")
    if metric not in RANKED:
        raise CelltcpError(f"by: {metric!r} is not a metric; allowed: {', '.join(RANKED)}")
    flows = [each.name for each, _ in FlowUnderTest.each_with_workload(about)]
    if flow and flow not in flows:
        raise CelltcpError(f"by: {flow!r} is not a flow of the scenario; allowed: {', '.join(flows)}")
    return ChosenMetric(metric, flow or flows[0])


def best_by(result: Comparison, text: str) -> ChosenBest:
    """Returns the best congestion control by a metric; line-ups of several flows are not ranked.

    Without a flow, a figure that only one application has is that of this application.

    Raises:
        CelltcpError: if there is no such metric or flow, or the flow has no such figure.
    """
    chosen = chosen_metric(text, result.results.about)
    if chosen.metric in METRICS:
        values = _of_network(result, chosen)
    else:
        chosen, values = _of_application(result, chosen, is_flow_given=":" in text)
    sign = sign_of(chosen.metric)
    signed = {cca: [sign * each for each in of] for cca, of in values.items() if "+" not in cca}
    return ChosenBest(chosen, values, verdict(signed, random=not result.decides))


def _of_network(result: Comparison, chosen: ChosenMetric) -> Mapping[str, list[float]]:
    if chosen.flow == result.tested.name:
        return {cca: result.values(cca, chosen.metric) for cca in result.ccas}
    flows = FlowUnderTest.each_with_workload(result.results.about)
    (flow,) = (each for each, _ in flows if each.name == chosen.flow)
    column = run_table(result.results, (), {}, flow=flow)[chosen.metric]
    return {cca: result.ordered(cca, column) for cca in result.ccas}


def _of_application(
    result: Comparison, chosen: ChosenMetric, *, is_flow_given: bool
) -> tuple[ChosenMetric, Mapping[str, list[float]]]:
    having = {each.flow: each for each in result.applications if chosen.metric in each.names}
    if not is_flow_given and chosen.flow not in having and len(having) == 1:
        chosen = chosen._replace(flow=next(iter(having)))
    if chosen.flow not in having:
        names = dict.fromkeys(name for each in result.applications for name in each.names)
        ranked = [*METRICS, *(name for name in names if name in RANKED)]
        allowed = [f"{chosen.metric}:{flow}" for flow in having] or ranked
        raise CelltcpError(
            f"by: flow {chosen.flow!r} has no {chosen.metric}; allowed: {', '.join(allowed)}"
        )
    application = having[chosen.flow]
    return chosen, {cca: of[chosen.metric] for cca, of in application.figures.items()}
