"""Means of application metrics over the scenarios of a set, for each flow with an application."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.applications.applications import shown_metrics
from celltcp.comparison.metrics import APP_METRICS
from celltcp.comparison.sets.differences import SetDifference, has_ratios, set_difference
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.sets.scenario_set import ScenarioSet


class ApplicationMeans(NamedTuple):
    """A metric of the application of a flow, in the order of the scenarios."""

    flow: str
    metric: str
    #: Mean in each scenario, by CCA.
    means: dict[str, list[float]]
    #: Difference to the first CCA, by CCA.
    differences: dict[str, SetDifference]


def application_means(scenario_set: ScenarioSet) -> list[ApplicationMeans]:
    """Returns the metrics of flows that have an application in each scenario."""
    by_flow: dict[str, list[Application]] = {}
    for comparison in scenario_set.comparisons.values():
        for application in comparison.applications:
            by_flow.setdefault(application.flow, []).append(application)
    ccas, count = scenario_set.ccas, len(scenario_set.comparisons)
    return [
        _means(flow, metric, applications, ccas)
        for flow, applications in by_flow.items()
        if ccas and len(applications) == count
        for metric in shown_metrics(applications)
        if APP_METRICS[metric].sign and all(metric in application.names for application in applications)
    ]


def _means(
    flow: str, metric: str, applications: list[Application], ccas: list[str]
) -> ApplicationMeans:
    of_runs = [application.values(metric) for application in applications]
    by_cca = {cca: [runs[cca] for runs in of_runs] for cca in ccas}
    base, *others = ccas
    is_relative = has_ratios(metric, by_cca)
    return ApplicationMeans(
        flow,
        metric,
        {cca: [estimate(runs).mean for runs in by_cca[cca]] for cca in ccas},
        {
            cca: set_difference(metric, by_cca[cca], by_cca[base], is_relative=is_relative)
            for cca in others
        },
    )
