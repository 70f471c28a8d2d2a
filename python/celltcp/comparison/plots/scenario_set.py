"""Plot of several scenarios: distributions of metrics over them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp.campaign.provenance import engine_text
from celltcp.comparison.metrics import GOODPUT, MEAN_RTT, range_of
from celltcp.comparison.plots.sweep import PanelMetric, named_metrics
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.verdicts.by_metric import ChosenMetric, check_metric
from celltcp.present.palette import colours, lines
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import count_text, labels

#: Width and height of a panel, inches.
_PANEL_WIDTH, _PANEL_HEIGHT = 3.6, 3.0


def plot_set(scenario_set: ScenarioSet, by: Sequence[str] = ()) -> Figure:
    """Draws the distribution of the mean of each metric over the scenarios, a curve per CCA.

    Args:
        scenario_set: comparisons on the scenarios.
        by: chosen metrics, as in `Comparison.best_by`; unless given, the ranking metric of each flow
            with an application, goodput where flows compete, and the mean RTT.

    Raises:
        CelltcpError: if there is no such metric or flow.
    """
    metrics = _metrics(scenario_set, by)
    picture = figure(_PANEL_WIDTH * len(metrics) + 1.0, _PANEL_HEIGHT + 0.6)
    panels = picture.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        _draw(axes, scenario_set, metric)
    panels[0].set_ylabel("share of scenarios")
    first = next(iter(scenario_set.comparisons.values()))
    titled(picture, f"Means of {count_text(len(scenario_set.comparisons), 'scenario')}")
    legend_beside(picture, scenario_set.ccas)
    footnote(picture, [engine_text(first.results.about)])
    return picture


def _metrics(scenario_set: ScenarioSet, by: Sequence[str]) -> list[PanelMetric]:
    comparisons = list(scenario_set.comparisons.values())
    first = comparisons[0]
    if by:
        return named_metrics([check_metric(each, first.results.about) for each in by])
    chosen = [ChosenMetric(each.ranking.metric, each.flow) for each in first.applications]
    if all(each.is_competing for each in comparisons):
        chosen.append(ChosenMetric(GOODPUT, first.tested.name))
    return named_metrics([*chosen, ChosenMetric(MEAN_RTT, first.tested.name)])


def _draw(axes: Axes, scenario_set: ScenarioSet, metric: PanelMetric) -> None:
    """Draws the share of scenarios with at most each value; a scenario without one is in no share."""
    ccas = scenario_set.ccas
    names, shades, styles = labels(ccas), colours(ccas), lines(ccas)
    count = len(scenario_set.comparisons)
    by_scenario = [metric.values(each) for each in scenario_set.comparisons.values()]
    means = {cca: [estimate(values.get(cca, [])).mean for values in by_scenario] for cca in ccas}
    known = [mean for of_cca in means.values() for mean in of_cca if math.isfinite(mean)]
    end = max(known, default=0.0)
    for cca in ccas:
        values = np.sort([mean for mean in means[cca] if math.isfinite(mean)])
        shares = np.arange(1, len(values) + 1) / count
        # From 0 at the lowest value to the highest one of all; a CCA without a value stays at 0.
        points = np.concatenate([values[:1] if len(values) else [end], values, [end]])
        heights = np.concatenate([[0.0], shares, shares[-1:] if len(shares) else [0.0]])
        look = {"color": shades[cca], "lw": 1.4, "ls": styles[cca], "drawstyle": "steps-post"}
        axes.plot(points, heights, label=names[cca], **look)
    axes.set_ylim(0, 1.02)
    lowest = range_of(metric.metric)[0]
    if math.isfinite(lowest):
        axes.set_xlim(left=lowest)
    axes.set_xlabel(", ".join(filter(None, (metric.label, metric.unit))))
