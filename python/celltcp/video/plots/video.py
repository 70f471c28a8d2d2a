"""Plot of the mean opinion scores of videos by ABR algorithm and CCA."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from celltcp.campaign.provenance import engine_text
from celltcp.comparison.plots.bars import draw_bars
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison


def plot_scores(videos: VideoComparison) -> Figure:
    """Draws the mean opinion scores with title and notes."""
    picture = draw_scores(videos)
    titled(picture, f"Video: score by adaptation of the bitrate, {videos.about['runs']} runs each")
    footnote(picture, [engine_text(videos.about), *(f"! {warning}" for warning in videos.warnings)])
    return picture


def draw_scores(videos: VideoComparison) -> Figure:
    """Draws the mean opinion scores with their intervals, a panel for each scenario."""
    scenarios, abrs = videos.scenarios, videos.adaptations
    columns = min(2, len(scenarios))
    rows = math.ceil(len(scenarios) / columns)
    picture = figure(2.0 + 3.6 * columns, 0.9 + 2.3 * rows)
    panels = picture.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    for panel, scenario in zip(panels, scenarios, strict=False):
        parts = [
            videos.comparisons[scenario, abr].runs[["run", "cca", QOE]].assign(abr=abr) for abr in abrs
        ]
        draw_bars(panel, pd.concat(parts), "abr", abrs, QOE)
        panel.set_title(scenario)
        panel.set_ylim(1, 5)
    for panel in panels[len(scenarios) :]:
        panel.set_visible(False)
    for panel in panels[::columns]:
        panel.set_ylabel("mean opinion score")
    legend_beside(picture, videos.ccas, has_bars=True)
    return picture
