"""Loads: quantities over the number of UEs in the cell, and distributions at some numbers."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from matplotlib.axes import Axes

from celltcp.present.palette import colours
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.distributions import ecdf_panels
from celltcp.publications.plots.panel import Panel, axis_of

#: Name of a condition: the number of UEs, and its kind, such as a setting.
_CONDITION = re.compile(r"(?P<ues>[0-9]+) UEs(?:, (?P<kind>.+))?")

#: Minimum number of points of a line.
_MIN_POINTS = 4


def load_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per quantity with a line for each kind of condition, after the distributions."""
    by_quantity: dict[str, dict[str, list[tuple[int, Row]]]] = {}
    for row in outcome.rows:
        if match := _CONDITION.fullmatch(row.published.scenario):
            kinds = by_quantity.setdefault(row.published.quantity, {})
            kinds.setdefault(match["kind"] or "default", []).append((int(match["ues"]), row))
    lines_by_quantity = {
        quantity: lines
        for quantity, kinds in by_quantity.items()
        if (lines := {kind: points for kind, points in kinds.items() if len(points) >= _MIN_POINTS})
    }
    line_panels = [
        Panel(functools.partial(_draw, outcome.table.figure, lines))
        for lines in lines_by_quantity.values()
    ]
    return [*ecdf_panels(_without_lines(outcome, lines_by_quantity.keys())), *line_panels]


def _without_lines(outcome: Outcome, quantities_of_lines: Collection[str]) -> Outcome:
    """Returns an outcome without the quantities of lines, and without published values and claims.

    The conditions of lines are too many to distinguish by colour.
    """
    groups = [
        replace(
            group,
            rows=[
                row
                for row in group.rows
                if row.published.quantity not in quantities_of_lines
                and row.published.claim is None
                and row.published.value is None
            ],
        )
        for group in outcome.groups
    ]
    return replace(outcome, groups=groups)


def _draw(name: str, kinds: dict[str, list[tuple[int, Row]]], axes: Axes) -> None:
    shades = colours(list(kinds))
    first: Sequence[tuple[int, Row]] = next(iter(kinds.values()))
    for kind, points in kinds.items():
        points = sorted(dict(points).items())
        axes.errorbar(
            [ues for ues, _ in points],
            [row.ours.mean for _, row in points],
            yerr=[row.ours.ci95 or 0.0 for _, row in points],
            color=shades[kind],
            marker="o",
            ms=3,
            lw=1.0,
            label=kind,
        )
        published_points = [
            (ues, row.published.value) for ues, row in points if row.published.value is not None
        ]
        if published_points:
            axes.plot(
                [ues for ues, _ in published_points],
                [value for _, value in published_points],
                "x",
                color="black",
                label="published",
            )
    axes.set_xlabel("UEs")
    axes.set_ylabel(axis_of(first[0][1]))
    axes.set_ylim(bottom=0)
    axes.set_title(name, fontsize=9)
    axes.legend(fontsize="x-small")
