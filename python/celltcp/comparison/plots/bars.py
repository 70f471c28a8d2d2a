"""Bar plot: groups of bars, one for each congestion control."""

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
    """Draws a group of bars for each of `groups`: mean of a column over the runs, and 95 % interval.

    `rows` has the columns `cca`, `run`, `group` (the group of a row) and `value`. Published values, by
    group and congestion control, are diamonds.
    """
    ccas = list(dict.fromkeys(rows["cca"].astype(str)))
    width = 0.84 / len(ccas)
    names, shades, hatched = labels(ccas), colours(ccas), hatches(ccas)
    for index, cca in enumerate(ccas):
        selected = rows[rows["cca"] == cca]
        for number, name in enumerate(groups):
            result = estimate(selected.loc[selected[group] == name, value].astype(float).tolist())
            middle = number + (index - (len(ccas) - 1) / 2) * width
            axes.bar(
                *(middle, result.mean, 0.94 * width),
                yerr=result.ci95,
                color=shades[cca],
                hatch=hatched[cca],
                edgecolor="white" if hatched[cca] else None,
                error_kw={"lw": 0.8},
                label=names[cca] if number == 0 else None,
            )
            if published and (name, cca) in published:
                label = None if number or index else "published"
                height = published[name, cca]
                axes.plot(middle, height, "D", ms=5, mfc="white", mec="black", ls="none", label=label)
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(bottom=0)
