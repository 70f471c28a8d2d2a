"""Viewers: empirical distributions of scores, start-up and stalls, by CCA or ABR algorithm."""

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
    """Metric of a session with a distribution."""

    column: str
    name: str
    label: str
    unit: str


#: Drawn quantities, from left to right.
QUANTITIES = (
    Quantity(QOE, "score", "mean opinion score", ""),
    Quantity("linear_qoe", "linear QoE", "linear QoE", ""),
    Quantity("startup_s", "start-up", "start-up", "s"),
    Quantity("stalled_s", "time of stalls", "stalled", "s"),
)


def plot_viewers(viewing: VideoComparison) -> Figure:
    """Draws the distributions with title and notes."""
    picture = draw_viewers(viewing)
    about = next(iter(viewing.comparisons.values())).results.about
    abrs, runs = len(viewing.adaptations), about["runs"]
    if by_adaptation(viewing):
        of = f"{runs} sessions for each adaptation, {labels(viewing.ccas)[viewing.ccas[0]]}"
    else:
        of = f"{runs * abrs} sessions for each CCA{', all adaptations' if abrs > 1 else ''}"
    titled(picture, f"Video: distributions over {of}")
    footnote(picture, [engine_text(about), *(f"! {warning}" for warning in viewing.warnings)])
    return picture


def draw_viewers(viewing: VideoComparison, quantities: Sequence[Quantity] = QUANTITIES) -> Figure:
    """Draws the distributions, a row for each scenario and a column for each quantity."""
    scenarios = list(dict.fromkeys(scenario for scenario, _ in viewing.comparisons))
    picture = figure(1.8 + 2.4 * len(quantities), 1.1 + 2.0 * len(scenarios))
    rows = picture.subplots(len(scenarios), len(quantities), sharex="col", sharey=True, squeeze=False)
    for panels, scenario in zip(rows, scenarios, strict=True):
        sessions = sessions_of(viewing, scenario)
        for panel, quantity in zip(panels, quantities, strict=True):
            _draw(panel, sessions, viewing, quantity)
        panels[0].set_ylabel(f"{scenario}\nshare of sessions")
    for panel, quantity in zip(rows[-1], quantities, strict=True):
        if quantity.column == QOE:
            panel.set_xlim(1, 5)
        elif quantity.column != "linear_qoe":
            # Where nothing stalled, all values are zero.
            panel.set_xlim(0, max(1.0, panel.get_xlim()[1]))
        panel.set_xlabel(f"{quantity.label}, {quantity.unit}" if quantity.unit else quantity.label)
    legend_beside(picture, members(viewing))
    return picture


def by_adaptation(viewing: VideoComparison) -> bool:
    """Returns whether curves are those of ABR algorithms: those of the only CCA."""
    return len(viewing.ccas) == 1 and len(viewing.adaptations) > 1


def members(viewing: VideoComparison) -> list[str]:
    """Returns the members with curves: the CCAs, or the ABR algorithms of a single one."""
    return viewing.adaptations if by_adaptation(viewing) else viewing.ccas


def sessions_of(viewing: VideoComparison, scenario: str) -> pd.DataFrame:
    """Returns the sessions of a scenario with all ABR algorithms, a row each, and whose they are."""
    of = "abr" if by_adaptation(viewing) else "cca"
    columns = ["cca", *(quantity.column for quantity in QUANTITIES)]
    parts = [
        comparison.runs[columns].assign(abr=abr)
        for (name, abr), comparison in viewing.comparisons.items()
        if name == scenario
    ]
    sessions = pd.concat(parts, ignore_index=True)
    return sessions.assign(member=sessions[of])


def share_of_sessions(
    sessions: pd.DataFrame, member: str, column: str, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the share of the sessions of a CCA or ABR algorithm with at most each value.

    Sessions without a value, such as the start-up of one that never started, count as above all.
    """
    values = sessions.loc[sessions["member"] == member, column].to_numpy(dtype=np.float64)
    known = np.sort(values[~np.isnan(values)])
    shares: NDArray[np.float64] = np.searchsorted(known, grid, "right") / max(len(values), 1)
    return shares


def _draw(panel: Axes, sessions: pd.DataFrame, viewing: VideoComparison, quantity: Quantity) -> None:
    groups = members(viewing)
    names, shades, styles = labels(groups), colours(groups), lines(groups)
    grid = np.unique(sessions[quantity.column].dropna().to_numpy(dtype=np.float64))
    for member in groups:
        shares = share_of_sessions(sessions, member, quantity.column, grid)
        look = {"color": shades[member], "lw": 1.4, "ls": styles[member]}
        # Each curve begins at zero.
        ends = np.append(grid[:1], grid), np.append(0.0, shares)
        panel.step(*ends, where="post", label=names[member], **look)
    panel.set_ylim(0, 1.02)
