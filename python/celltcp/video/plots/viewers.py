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
from celltcp.present.palette import colours, lines
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison


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
    abrs, runs = len(videos.adaptations), videos.about["runs"]
    if compares_adaptations(videos):
        sessions = f"{runs} sessions for each adaptation, {labels(videos.ccas)[videos.ccas[0]]}"
    else:
        sessions = f"{runs * abrs} sessions for each CCA{', all adaptations' if abrs > 1 else ''}"
    titled(picture, f"Video: distributions over {sessions}")
    footnote(picture, [engine_text(videos.about), *(f"! {warning}" for warning in videos.warnings)])
    return picture


def draw_distributions(videos: VideoComparison, quantities: Sequence[Quantity] = QUANTITIES) -> Figure:
    """Draws the distributions, a row for each scenario and a column for each quantity."""
    scenarios = videos.scenarios
    picture = figure(1.8 + 2.4 * len(quantities), 1.1 + 2.0 * len(scenarios))
    rows = picture.subplots(len(scenarios), len(quantities), sharex="col", sharey=True, squeeze=False)
    for panels, scenario in zip(rows, scenarios, strict=True):
        sessions = sessions_of(videos, scenario)
        for panel, quantity in zip(panels, quantities, strict=True):
            _draw(panel, sessions, curve_names(videos), quantity)
        panels[0].set_ylabel(f"{scenario}\nshare of sessions")
    for panel, quantity in zip(rows[-1], quantities, strict=True):
        if quantity.column == QOE:
            panel.set_xlim(1, 5)
        elif quantity.column != "linear_qoe":
            # All values are zero if nothing stalled.
            panel.set_xlim(0, max(1.0, panel.get_xlim()[1]))
        panel.set_xlabel(f"{quantity.label}, {quantity.unit}" if quantity.unit else quantity.label)
    legend_beside(picture, curve_names(videos))
    return picture


def compares_adaptations(videos: VideoComparison) -> bool:
    """Returns whether there is a curve per ABR algorithm instead of one per CCA."""
    return len(videos.ccas) == 1 and len(videos.adaptations) > 1


def curve_names(videos: VideoComparison) -> list[str]:
    """Returns the CCAs or ABR algorithms that have a curve each."""
    return videos.adaptations if compares_adaptations(videos) else videos.ccas


def sessions_of(videos: VideoComparison, scenario: str) -> pd.DataFrame:
    """Returns the sessions of a scenario with all ABR algorithms, a row each; `curve` names theirs."""
    columns = ["cca", *(quantity.column for quantity in QUANTITIES)]
    parts = [
        comparison.runs[columns].assign(abr=abr)
        for (name, abr), comparison in videos.comparisons.items()
        if name == scenario
    ]
    sessions = pd.concat(parts, ignore_index=True)
    return sessions.assign(curve=sessions["abr" if compares_adaptations(videos) else "cca"])


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
    for curve in curves:
        shares = share_of_sessions(sessions, curve, quantity.column, grid)
        look = {"color": shades[curve], "lw": 1.4, "ls": styles[curve]}
        # Each curve starts at zero.
        points = np.append(grid[:1], grid), np.append(0.0, shares)
        panel.step(*points, where="post", label=names[curve], **look)
    panel.set_ylim(0, 1.02)
