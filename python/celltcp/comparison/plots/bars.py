"""Bars per congestion control in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from celltcp.present.palette import colours
from celltcp.present.style import hatches
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels


def draw_bars(
    axes: Axes,
    rows: pd.DataFrame,
    group: str,
    groups: Sequence[str],
    value: str = "value",
    published: Mapping[tuple[str, str], float] | None = None,
) -> None:
    """Draws a group of bars for each of `groups`: mean of `value` over the runs and its 95 % interval.

    Columns of `rows`: `cca`, `run`, and the two that are named. Published values, by group and
    congestion control, are diamonds.
    """
    ccas = list(dict.fromkeys(rows["cca"].astype(str)))
    width = 0.84 / len(ccas)
    names, shades, hatched = labels(ccas), colours(ccas), hatches(ccas)
    for index, cca in enumerate(ccas):
        selected = rows[rows["cca"] == cca]
        for place, name in enumerate(groups):
            each = estimate(selected.loc[selected[group] == name, value].astype(float).tolist())
            middle = place + (index - (len(ccas) - 1) / 2) * width
            axes.bar(
                middle,
                each.mean,
                0.94 * width,
                yerr=each.ci95,
                color=shades[cca],
                hatch=hatched[cca],
                edgecolor="white" if hatched[cca] else None,
                error_kw={"lw": 0.8},
                label=names[cca] if place == 0 else None,
            )
            if published and (name, cca) in published:
                label = None if place or index else "published"
                height = published[name, cca]
                axes.plot(middle, height, "D", ms=5, mfc="white", mec="black", ls="none", label=label)
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(bottom=0)
