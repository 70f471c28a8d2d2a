"""Plot of the trade-off of a sweep: goodput against another metric, a curve through the values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp.comparison.metrics import GOODPUT, interval_ends
from celltcp.comparison.plots.sweep import Curve, PanelMetric, curves_of, draw_legend, panel_metrics
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.present.style import figure, make_logarithmic
from celltcp.results.statistics import estimate

#: Width and height of a panel, inches.
_PANEL_SIZE = (5.2, 3.8)
#: Minimum ratio of the largest to the smallest mean of a logarithmic axis.
_LOG_AXIS_RATIO = 8.0
#: Places of the values beside their points, by curve: points to the right and up.
_AWAY = ((5, 4), (5, -4), (5, 12), (5, -12))
#: Maximum relative difference of points at one place.
_SAME_PLACE = 0.02
#: Minimum ratio of the lowest to the highest goodput of an axis that does not begin at zero, and the
#: margin around the means as a share of their span, which is at least a share of the highest one.
_MIN_LOW_SHARE, _MARGIN, _MIN_SPAN = 0.5, 0.15, 0.02


def trade_off_metrics(sweep: Sweep, by: Sequence[str] = ()) -> tuple[PanelMetric, PanelMetric]:
    """Returns the metrics of both axes: the ranking or chosen metric `by`, and goodput."""
    metrics = panel_metrics(sweep, by)
    goodput = next((each for each in metrics if each.metric == GOODPUT), metrics[-1])
    other = next((each for each in metrics if each.metric != GOODPUT), goodput)
    return other, goodput


def draw_sweep_tradeoff(sweep: Sweep, by: Sequence[str] = ()) -> Figure:
    """Draws goodput against the ranking metric, with 95 % intervals, a point for each value.

    A line connects the values in their order; each point has its value. Combinations of other axes have
    panels or curves as in the plot of the sweep. `by` are chosen metrics.
    """
    across, up = trade_off_metrics(sweep, by)
    rows = curves_of(sweep)
    picture = figure(_PANEL_SIZE[0], _PANEL_SIZE[1] * len(rows))
    panels = picture.subplots(len(rows), 1, squeeze=False)[:, 0]
    for axes, (title, curves) in zip(panels, rows.items(), strict=True):
        of_curves = [_points(curve, across, up) for curve in curves]
        for curve, points, away in zip(curves, of_curves, itertools.cycle(_AWAY), strict=False):
            if points:
                _draw_curve(axes, curve, points, away)
        _suit_axes(axes, list(itertools.chain.from_iterable(of_curves)))
        axes.set_xlabel(f"{', '.join(filter(None, (across.label, across.unit)))} (left is better)")
        axes.set_ylabel(", ".join(filter(None, (up.label, up.unit))))
        axes.set_title(title, fontsize=9)
    draw_legend(picture, next(iter(rows.values())), sweep.ccas)
    return picture


class _Point(NamedTuple):
    """Means of both metrics at a value, and the ends of their intervals."""

    value: str
    x: float
    y: float
    x_ends: tuple[float, float]
    y_ends: tuple[float, float]

    def is_at(self, other: _Point) -> bool:
        """Returns whether a picture shows both at one place."""
        pairs = ((self.x, other.x), (self.y, other.y))
        return all(math.isclose(own, of_other, rel_tol=_SAME_PLACE) for own, of_other in pairs)


def _points(curve: Curve, across: PanelMetric, up: PanelMetric) -> list[_Point]:
    """Returns the points of a congestion control whose means are finite, in the order of the values."""
    points = []
    for value, comparison in curve.along.comparisons.items():
        values = [metric.values(comparison).get(curve.cca) for metric in (across, up)]
        if values[0] is None or values[1] is None:
            continue
        x, y = estimate(values[0]), estimate(values[1])
        if math.isfinite(x.mean) and math.isfinite(y.mean):
            ends = (
                interval_ends(metric.metric, each, metric.factor)
                for metric, each in ((across, x), (up, y))
            )
            points.append(_Point(value, x.mean, y.mean, *ends))
    return points


def _draw_curve(axes: Axes, curve: Curve, points: Sequence[_Point], away: tuple[int, int]) -> None:
    """Draws one congestion control through all values, which stand `away` from their points.

    Values at one place stand together.
    """
    for point in points:
        axes.errorbar(
            [point.x],
            [point.y],
            xerr=[[point.x - point.x_ends[0]], [point.x_ends[1] - point.x]],
            yerr=[[point.y - point.y_ends[0]], [point.y_ends[1] - point.y]],
            color=curve.colour,
            marker=curve.marker,
            ms=5,
            capsize=2,
            elinewidth=0.8,
            label=curve.label,
        )
        here = [each for each in points if each.is_at(point)]
        if here[0] is point:
            axes.annotate(
                ", ".join(each.value for each in here),
                (point.x, point.y),
                xytext=away,
                textcoords="offset points",
                va="bottom" if away[1] > 0 else "top",
                fontsize=8,
                color=curve.colour,
            )
    line = [(point.x, point.y) for point in points]
    axes.plot(*zip(*line, strict=True), color=curve.colour, ls=curve.style, lw=1.0, zorder=1)


def _suit_axes(axes: Axes, points: Sequence[_Point]) -> None:
    """Sets the ends of both axes: from zero, or near the points that are close to each other."""
    if not points:
        return
    left, right = min(each.x for each in points), max(each.x for each in points)
    if 0 < _LOG_AXIS_RATIO * left < right:
        make_logarithmic(axes, 0.7 * left, 1.6 * right, (1, 2, 5))
    else:
        axes.set_xlim(0, 1.05 * max(1.1 * right, *(each.x_ends[1] for each in points)))
    low, high = (pick(end for each in points for end in each.y_ends) for pick in (min, max))
    margin = _MARGIN * max(high - low, _MIN_SPAN * high)
    axes.set_ylim(0 if low < _MIN_LOW_SHARE * high else low - margin, high + margin)
