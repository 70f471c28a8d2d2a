"""Distributions: empirical cumulative distribution functions of slots, connections or reports."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from celltcp.papers.quantities import QUANTITIES
from celltcp.plots.palette import colours, line
from celltcp.plots.papers.panel import Panel, axis_of, by_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from celltcp.papers.outcome import Outcome, Row

#: Points of a line.
_POINTS = 200


def ecdf_panels(found: Outcome) -> list[Panel]:
    """Returns a panel per place and quantity, or per quantity where the places have one CCA.

    What is only there for a claim or a number is left out.
    """
    curves = {
        row.theirs.quantity
        for row in found.rows
        if row.theirs.claim is None and row.theirs.value is None
    }
    groups = [
        rows
        for _, quantity, rows in by_scenario(found)
        if quantity in curves and QUANTITIES[quantity].spread is not None
    ]
    if all(len(rows) == 1 for rows in groups):
        together: dict[str, list[Row]] = {}
        for (row,) in groups:
            together.setdefault(row.theirs.quantity, []).append(row)
        groups = list(together.values())
    return [
        Panel(functools.partial(_draw, found.table.figure, rows, place == 0))
        for place, rows in enumerate(groups)
    ]


def _draw(name: str, rows: Sequence[Row], legend: bool, axes: Axes) -> None:
    scenarios = list(dict.fromkeys(row.theirs.scenario for row in rows))
    of_places = len(scenarios) > 1
    names = [row.theirs.scenario if of_places else row.theirs.cca for row in rows]
    shades = colours(names)
    for label, row in zip(names, rows, strict=True):
        values = np.sort(row.source.spread(row.theirs))
        if not len(values):
            continue
        shares = np.arange(1, len(values) + 1) / len(values)
        kept = np.unique(np.linspace(0, len(values) - 1, min(_POINTS, len(values))).astype(int))
        axes.step(
            np.concatenate([values[:1], values[kept]]),
            np.concatenate([[0.0], shares[kept]]),
            where="post",
            color=shades[label],
            ls="-" if of_places else line(label),
            lw=1.0,
            label=label,
        )
    axes.set_xlabel(axis_of(rows[0]))
    axes.set_ylabel("ECDF")
    axes.set_ylim(0, 1)
    axes.set_title(name if of_places else f"{scenarios[0]}\n{name}", fontsize=9)
    if legend or of_places:
        axes.legend(fontsize="x-small")
