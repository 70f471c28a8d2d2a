"""Plot of metrics at places on a way from a base station and back to it."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from celltcp.comparison.metrics import interval_ends
from celltcp.comparison.plots.distribution import METRICS
from celltcp.present.palette import colours
from celltcp.present.style import figure, titled
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels

_LINES = {"forward": "-", "backward": "--"}


def draw_positions(rows: pd.DataFrame, metric: str, title: str) -> Figure:
    """Draws means with 95 % bands over the mean SINR; the highest SINR is on the left."""
    picture = figure(7, 4)
    axes = picture.add_subplot()
    ccas = rows["cca"].astype(str).unique()
    names, shades = labels(ccas), colours(ccas)
    for (cca, movement), group in rows.groupby(["cca", "movement"], sort=False, observed=True):
        sinrs_db = sorted(group["sinr_db"].unique().tolist())
        estimates = [estimate(group.loc[group["sinr_db"] == at, "value"].tolist()) for at in sinrs_db]
        means = [each.mean for each in estimates]
        low, high = zip(*(interval_ends(metric, each) for each in estimates), strict=True)
        line = _LINES[str(movement)]
        label = f"{names[str(cca)]}, {movement}"
        axes.plot(sinrs_db, means, line, color=shades[str(cca)], lw=1.6, label=label)
        axes.fill_between(sinrs_db, low, high, color=shades[str(cca)], alpha=0.12, lw=0)
    axes.invert_xaxis()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(
        "mean SINR at the place, dB (forward reads from left to right, backward from right)"
    )
    axes.set_ylabel(METRICS[metric][1].replace(" per slot", ""))
    titled(picture, title)
    axes.legend()
    return picture
