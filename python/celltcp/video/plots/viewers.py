"""Viewers: empirical distributions of score, start-up and stalls over sessions, by CCA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from celltcp.campaign.provenance import ran_by
from celltcp.present.palette import colours, lines
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison


class Quantity(NamedTuple):
    """Figure of a session whose distribution is shown."""

    column: str
    name: str
    label: str
    unit: str


#: Quantities that are drawn, from left to right.
QUANTITIES = (
    Quantity(QOE, "score", "mean opinion score", ""),
    Quantity("startup_s", "start-up", "start-up", "s"),
    Quantity("stalled_s", "time of stalls", "stalled", "s"),
)


def plot_viewers(viewing: VideoComparison) -> Figure:
    """Draws the distributions with title and notes."""
    picture = draw_viewers(viewing)
    about = next(iter(viewing.comparisons.values())).results.about
    abrs = len({abr for _, abr in viewing.comparisons})
    sessions = about["runs"] * abrs
    titled(picture, f"Video: distributions over {sessions} sessions for each CCA, all adaptations")
    footnote(picture, [ran_by(about), *(f"! {each}" for each in viewing.warnings)])
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
        else:
            # Where nothing stalled, all values are zero.
            panel.set_xlim(0, max(1.0, panel.get_xlim()[1]))
        panel.set_xlabel(f"{quantity.label}, {quantity.unit}" if quantity.unit else quantity.label)
    legend_beside(picture, viewing.ccas)
    return picture


def sessions_of(viewing: VideoComparison, scenario: str) -> pd.DataFrame:
    """Returns the sessions of a scenario with all adaptations, a row each."""
    columns = ["cca", *(quantity.column for quantity in QUANTITIES)]
    parts = [each.runs[columns] for (name, _), each in viewing.comparisons.items() if name == scenario]
    return pd.concat(parts, ignore_index=True)


def share_of_sessions(
    sessions: pd.DataFrame, cca: str, column: str, grid: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the share of the sessions of a CCA with at most each value.

    Sessions without a value, such as the start-up of one that never started, count as above all.
    """
    values = sessions.loc[sessions["cca"] == cca, column].to_numpy(dtype=np.float64)
    known = np.sort(values[~np.isnan(values)])
    shares: NDArray[np.float64] = np.searchsorted(known, grid, "right") / max(len(values), 1)
    return shares


def _draw(panel: Axes, sessions: pd.DataFrame, viewing: VideoComparison, quantity: Quantity) -> None:
    names, shades = labels(viewing.ccas), colours(viewing.ccas)
    styles = lines(viewing.ccas)
    grid = np.unique(sessions[quantity.column].dropna().to_numpy(dtype=np.float64))
    for cca in viewing.ccas:
        shares = share_of_sessions(sessions, cca, quantity.column, grid)
        look = {"color": shades[cca], "lw": 1.4, "ls": styles[cca]}
        # Each curve begins at zero.
        ends = np.append(grid[:1], grid), np.append(0.0, shares)
        panel.step(*ends, where="post", label=names[cca], **look)
    panel.set_ylim(0, 1.02)
