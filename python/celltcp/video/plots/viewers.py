"""Plots of the distributions of scores, start-up and stalls over video sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from celltcp.campaign.provenance import engine_text
from celltcp.comparison.sets.verdicts import MIN_SCENARIOS
from celltcp.present.palette import colours, lines
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison

#: Minimum end of the axes of times, s.
_MIN_END = 1.0
#: Maximum number of scenarios with distributions and scores of their own.
MAX_SCENARIOS = 6


class Quantity(NamedTuple):
    """Metric of a session whose distribution is drawn."""

    column: str
    #: Name in titles.
    name: str
    #: Label of the axis.
    label: str
    unit: str


#: Quantities from left to right.
QUANTITIES = (
    Quantity(QOE, "score", "mean opinion score", ""),
    Quantity("linear_qoe", "linear QoE", "linear QoE", ""),
    Quantity("startup_s", "start-up", "start-up", "s"),
    Quantity("stalled_s", "time of stalls", "stalled", "s"),
)


def plot_distributions(videos: VideoComparison) -> Figure:
    """Draws the distributions with title and notes."""
    picture = draw_distributions(videos)
    of_cca = f", {labels(videos.ccas)[videos.ccas[0]]}" if compares_adaptations(videos) else ""
    runs, scenarios = (
        count_text(count, noun)
        for count, noun in ((videos.about["runs"], "run"), (len(videos.scenarios), "scenario"))
    )
    titled(picture, f"Video: distributions over sessions, {runs} of each on {scenarios}{of_cca}")
    footnote(picture, [engine_text(videos.about), *(f"! {warning}" for warning in videos.warnings)])
    return picture


def draw_distributions(videos: VideoComparison, quantities: Sequence[Quantity] = QUANTITIES) -> Figure:
    """Draws the distributions, a row for each group of sessions and a column for each quantity."""
    groups = session_groups(videos)
    picture = figure(1.8 + 2.4 * len(quantities), 1.1 + 2.0 * len(groups))
    rows = picture.subplots(len(groups), len(quantities), sharex="col", sharey=True, squeeze=False)
    for panels, (name, sessions) in zip(rows, groups.items(), strict=True):
        for panel, quantity in zip(panels, quantities, strict=True):
            _draw(panel, sessions, curve_names(videos), quantity)
        panels[0].set_ylabel(f"{name}\nshare of sessions")
    for panel, quantity in zip(rows[-1], quantities, strict=True):
        if quantity.column == QOE:
            panel.set_xlim(1, 5)
        elif quantity.column != "linear_qoe":
            # All values are zero if nothing stalled.
            panel.set_xlim(0, max(_MIN_END, panel.get_xlim()[1]))
        panel.set_xlabel(f"{quantity.label}, {quantity.unit}" if quantity.unit else quantity.label)
    legend_beside(picture, curve_names(videos))
    return picture


def compares_adaptations(videos: VideoComparison) -> bool:
    """Returns whether there is a curve per ABR algorithm instead of one per CCA."""
    return len(videos.ccas) == 1 and len(videos.adaptations) > 1


def curve_names(videos: VideoComparison) -> list[str]:
    """Returns the CCAs or ABR algorithms that have a curve each."""
    return videos.adaptations if compares_adaptations(videos) else videos.ccas


def session_groups(videos: VideoComparison) -> dict[str, pd.DataFrame]:
    """Returns the sessions of each row of distributions by its name, a row each; `curve` names theirs.

    Over three or more scenarios, all sessions are together, for each ABR algorithm unless these have
    the curves. Up to `MAX_SCENARIOS` have groups of their own, with all ABR algorithms.
    """
    columns = ["cca", *(quantity.column for quantity in QUANTITIES)]
    sessions = pd.concat(
        [
            comparison.runs[columns].assign(abr=abr, scenario=scenario)
            for (scenario, abr), comparison in videos.comparisons.items()
        ],
        ignore_index=True,
    )
    sessions["curve"] = sessions["abr" if compares_adaptations(videos) else "cca"]
    groups: dict[str, pd.DataFrame] = {}
    if len(videos.scenarios) >= MIN_SCENARIOS:
        over_all = count_text(len(videos.scenarios), "scenario")
        if compares_adaptations(videos):
            groups[over_all] = sessions
        else:
            groups |= {
                f"{abr}, {over_all}": sessions[sessions["abr"] == abr] for abr in videos.adaptations
            }
    if len(videos.scenarios) <= MAX_SCENARIOS:
        groups |= {name: sessions[sessions["scenario"] == name] for name in videos.scenarios}
    return groups


def share_of_sessions(
    sessions: pd.DataFrame, curve: str, column: str, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the share of a curve's sessions whose value is at most that of the grid, at each point.

    Sessions without a value, such as the start-up of one that never started, are in no share.
    """
    values = sessions.loc[sessions["curve"] == curve, column].to_numpy(dtype=np.float64)
    finite = np.sort(values[~np.isnan(values)])
    shares: NDArray[np.float64] = np.searchsorted(finite, grid, "right") / max(len(values), 1)
    return shares


def _draw(panel: Axes, sessions: pd.DataFrame, curves: Sequence[str], quantity: Quantity) -> None:
    names, shades, styles = labels(curves), colours(curves), lines(curves)
    grid = np.unique(sessions[quantity.column].dropna().to_numpy(dtype=np.float64))
    # Each curve starts at zero. Of a session without stalls, it goes on to the end of the axis.
    ends = [_MIN_END] if quantity.unit and len(grid) and grid[-1] < _MIN_END else []
    grid = np.append(grid, ends)
    for curve in curves:
        shares = share_of_sessions(sessions, curve, quantity.column, grid)
        look = {"color": shades[curve], "lw": 1.4, "ls": styles[curve]}
        points = np.append(grid[:1], grid), np.append(0.0, shares)
        panel.step(*points, where="post", label=names[curve], **look)
    panel.set_ylim(0, 1.02)
