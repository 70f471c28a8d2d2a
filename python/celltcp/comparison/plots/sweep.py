"""Plot of a sweep: metrics against the values of its last axis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    LogLocator,
    NullFormatter,
    NullLocator,
    StrMethodFormatter,
)

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, JAIN, SHARE, interval_ends, words_of
from celltcp.comparison.sweep.best_values import overall_rankings
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.comparison.verdicts.by_metric import ChosenMetric, best_by, check_metric
from celltcp.present.field_words import field_words
from celltcp.present.palette import colours, lines, markers
from celltcp.present.style import figure, legend_beside
from celltcp.results.statistics import estimate
from celltcp.results.warnings.few_losses import law_rates
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantities import common_unit, quantities

#: Minimum ratio of the largest to the smallest value of a logarithmic axis.
_LOG_AXIS_RATIO = 10.0
#: Factor from the extreme means to the ends of a logarithmic axis.
_LOG_MARGIN = 1.4
#: Width of a panel, and of a letter of a label, inches.
_PANEL_WIDTH, _LETTER_WIDTH = 4.5, 0.075
#: Width of a panel, inches, if there are at least `_MANY_PANELS`.
_NARROW_PANEL_WIDTH, _MANY_PANELS = 3.6, 4
#: Minimum number of amounts, and maximum distance of two neighbours as a share of the whole axis, with
#: which an axis is to scale.
_MIN_SPREAD_VALUES, _MAX_GAP_SHARE = 4, 0.5
#: Maximum number of combinations of other values with a curve each in one panel.
_MAX_CURVES = 8
#: Height of a row of panels and of what is around them, maximum height of all, on a page, and minimum
#: height of a row, inches.
_ROW_HEIGHT, _AROUND_HEIGHT, _PAGE_HEIGHT, _MIN_ROW_HEIGHT = 3.0, 0.6, 9.6, 1.4
#: Maximum number of flows whose shares have a panel.
_MAX_SHARES = 2
#: Distance of congestion controls at a value that is no amount, and maximum shift to each side.
_CCA_DISTANCE, _MAX_SHIFT = 0.12, 0.3
#: Length of the horizontal axis, as a share of the width of its panel.
_AXIS_SHARE = 0.72
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
    #: Factor from the values of the metric to `unit`.
    factor: float = 1.0

    def values(self, comparison: Comparison) -> Mapping[str, list[float]]:
        """Returns the values of the runs by CCA; empty in a scenario without the flow or its metric."""
        try:
            values = best_by(comparison, f"{self.metric}:{self.flow}").values
        except CelltcpError:
            return {}
        return {cca: [self.factor * value for value in of] for cca, of in values.items()}


def panel_metrics(sweep: Sweep, by: Sequence[str] = ()) -> list[PanelMetric]:
    """Returns the metrics of a plot: the chosen metrics `by`, as in `Comparison.best_by`, and goodput.

    Unless metrics are chosen, it begins with the ranking metric of each flow with an application.
    Without an application, it has goodput and the 95th percentile of the RTT. If flows compete, the
    shares of the first ones and Jain's index are in place of goodput.
    """
    first = next((point for point in sweep.points.values() if point.ccas), None)
    tested = "" if first is None else first.tested.name
    rankings = overall_rankings(sweep)
    # Each scenario has flows of its own.
    shown_rankings = rankings[:1] if by else rankings
    stakes = [stake for ranking in shown_rankings for stake in ranking.deciding_stakes(by)]
    # Mixes of several flows have no ranking, but are drawn by the requested metrics.
    requested = [] if first is None else [each for text in by for each in _requested(first, text)]
    ranking = [ChosenMetric(stake.metric, stake.flow) for stake in stakes]
    by_application = [each for each in ranking if each.metric in APP_METRICS]
    goodput = [each for each in ranking if each.metric == GOODPUT] or [ChosenMetric(GOODPUT, tested)]
    # Shares are goodputs.
    has_shares = any(each.metric == SHARE for each in requested)
    shown = [*requested, *by_application, *([] if has_shares else goodput)]
    if not requested and not by_application:
        rivals = [] if first is None else first.competing_flows
        if rivals:
            shown = [ChosenMetric(SHARE, rival.name) for rival in rivals[:_MAX_SHARES]]
        if first is not None and first.has_fairness:
            shown.append(ChosenMetric(JAIN, tested))
        shown.append(ChosenMetric("rtt_p95_ms", tested))
    return named_metrics(shown)


def _requested(comparison: Comparison, text: str) -> list[ChosenMetric]:
    """Returns a chosen metric; shares without a flow are those of the first flows that compete."""
    chosen = check_metric(text, comparison.results.about)
    rivals = comparison.competing_flows[:_MAX_SHARES]
    if chosen.metric == SHARE and ":" not in text and rivals:
        return [ChosenMetric(SHARE, rival.name) for rival in rivals]
    return [chosen]


def named_metrics(chosen: Sequence[ChosenMetric]) -> list[PanelMetric]:
    """Returns chosen metrics for panels, each once; with its flow in the name if there are several.

    Shares have it always: those of others are known to be left out.
    """
    flows = {flow for _, flow in chosen}
    metrics = []
    for metric, flow in dict.fromkeys(chosen):
        words = words_of(metric)
        has_flow = metric == SHARE or (len(flows) > 1 and metric != JAIN)
        name = f"{flow} {words.name}" if has_flow else words.name
        metrics.append(PanelMetric(metric, flow, name, words.unit, words.digits, words.factor))
    return metrics


def draw_sweep(sweep: Sweep, by: Sequence[str] = ()) -> Figure:
    """Draws mean and 95 % interval of the metrics of each congestion control against the values.

    Each combination of values of the other axes has a row of panels, or a curve where there is a single
    congestion control or rows would be longer than a page; panels of a metric have the same scale. `by`
    are chosen metrics.
    """
    axis, metrics, rows = sweep.line_axis, panel_metrics(sweep, by), curves_of(sweep)
    width = _PANEL_WIDTH if len(metrics) < _MANY_PANELS else _NARROW_PANEL_WIDTH
    row_height = min(_ROW_HEIGHT, max((_PAGE_HEIGHT - _AROUND_HEIGHT) / len(rows), _MIN_ROW_HEIGHT))
    picture = figure(width * len(metrics), _AROUND_HEIGHT + row_height * len(rows))
    panels = picture.subplots(len(rows), len(metrics), squeeze=False)
    # An option for the size may have made the panels narrower.
    width = picture.get_size_inches()[0] / len(metrics)
    extents: list[list[_Extent]] = [[] for _ in metrics]
    for row, (title, curves) in zip(panels, rows.items(), strict=True):
        for axes, metric, of_metric in zip(row, metrics, extents, strict=True):
            of_metric.append(_draw_panel(axes, curves, metric, width))
            axes.set_ylabel(", ".join(filter(None, (metric.label, metric.unit))))
            if title:
                axes.set_title(title, fontsize=9)
    # Shares are parts of one link, so that all have one scale.
    of_shares = [
        each
        for metric, of in zip(metrics, extents, strict=True)
        if metric.metric == SHARE
        for each in of
    ]
    for column, metric, of_metric in zip(panels.T, metrics, extents, strict=True):
        extent = _Extent.joined(of_shares if metric.metric == SHARE else of_metric)
        for axes in column:
            _scale(axes, metric, extent)
    first = next(iter(rows.values()))
    values = [*first[0].along.comparisons]
    unit, scale = common_unit(values), "" if is_to_scale(values) else "not to scale"
    for axes in panels[-1]:
        axes.set_xlabel(", ".join(filter(None, (field_words(axis), unit.replace("bdp", "BDP"), scale))))
    draw_legend(picture, first, sweep.ccas)
    return picture


def draw_legend(picture: Figure, curves: Sequence[Curve], ccas: Sequence[str]) -> None:
    """Draws the legend of a panel with these curves: values of other axes, or congestion controls."""
    texts = [curve.value for curve in curves if curve.value]
    if texts:
        legend_beside(picture, texts, dict(zip(texts, texts, strict=True)))
    else:
        legend_beside(picture, ccas)


class Curve(NamedTuple):
    """Congestion control along one axis, or with the values of other axes."""

    along: Sweep
    cca: str
    label: str
    colour: str
    style: Any
    marker: str
    #: Values of other axes; empty where they have panels of their own.
    value: str = ""


def curves_of(sweep: Sweep) -> dict[str, list[Curve]]:
    """Returns the curves of each row of panels by the title of the row."""
    parts, ccas = sweep.lines, sweep.ccas
    others = [each for each in sweep.axes if each != sweep.line_axis]
    are_amounts = has_amounts([*next(iter(parts.values())).comparisons])
    height = _AROUND_HEIGHT + _ROW_HEIGHT * len(parts)
    names, shades, styles, marks = labels(ccas), colours(ccas), lines(ccas), markers(ccas)
    if len(parts) > 1 and (height > _PAGE_HEIGHT or (len(ccas) == 1 and are_amounts)):
        inner = _axes_of_curves(sweep, others)
        if inner:
            return _curves_of_values(parts, ccas, others, inner)
    return {
        _values_text(others, outer): [
            Curve(along, cca, names[cca], shades[cca], styles[cca], marks[cca]) for cca in ccas
        ]
        for outer, along in parts.items()
    }


def _axes_of_curves(sweep: Sweep, others: Sequence[str]) -> list[str]:
    """Returns the axes whose values are curves of a panel: the last ones, as many as have room."""
    chosen: list[str] = []
    count = 1
    for axis in reversed(others):
        count *= len({point[sweep.axes.index(axis)] for point in sweep.points})
        if count > _MAX_CURVES:
            break
        chosen.insert(0, axis)
    return chosen


def _curves_of_values(
    parts: Mapping[tuple[str, ...], Sweep],
    ccas: Sequence[str],
    others: Sequence[str],
    inner: Sequence[str],
) -> dict[str, list[Curve]]:
    """Returns a curve for each combination of values of some axes; CCAs and other axes have rows."""
    names, first = labels(ccas), len(others) - len(inner)
    texts = {outer[first:]: _values_text(inner, outer[first:]) for outer in parts}
    shades, marks = colours([*texts.values()]), markers([*texts.values()])
    rows: dict[str, list[Curve]] = {}
    for cca, (outer, along) in itertools.product(ccas, parts.items()):
        text = texts[outer[first:]]
        of_cca = names[cca] if len(ccas) > 1 else ""
        title = ", ".join(filter(None, (of_cca, _values_text(others[:first], outer[:first]))))
        curve = Curve(along, cca, text, shades[text], "-", marks[text], text)
        rows.setdefault(title, []).append(curve)
    return rows


def _values_text(axes: Sequence[str], values: Sequence[str]) -> str:
    """Returns the values of axes with the words of these."""
    return ", ".join(f"{field_words(axis)} {value}" for axis, value in zip(axes, values, strict=True))


class _Extent(NamedTuple):
    """Extent of what a panel shows: of means and of the ends of intervals."""

    lowest_mean: float = math.inf
    highest_mean: float = 0.0
    lowest_end: float = 0.0
    highest_end: float = 0.0

    @classmethod
    def joined(cls, extents: Sequence[_Extent]) -> _Extent:
        """Returns the extent of several."""
        low_means, high_means, low_ends, high_ends = zip(*extents, strict=True)
        return cls(min(low_means), max(high_means), min(low_ends), max(high_ends))


def _scale(axes: Axes, metric: PanelMetric, extent: _Extent) -> None:
    """Sets the scale of a metric: logarithmic where all means are above zero, over a decade or more."""
    low, high = extent.lowest_mean, extent.highest_mean
    if low > 0 and high >= _LOG_AXIS_RATIO * low:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(low / _LOG_MARGIN, _LOG_MARGIN * max(high, extent.highest_end))
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        return
    # Room for markers of curves near the top, and for whole intervals.
    top = 1.0 if metric.metric == JAIN else extent.highest_end
    axes.set_ylim(1.08 * extent.lowest_end, 1.08 * top or 1.0)


def _draw_panel(axes: Axes, curves: Sequence[Curve], metric: PanelMetric, width: float) -> _Extent:
    """Draws curves of a metric against the values of one axis, in a panel of this width, inches."""
    names = [*curves[0].along.comparisons]
    positions = dict(zip(names, _set_ticks(axes, names, width), strict=True))
    # A line between queue disciplines would suggest values that do not exist.
    are_amounts = has_amounts(names)
    step = min(_CCA_DISTANCE, 2 * _MAX_SHIFT / max(len(curves) - 1, 1))
    extent = _Extent()
    for index, curve in enumerate(curves):
        shift = 0.0 if are_amounts else step * (index - (len(curves) - 1) / 2)
        by_value = {value: metric.values(each) for value, each in curve.along.comparisons.items()}
        known = [
            (positions[value] + shift, estimate(by_cca[curve.cca]))
            for value, by_cca in by_value.items()
            if curve.cca in by_cca
        ]
        for x, each in known:
            if math.isinf(each.mean):
                axes.annotate("∞", (x, 1), xycoords=("data", "axes fraction"), color=curve.colour)
        finite = [(x, each) for x, each in known if math.isfinite(each.mean)]
        ends = [interval_ends(metric.metric, each, metric.factor) for _, each in finite]
        means = [each.mean for _, each in finite]
        extent = _Extent(
            min([extent.lowest_mean, *means]),
            max([extent.highest_mean, *means]),
            min([extent.lowest_end, *(low for low, _ in ends)]),
            max([extent.highest_end, *(high for _, high in ends)]),
        )
        below = [each.mean - low for (_, each), (low, _) in zip(finite, ends, strict=True)]
        above = [high - each.mean for (_, each), (_, high) in zip(finite, ends, strict=True)]
        axes.errorbar(
            [x for x, _ in finite],
            means,
            yerr=[below, above],
            color=curve.colour,
            marker=curve.marker,
            ms=4,
            lw=1.2,
            capsize=2,
            ls=curve.style if are_amounts else "none",
            label=curve.label,
        )
    if metric.metric == GOODPUT and are_amounts:
        _draw_laws(axes, curves, metric.flow, positions)
    axes.margins(x=0.08)
    return extent


def _draw_laws(axes: Axes, curves: Sequence[Curve], flow: str, positions: Mapping[str, float]) -> None:
    """Draws the goodput by the law of each congestion control that has one, capped by the capacity."""
    drawn = {}
    for curve in curves:
        points = [
            (positions[value], rate)
            for value, comparison in curve.along.comparisons.items()
            for rate in law_rates(comparison.results)
            if (rate.flow, rate.cca) == (flow, curve.cca)
        ]
        if len(points) > 1:
            own = sorted((x, rate.goodput_mbps) for x, rate in points)
            (line,) = axes.plot(*zip(*own, strict=True), color=curve.colour, ls=":", lw=1.0, zorder=1)
            drawn[points[0][1].law.source] = line
    if drawn:
        axes.legend([*drawn.values()], [*drawn], fontsize=8, frameon=False)


def has_amounts(values: Sequence[str]) -> bool:
    """Returns whether values are amounts of a unit, so that lines may connect them."""
    return quantities(values) is not None


def is_to_scale(values: Sequence[str]) -> bool:
    """Returns whether values are amounts whose distances an axis can show.

    An amount far from all others, such as 1 Gbit/s for no shaper, would leave them little room. So
    would zero beside loss rates that grow by factors.
    """
    amounts = quantities(values)
    if amounts is None:
        return True
    positive = [amount for amount in amounts if amount > 0]
    if 0 in amounts and positive and max(positive) >= _LOG_AXIS_RATIO * min(positive):
        return False
    if len(amounts) < _MIN_SPREAD_VALUES:
        return True
    low, high = min(amounts), max(amounts)
    are_far = low > 0 and high / low >= _LOG_AXIS_RATIO
    ordered = sorted(map(math.log, amounts) if are_far else amounts)
    gaps = [right - left for left, right in itertools.pairwise(ordered)]
    return max(gaps) <= _MAX_GAP_SHARE * (ordered[-1] - ordered[0])


def _set_ticks(axes: Axes, values: Sequence[str], width: float) -> list[float]:
    """Labels the axis of a panel of this width, inches, with values, and returns their positions.

    A unit that all have is left to the label of the axis.
    Amounts have a linear axis, or a logarithmic one if they are far apart. Other values are equally
    spaced, and amounts in their order where one is far from all others. Labels that would overlap are
    vertical; those that still would are left out.
    """
    amounts, unit = quantities(values), common_unit(values)
    names = [value.removesuffix(unit).rstrip() for value in values]
    if amounts is not None and not is_to_scale(values):
        ranks = {amount: float(rank) for rank, amount in enumerate(sorted(set(amounts)))}
        positions, amounts = [ranks[amount] for amount in amounts], None
    else:
        positions = [float(index) for index in range(len(values))] if amounts is None else amounts
    low, high = min(positions), max(positions)
    scaled = np.array(positions)
    if amounts is not None and low > 0 and high / low >= _LOG_AXIS_RATIO:
        axes.set_xscale("log")
        scaled = np.log(scaled)
    # Distances in inches along the axis.
    extent = float(np.ptp(scaled)) or 1.0
    inches = (scaled - scaled.min()) / extent * width * _AXIS_SHARE
    widths = [_LETTER_WIDTH * len(name) for name in names]
    order = np.argsort(inches, kind="stable")
    gaps = [
        inches[right] - inches[left] - (widths[left] + widths[right]) / 2
        for left, right in itertools.pairwise(order)
    ]
    is_vertical = any(gap < _LETTER_WIDTH for gap in gaps)
    # The first and the last one always have a label.
    labelled = [int(order[0])]
    for index in order[1:-1]:
        distances = (inches[order[-1]] - inches[index], inches[index] - inches[labelled[-1]])
        if not is_vertical or min(distances) >= _MIN_LABEL_DISTANCE:
            labelled.append(int(index))
    labelled += [int(order[-1])] if len(order) > 1 else []
    axes.xaxis.set_major_locator(FixedLocator([positions[index] for index in labelled]))
    axes.xaxis.set_minor_locator(
        FixedLocator(positions) if len(labelled) < len(positions) else NullLocator()
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks([positions[index] for index in labelled], [names[index] for index in labelled])
    if is_vertical:
        axes.tick_params(axis="x", labelrotation=90, labelsize=8)
    return positions
