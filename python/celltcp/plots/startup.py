"""Start-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from celltcp.plots.style import colours
from celltcp.selection.labels import labels

if TYPE_CHECKING:
    from celltcp.comparison import Comparison


def draw_startup(axes: Axes, comparison: Comparison, seconds: float) -> None:
    """Bytes delivered by time t after the first data byte, mean and 95 % band over the runs."""
    slots, flows = comparison.slots, comparison.flows
    length = float(comparison.results.about["slot_s"])
    steps = np.arange(0, seconds + length / 2, length)
    names, shades = labels(comparison.ccas), colours(comparison.ccas)
    for cca in comparison.ccas:
        curves = []
        for run, mine in slots[(slots["cca"] == cca) & (slots["flow"] == 0)].groupby("run"):
            first = flows[(flows["run"] == run) & (flows["flow"] == 0)]["first_data_s"].iloc[0]
            ends = mine["t_s"].to_numpy() + length - first
            delivered = mine["delivered_bytes"].to_numpy().cumsum() / 1e6
            curves.append(np.interp(steps, ends, delivered, left=0.0))
        if not curves:
            continue
        stacked = np.array(curves)
        mean = stacked.mean(axis=0)
        axes.plot(steps, mean, color=shades[cca], label=names[cca], lw=1.5)
        if len(curves) > 1:
            spread = 1.96 * stacked.std(axis=0, ddof=1) / np.sqrt(len(curves))
            axes.fill_between(steps, mean - spread, mean + spread, color=shades[cca], alpha=0.2, lw=0)
    axes.set_xlim(0, seconds)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time since the first data byte, s")
    axes.set_ylabel("delivered, MB")
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
