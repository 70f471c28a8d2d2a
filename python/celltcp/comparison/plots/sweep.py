"""Picture of a sweep: outcomes over the values of its last axis."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp.comparison.parameter_sweep import Sweep
from celltcp.present.palette import colours, line, marker
from celltcp.present.style import figure, legend_beside
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels

#: Panels: metric and axis.
PANELS = (("goodput_mbps", "goodput, Mbit/s"), ("rtt_p95_ms", "95th percentile of RTT, ms"))


def draw_sweep(result: Sweep) -> Figure:
    """Draws mean and 95 % interval of goodput and RTT of each congestion control, value by value.

    Each combination of values of the other axes has a row of panels.
    """
    lines = result.lines
    picture = figure(9, 0.6 + 3.0 * len(lines))
    panels = picture.subplots(len(lines), len(PANELS), squeeze=False)
    for row, (outer, along) in zip(panels, lines.items(), strict=True):
        for axes, (metric, label) in zip(row, PANELS, strict=True):
            _draw_panel(axes, along, metric, result.ccas)
            axes.set_ylabel(label)
            if outer:
                axes.set_title(", ".join(outer))
    for axes in panels[-1]:
        axes.set_xlabel(result.axes[-1])
    legend_beside(picture, result.ccas)
    return picture


def _draw_panel(axes: Axes, along: Sweep, metric: str, ccas: list[str]) -> None:
    """Draws a metric against the values of one axis."""
    names, shades = labels(ccas), colours(ccas)
    comparisons = list(along.points.values())
    top = 0.0
    for cca in ccas:
        having = [place for place, each in enumerate(comparisons) if cca in each.ccas]
        estimates = [estimate(comparisons[place].values(cca, metric)) for place in having]
        top = max([top, *(each.mean + (each.ci95 or 0.0) for each in estimates)])
        axes.errorbar(
            having,
            [each.mean for each in estimates],
            yerr=[each.ci95 or 0.0 for each in estimates],
            color=shades[cca],
            marker=marker(cca),
            ms=4,
            lw=1.2,
            ls=line(cca),
            label=names[cca],
        )
    axes.set_xticks(range(len(comparisons)), list(along.comparisons))
    # Room for the markers, which a curve near the top would lose.
    axes.set_ylim(0, 1.08 * top or 1.0)
    axes.margins(x=0.08)
