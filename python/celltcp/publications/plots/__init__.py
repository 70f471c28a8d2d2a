"""Plots of published and simulated values, in the form of the publication."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from matplotlib.figure import Figure, SubFigure

from celltcp.present.style import figure, titled
from celltcp.publications.agreement import Outcome
from celltcp.publications.plots.bars import bar_panels
from celltcp.publications.plots.capabilities import capability_panels
from celltcp.publications.plots.conditions import condition_panels
from celltcp.publications.plots.courses import position_panels, time_panels
from celltcp.publications.plots.distributions import ecdf_panels
from celltcp.publications.plots.gains import gain_panels
from celltcp.publications.plots.loads import load_panels
from celltcp.publications.plots.panel import Panel
from celltcp.publications.plots.points import scatter_panels
from celltcp.publications.plots.schemes import transition_panels, zone_panels
from celltcp.publications.plots.spiders import spider_panels
from celltcp.publications.plots.split_choice import choice_panels
from celltcp.publications.plots.split_legs import leg_panels
from celltcp.publications.plots.verdicts import verdict_panels
from celltcp.publications.quantities import QUANTITIES

#: Function for the panels of each form, number of panels per row, and height of a row, inches.
_FORMS: dict[str, tuple[Callable[[Outcome], list[Panel]], int, float]] = {
    "bars": (bar_panels, 2, 2.8),
    "spider": (spider_panels, 3, 2.9),
    "time": (time_panels, 3, 2.5),
    "position": (position_panels, 3, 2.7),
    "ecdf": (ecdf_panels, 3, 2.7),
    "zones": (zone_panels, 2, 2.8),
    "transitions": (transition_panels, 3, 3.0),
    "scatter": (scatter_panels, 2, 3.2),
    "verdicts": (verdict_panels, 1, 3.0),
    "gains": (gain_panels, 3, 3.0),
    "legs": (leg_panels, 2, 2.6),
    "choices": (choice_panels, 1, 3.2),
    "capabilities": (capability_panels, 1, 3.6),
    "load": (load_panels, 2, 2.8),
    "places": (condition_panels, 3, 2.7),
}

#: Maximum number of characters in a line of the title.
_TITLE_WIDTH = 90

#: Height of a row of panels, inches, and its panels.
_PanelRow: TypeAlias = "tuple[float, list[Panel]]"


def draw_outcomes(outcomes: Sequence[Outcome]) -> Figure:
    """Draws outcomes in the forms of their tables, one below the other.

    A picture of one experiment has its name and title at the top; otherwise each panel has the name. A
    table that lacks the data of its form, such as the axes of a grid, is drawn as bars.
    """
    single = outcomes[0].table if len({outcome.table.experiment for outcome in outcomes}) == 1 else None
    if single:
        outcomes = [replace(outcome, table=replace(outcome.table, figure="")) for outcome in outcomes]
    parts = [rows for rows in map(_panel_rows, outcomes) if rows]
    heights = [sum(height for height, _ in rows) for rows in parts]
    picture = figure(9.2, max(sum(heights), 1.0) + (0.3 if single else 0.0))
    if not parts:
        return picture
    if single:
        title = f"{single.publication}, {single.figure}: {single.title}"
        titled(picture, textwrap.fill(title, _TITLE_WIDTH))
    # Each table has a layout of its own, so that its labels take no room from the columns of others.
    subfigures = picture.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)
    for subfigure, rows in zip(subfigures[:, 0], parts, strict=True):
        _draw_rows(subfigure, rows)
    return picture


def _panel_rows(outcome: Outcome) -> list[_PanelRow]:
    """Returns the panels of an outcome in rows."""
    make_panels, default_columns, height = _FORMS[outcome.table.form]
    panels = make_panels(outcome) or bar_panels(outcome)
    columns = min(_columns(outcome, default_columns), max(len(panels), 1))
    if columns == 3 and len(panels) == 4:
        columns = 2
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    return [(row[0].height or height, row) for row in rows]


def _draw_rows(subfigure: SubFigure, rows: Sequence[_PanelRow]) -> None:
    heights = [height for height, _ in rows]
    # The first row has the maximum number of panels.
    grid = subfigure.add_gridspec(len(rows), len(rows[0][1]), height_ratios=heights)
    for row, (_, panels) in enumerate(rows):
        for column, panel in enumerate(panels):
            axes = subfigure.add_subplot(grid[row, column], projection=panel.projection)
            panel.draw(axes)


def _columns(outcome: Outcome, default: int) -> int:
    """Returns the number of panels per row: all quantities of a condition over time, if they fit."""
    quantities = {row.published.quantity for row in outcome.rows}
    over_time = [quantity for quantity in quantities if QUANTITIES[quantity].column]
    return len(over_time) if outcome.table.form == "time" and len(over_time) in (2, 4) else default
