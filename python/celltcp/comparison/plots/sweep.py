"""Picture of a sweep: outcomes over the values of a field."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from celltcp.present.palette import colours, line, marker
from celltcp.present.style import figure, legend_beside
from celltcp.scenarios.cca_mix import labels

#: Panels: metric and axis.
PANELS = (("goodput_mbps", "goodput, Mbit/s"), ("rtt_p95_ms", "95th percentile of RTT, ms"))


def draw_sweep(summary: pd.DataFrame, field: str, values: Sequence[str]) -> Figure:
    """Draws mean and 95 % interval of goodput and RTT of each congestion control, value by value.

    Args:
        summary: as `celltcp.Sweep.summary` has it.
        field: the field that is varied.
        values: its values in their order.
    """
    picture = figure(9, 3.6)
    ccas = list(dict.fromkeys(summary.index.get_level_values("cca")))
    names, shades = labels(ccas), colours(ccas)
    for axes, (metric, label) in zip(picture.subplots(1, 2), PANELS, strict=True):
        for cca in ccas:
            mine = summary.xs(cca, level="cca")
            axes.errorbar(
                [list(values).index(value) for value in mine.index],
                mine[metric, "mean"],
                yerr=mine[metric, "ci95"].fillna(0.0),
                color=shades[cca],
                marker=marker(cca),
                ms=4,
                lw=1.2,
                ls=line(cca),
                label=names[cca],
            )
        axes.set_xticks(range(len(values)), values)
        axes.set_xlabel(field)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    legend_beside(picture, ccas)
    return picture
