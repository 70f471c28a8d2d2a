"""Plots of videos: scores by ABR algorithm and CCA, and sessions over time."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from celltcp.campaign.provenance import engine_text
from celltcp.comparison.plots.bars import draw_bars
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison


def plot_viewing(viewing: VideoComparison) -> Figure:
    """Draws the mean opinion scores with title and notes."""
    picture = draw_scores(viewing)
    about = next(iter(viewing.comparisons.values())).results.about
    titled(picture, f"Video: score by adaptation of the bitrate, {about['runs']} runs each")
    footnote(picture, [engine_text(about), *(f"! {warning}" for warning in viewing.warnings)])
    return picture


def draw_scores(viewing: VideoComparison) -> Figure:
    """Draws the mean opinion scores with their intervals, a panel for each scenario."""
    scenarios = list(dict.fromkeys(scenario for scenario, _ in viewing.comparisons))
    abrs = list(dict.fromkeys(abr for _, abr in viewing.comparisons))
    columns = min(2, len(scenarios))
    rows = -(-len(scenarios) // columns)
    picture = figure(2.0 + 3.6 * columns, 0.9 + 2.3 * rows)
    panels = picture.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    for panel, scenario in zip(panels, scenarios, strict=False):
        parts = [
            viewing.comparisons[scenario, abr].runs[["run", "cca", QOE]].assign(abr=abr) for abr in abrs
        ]
        draw_bars(panel, pd.concat(parts), "abr", abrs, QOE)
        panel.set_title(scenario)
        panel.set_ylim(1, 5)
    for panel in panels[len(scenarios) :]:
        panel.set_visible(False)
    for panel in panels[::columns]:
        panel.set_ylabel("mean opinion score")
    legend_beside(picture, viewing.ccas, has_bars=True)
    return picture
