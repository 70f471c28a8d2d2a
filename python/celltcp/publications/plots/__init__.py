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
from celltcp.publications.plots.conditions import place_panels
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

#: Panels of each form, their number per row, and their height in inches.
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
    "places": (place_panels, 3, 2.7),
}

#: Maximum of letters of a line of the title.
_TITLE_LETTERS = 90

#: Height of a line of panels in inches, and the panels.
_Line: TypeAlias = "tuple[float, list[Panel]]"


def draw_outcomes(outcomes: Sequence[Outcome]) -> Figure:
    """Draws outcomes in the forms of their tables, one under the other.

    A picture of one experiment has its name and title above, one of several has the name at each panel.
    A table without what its form shows, such as the axes of a grid, is drawn as bars.
    """
    single = outcomes[0].table if len({outcome.table.experiment for outcome in outcomes}) == 1 else None
    if single:
        outcomes = [replace(outcome, table=replace(outcome.table, figure="")) for outcome in outcomes]
    parts = [lines for lines in map(_lines_of, outcomes) if lines]
    heights = [sum(height for height, _ in lines) for lines in parts]
    picture = figure(9.2, max(sum(heights), 1.0) + (0.3 if single else 0.0))
    if not parts:
        return picture
    if single:
        title = f"{single.publication}, {single.figure}: {single.title}"
        titled(picture, textwrap.fill(title, _TITLE_LETTERS))
    # Each table is laid out by itself: labels of one would take room from the columns of all.
    places = picture.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)
    for place, lines in zip(places[:, 0], parts, strict=True):
        _draw_lines(place, lines)
    return picture


def _lines_of(outcome: Outcome) -> list[_Line]:
    """Returns the panels of an outcome in lines."""
    make, usual, height = _FORMS[outcome.table.form]
    panels = make(outcome) or bar_panels(outcome)
    beside = min(_beside(outcome, usual), max(len(panels), 1))
    if beside == 3 and len(panels) == 4:
        beside = 2
    lines = [panels[start : start + beside] for start in range(0, len(panels), beside)]
    return [(line[0].height or height, line) for line in lines]


def _draw_lines(place: SubFigure, lines: Sequence[_Line]) -> None:
    heights = [height for height, _ in lines]
    # The first row is full.
    grid = place.add_gridspec(len(lines), len(lines[0][1]), height_ratios=heights)
    for row, (_, panels) in enumerate(lines):
        for column, panel in enumerate(panels):
            axes = place.add_subplot(grid[row, column], projection=panel.projection)
            panel.draw(axes)


def _beside(outcome: Outcome, usual: int) -> int:
    """Returns the number of panels per row: all quantities of a place over time, if they fit."""
    plotted_quantities = {
        row.published.quantity for row in outcome.rows if QUANTITIES[row.published.quantity].column
    }
    return (
        len(plotted_quantities)
        if outcome.table.form == "time" and len(plotted_quantities) in (2, 4)
        else usual
    )
