"""Outcomes along the values of a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from celltcp.plots.style import colours, figure, marker
from celltcp.selection.labels import labels

if TYPE_CHECKING:
    from celltcp.parameter_sweep import Sweep

#: What is drawn: metric and axis.
_PANELS = (("goodput_mbps", "goodput, Mbit/s"), ("rtt_p95_ms", "95th percentile of RTT, ms"))


def draw_sweep(sweep: Sweep) -> Figure:
    """Mean and 95 % interval of goodput and RTT of each congestion control, value by value."""
    picture = figure(9, 3.6)
    summary = sweep.summary
    values = list(sweep.comparisons)
    ccas = list(dict.fromkeys(summary.index.get_level_values("cca")))
    names, shades = labels(ccas), colours(ccas)
    for axes, (metric, label) in zip(picture.subplots(1, 2), _PANELS, strict=True):
        for cca in ccas:
            mine = summary.xs(cca, level="cca")
            axes.errorbar(
                [values.index(value) for value in mine.index],
                mine[metric, "mean"],
                yerr=mine[metric, "ci95"].fillna(0.0),
                color=shades[cca],
                marker=marker(cca),
                ms=4,
                lw=1.2,
                label=names[cca],
            )
        axes.set_xticks(range(len(values)), values)
        axes.set_xlabel(sweep.field)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    picture.axes[0].legend()
    return picture
