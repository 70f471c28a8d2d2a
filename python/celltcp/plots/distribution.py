"""Pictures of distributions over slots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from celltcp._core import CelltcpError
from celltcp.labels import labels
from celltcp.plots.palette import colours, line
from celltcp.plots.style import MOST_BANDS

#: Columns of the slots by the names that users give, with the label of the axis.
METRICS = {
    "goodput": ("goodput_mbps", "goodput per slot, Mbit/s"),
    "rtt": ("rtt_mean_ms", "RTT per slot, ms"),
    "owd": ("owd_mean_ms", "one-way delay per slot, ms"),
    "pm_balanced": ("pm_balanced", "PM, balanced"),
    "pm_delay": ("pm_delay", "PM, delay"),
}
_RESAMPLES = 200


def draw_ecdf(axes: Axes, slots: pd.DataFrame, ccas: Sequence[str], metric: str) -> None:
    """Draws the empirical distribution over slots with a 95 % band from resampling whole runs."""
    if metric not in METRICS:
        raise CelltcpError(f"metric {metric!r} is not one of {', '.join(METRICS)}")
    column, label = METRICS[metric]
    flow = slots["flow"] == 0
    names, shades = labels(ccas), colours(ccas)
    for cca in ccas:
        mine = slots[flow & (slots["cca"] == cca)]
        runs = [np.sort(run[column].dropna().to_numpy()) for _, run in mine.groupby("run")]
        runs = [values for values in runs if len(values)]
        if not runs:
            continue
        pooled = np.sort(np.concatenate(runs))
        grid = np.quantile(pooled, np.linspace(0, 1, 200))
        shares = np.array([np.searchsorted(run, grid, "right") / len(run) for run in runs])
        axes.plot(grid, shares.mean(axis=0), color=shades[cca], label=names[cca], lw=1.4, ls=line(cca))
        if len(runs) > 1 and len(ccas) <= MOST_BANDS:
            draws = np.random.default_rng(1).integers(len(runs), size=(_RESAMPLES, len(runs)))
            means = np.array([shares[draw].mean(axis=0) for draw in draws])
            bands = np.quantile(means, [0.025, 0.975], axis=0)
            axes.fill_between(grid, *bands, color=shades[cca], alpha=0.2, lw=0)
    axes.set_ylim(0, 1)
    # Single slots in which a filled hole hands over what had waited would squeeze all others.
    known = slots[flow][column].dropna()
    if len(known) and (most := float(known.quantile(0.995))) > 0:
        axes.set_xlim(right=1.05 * most)
    axes.set_xlabel(label)
    axes.set_ylabel("share of slots")
