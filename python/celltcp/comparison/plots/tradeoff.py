"""Plot of goodput against delay, a point per run and one per congestion control."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from celltcp.present.palette import colours, markers
from celltcp.present.style import MAX_BANDS, make_logarithmic, suit_unit
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels


def draw_throughput_delay(axes: Axes, runs: pd.DataFrame, ccas: Sequence[str]) -> None:
    """Draws a small point per run and a large one for the mean, with the 95 % intervals as a cross."""
    names, shades, marks = labels(ccas), colours(ccas), markers(ccas)
    for cca in ccas:
        selected = runs[runs["cca"] == cca]
        delay, goodput = selected["owd_p95_ms"].tolist(), selected["goodput_mbps"].tolist()
        axes.scatter(delay, goodput, s=9, alpha=0.35, color=shades[cca], marker=marks[cca], lw=0)
        x, y = estimate(delay), estimate(goodput)
        axes.errorbar(
            x.mean,
            y.mean,
            xerr=min(x.ci95 or 0.0, 0.95 * x.mean),
            yerr=y.ci95 or 0.0,
            color=shades[cca],
            marker=marks[cca],
            ms=7,
            lw=1.2,
            ls="none",
            elinewidth=1.0 if len(ccas) <= MAX_BANDS else 0.4,
            label=names[cca],
        )
    delays = runs["owd_p95_ms"][runs["owd_p95_ms"] > 0]
    # The limits fit the points, not the intervals, which are wide for few runs.
    # Within less than a decade, a linear axis has enough round numbers.
    if len(delays) and delays.max() > 8 * delays.min():
        is_wide = delays.max() > 40 * delays.min()
        steps = (1, 3) if is_wide else (1, 2, 5)
        make_logarithmic(axes, 0.7 * delays.min(), 1.4 * delays.max(), steps)
    elif len(delays):
        axes.set_xlim(0, 1.15 * delays.max())
    largest = float(runs["goodput_mbps"].max())
    axes.set_ylim(0, 1.2 * largest or 1)
    axes.set_xlabel("95th percentile of one-way delay, ms (left is better)")
    axes.set_ylabel(f"goodput, {suit_unit(axes.yaxis, largest, 'Mbit/s', 'kbit/s')}")
