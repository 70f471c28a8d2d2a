"""Picture of a sweep: outcomes over the values of its last axis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from celltcp.comparison.best_values import overall_rankings
from celltcp.comparison.by_metric import best_by, check_metric
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, JAIN, SHARE, interval_ends, words_of
from celltcp.comparison.parameter_sweep import Sweep
from celltcp.present.palette import colours, lines, markers
from celltcp.present.style import figure, legend_beside
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantities import quantities

#: Ratio of the largest to the smallest value from which an axis is logarithmic.
_LOG_AXIS_RATIO = 10.0
#: Width of a panel and of a letter of a label, inches.
_PANEL, _LETTER = 4.5, 0.075
#: Width of a panel, inches, if there are many, and the number of panels at which they are many.
_NARROW_PANEL, _MANY_PANELS = 3.6, 4
#: Maximum of flows whose shares have a panel.
_MAX_SHARES = 2
#: Distance of congestion controls at a value that is no amount, and its bounds on each side.
_LABEL_SHIFT, _FARTHEST = 0.12, 0.3
#: Length of an axis, as a share of its panel.
_AXIS = 0.72
#: Minimum distance of vertical labels, inches.
_MIN_LABEL_DISTANCE = 0.125


class PanelMetric(NamedTuple):
    """Metric of a flow that a panel shows."""

    metric: str
    flow: str
    #: Name of the metric, with the flow if there are several.
    label: str
    unit: str
    digits: int

    def values(self, comparison: Comparison) -> Mapping[str, list[float]]:
        """Returns the values of the runs by CCA."""
        return best_by(comparison, f"{self.metric}:{self.flow}").values


def panel_metrics(sweep: Sweep, by: Sequence[str] = ()) -> list[PanelMetric]:
    """Returns the metrics of a picture: goodput, and the metrics that were requested.

    Else the metric by which each flow with an application ranks; without any, the 95th percentile of
    the RTT. Where flows compete, there are the shares of the first ones and Jain's index.

    Args:
        sweep: the sweep.
        by: chosen metrics, as those of `Comparison.best_by`.
    """
    first = next((point for point in sweep.points.values() if point.ccas), None)
    tested = "" if first is None else first.tested.name
    rankings = overall_rankings(sweep)
    stakes = rankings[0].deciding_stakes(by) if rankings else []
    # Line-ups of several flows have no ranking, and yet the metrics that are requested.
    chosen_by = [] if first is None else [check_metric(each, first.results.about) for each in by]
    requested = [(chosen_metric.metric, chosen_metric.flow) for chosen_metric in chosen_by]
    figures = [(stake.metric, stake.flow) for stake in stakes if stake.metric in APP_METRICS]
    goodput = [(stake.metric, stake.flow) for stake in stakes if stake.metric == GOODPUT]
    # An intermittent flow has a goodput that is no share of the path.
    chosen = [*(goodput or [(GOODPUT, tested)]), *requested, *figures]
    if not requested and not figures:
        rivals = [] if first is None else first.competing_flows
        if rivals:
            chosen = [*((SHARE, rival.name) for rival in rivals[:_MAX_SHARES]), (JAIN, tested)]
        chosen.append(("rtt_p95_ms", tested))
    flows = {flow for _, flow in chosen}
    metrics = []
    for metric, flow in dict.fromkeys(chosen):
        words = words_of(metric)
        name = f"{flow} {words.name}" if len(flows) > 1 and metric != JAIN else words.name
        metrics.append(PanelMetric(metric, flow, name, words.unit, words.digits))
    return metrics


def draw_sweep(sweep: Sweep, by: Sequence[str] = ()) -> Figure:
    """Draws mean and 95 % interval of the metrics of each congestion control, value by value.

    Each combination of values of the other axes has a row of panels.

    Args:
        sweep: the sweep.
        by: chosen metrics, as those of `Comparison.best_by`.
    """
    lines = sweep.lines
    metrics = panel_metrics(sweep, by)
    width = _PANEL if len(metrics) < _MANY_PANELS else _NARROW_PANEL
    picture = figure(width * len(metrics), 0.6 + 3.0 * len(lines))
    panels = picture.subplots(len(lines), len(metrics), squeeze=False)
    # A style or a size that was requested has narrower panels.
    width = picture.get_size_inches()[0] / len(metrics)
    for row, (outer, along) in zip(panels, lines.items(), strict=True):
        for axes, metric in zip(row, metrics, strict=True):
            _draw_panel(axes, along, metric, sweep.ccas, width)
            axes.set_ylabel(", ".join(filter(None, (metric.label, metric.unit))))
            if outer:
                pairs = zip(sweep.axes, outer, strict=False)
                axes.set_title(", ".join(f"{axis}={value}" for axis, value in pairs), fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel(sweep.axes[-1])
    legend_beside(picture, sweep.ccas)
    return picture


def _draw_panel(axes: Axes, along: Sweep, metric: PanelMetric, ccas: list[str], width: float) -> None:
    """Draws a metric against the values of one axis, in a panel of this width, inches."""
    names, shades, styles, marks = labels(ccas), colours(ccas), lines(ccas), markers(ccas)
    values = [metric.values(point) for point in along.points.values()]
    places = _set_places(axes, list(along.comparisons), width)
    # A line between queue disciplines would suggest values that do not exist.
    are_amounts = has_amounts(list(along.comparisons))
    step = min(_LABEL_SHIFT, 2 * _FARTHEST / max(len(ccas) - 1, 1))
    top = bottom = 0.0
    for index, cca in enumerate(ccas):
        aside = 0.0 if are_amounts else step * (index - (len(ccas) - 1) / 2)
        known = [
            (x + aside, estimate(value[cca]))
            for x, value in zip(places, values, strict=True)
            if cca in value
        ]
        for x, each in known:
            if math.isinf(each.mean):
                axes.annotate("∞", (x, 1), xycoords=("data", "axes fraction"), color=shades[cca])
        finite = [(x, each) for x, each in known if math.isfinite(each.mean)]
        ends = [interval_ends(metric.metric, each) for _, each in finite]
        top = max([top, *(high for _, high in ends)])
        bottom = min([bottom, *(low for low, _ in ends)])
        below = [each.mean - low for (_, each), (low, _) in zip(finite, ends, strict=True)]
        above = [high - each.mean for (_, each), (_, high) in zip(finite, ends, strict=True)]
        axes.errorbar(
            [x for x, _ in finite],
            [each.mean for _, each in finite],
            yerr=[below, above],
            color=shades[cca],
            marker=marks[cca],
            ms=4,
            lw=1.2,
            capsize=2,
            ls=styles[cca] if are_amounts else "none",
            label=names[cca],
        )
    # Room for markers of curves near the top, and for whole intervals.
    axes.set_ylim(1.08 * bottom, 1.08 * (1.0 if metric.metric == JAIN else top) or 1.0)
    axes.margins(x=0.08)


def has_amounts(values: Sequence[str]) -> bool:
    """Returns whether values are amounts of a unit, so that lines may connect them on an axis."""
    return quantities(values) is not None


def _set_places(axes: Axes, values: Sequence[str], width: float) -> list[float]:
    """Returns the places of values, and labels the axis with them, in a panel of this width, inches.

    Amounts have a linear axis, or a logarithmic one if they are far apart; others stand side by
    side. Labels that would overlap stand upright; those that still would are left out.
    """
    amounts = quantities(values)
    places = [float(each) for each in range(len(values))] if amounts is None else amounts
    low, high = min(places), max(places)
    scaled = np.array(places)
    if amounts is not None and low > 0 and high / low >= _LOG_AXIS_RATIO:
        axes.set_xscale("log")
        scaled = np.log(scaled)
    # Distances in inches along the axis.
    extent = float(np.ptp(scaled)) or 1.0
    inches = (scaled - scaled.min()) / extent * width * _AXIS
    widths = [_LETTER * len(value) for value in values]
    order = np.argsort(inches, kind="stable")
    gaps = [
        inches[after] - inches[at] - (widths[at] + widths[after]) / 2
        for at, after in itertools.pairwise(order)
    ]
    is_upright = any(gap < _LETTER for gap in gaps)
    # The first and the last one always have a label.
    labelled = [int(order[0])]
    for at in order[1:-1]:
        ends = (inches[order[-1]] - inches[at], inches[at] - inches[labelled[-1]])
        if not is_upright or min(ends) >= _MIN_LABEL_DISTANCE:
            labelled.append(int(at))
    labelled += [int(order[-1])] if len(order) > 1 else []
    axes.xaxis.set_major_locator(FixedLocator([places[at] for at in labelled]))
    axes.xaxis.set_minor_locator(FixedLocator(places) if len(labelled) < len(places) else NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks([places[at] for at in labelled], [values[at] for at in labelled])
    if is_upright:
        axes.tick_params(axis="x", labelrotation=90, labelsize=8)
    return places
