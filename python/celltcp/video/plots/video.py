"""Plot of the mean opinion scores of videos by ABR algorithm and CCA."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from celltcp.campaign.provenance import engine_text
from celltcp.comparison.plots.bars import draw_bars
from celltcp.present.section import runs_text
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison
from celltcp.video.plots.viewers import MAX_SCENARIOS

#: Minimum width, which has room for the title beside the legend, inches.
_MIN_WIDTH_IN = 7.0


def plot_scores(videos: VideoComparison) -> Figure:
    """Draws the mean opinion scores with title and notes."""
    picture = draw_scores(videos)
    titled(
        picture, f"Video: score by adaptation of the bitrate, {runs_text(videos.about['runs'])} each"
    )
    footnote(picture, [engine_text(videos.about), *(f"! {warning}" for warning in videos.warnings)])
    return picture


def draw_scores(videos: VideoComparison) -> Figure:
    """Draws the mean opinion scores with their intervals, a panel for each group of scores."""
    groups = score_groups(videos)
    columns = min(2, len(groups))
    rows = math.ceil(len(groups) / columns)
    picture = figure(max(2.0 + 3.6 * columns, _MIN_WIDTH_IN), 0.9 + 2.3 * rows)
    panels = picture.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    for panel, (name, scores) in zip(panels, groups.items(), strict=False):
        draw_bars(panel, scores, "abr", videos.adaptations, QOE)
        panel.set_title(name)
        panel.set_ylim(1, 5)
    for panel in panels[len(groups) :]:
        panel.set_visible(False)
    for panel in panels[::columns]:
        panel.set_ylabel("mean opinion score")
    legend_beside(picture, videos.ccas, has_bars=True)
    return picture


def score_groups(videos: VideoComparison) -> dict[str, pd.DataFrame]:
    """Returns the scores of each panel by its title: a row per run, with its CCA and ABR algorithm.

    Of more than `MAX_SCENARIOS` scenarios it is one panel, and a row is the mean of a scenario.
    """
    scores = {
        scenario: pd.concat(
            [
                videos.comparisons[scenario, abr].runs[["run", "cca", QOE]].assign(abr=abr)
                for abr in videos.adaptations
                if (scenario, abr) in videos.comparisons
            ]
        )
        for scenario in videos.scenarios
    }
    if len(scores) <= MAX_SCENARIOS:
        return scores
    means = [
        each.groupby(["cca", "abr"], observed=True, sort=False, as_index=False)[QOE]
        .mean()
        .assign(run=index)
        for index, each in enumerate(scores.values())
    ]
    return {f"means of {count_text(len(scores), 'scenario')}": pd.concat(means, ignore_index=True)}
