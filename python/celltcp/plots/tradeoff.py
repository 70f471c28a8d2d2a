"""Goodput against delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from celltcp.plots.style import colours, marker
from celltcp.selection.labels import labels
from celltcp.statistics import estimate

if TYPE_CHECKING:
    from celltcp.comparison import Comparison


def draw_throughput_delay(axes: Axes, comparison: Comparison) -> None:
    """A small point per run, a large one for the mean with the 95 % intervals as a cross."""
    names, shades = labels(comparison.ccas), colours(comparison.ccas)
    for cca in comparison.ccas:
        runs = comparison.runs[comparison.runs["cca"] == cca]
        delay, goodput = runs["owd_p95_ms"].tolist(), runs["goodput_mbps"].tolist()
        axes.scatter(delay, goodput, s=9, alpha=0.35, color=shades[cca], marker=marker(cca), lw=0)
        x, y = estimate(delay), estimate(goodput)
        axes.errorbar(
            x.mean,
            y.mean,
            xerr=min(x.ci95 or 0.0, 0.95 * x.mean),
            yerr=y.ci95 or 0.0,
            color=shades[cca],
            marker=marker(cca),
            ms=7,
            lw=1.2,
            label=names[cca],
        )
    if (comparison.runs["owd_p95_ms"] > 0).any():
        axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.invert_xaxis()
    # Room above the best.
    axes.set_ylim(0, 1.08 * axes.get_ylim()[1] or 1)
    axes.set_xlabel("95th percentile of one-way delay, ms (less is right)")
    axes.set_ylabel("goodput, Mbit/s")
    axes.legend()
