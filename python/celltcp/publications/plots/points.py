"""Points: one quantity against another, a point per CCA and condition."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import Panel, axis_of, by_condition, cca_name, colors_of, heading

_MARKERS = ("^", "x", "o", "s", "D", "v", "P", "*")


def scatter_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per pair of successive quantities of the table."""
    by_quantity: dict[str, list[Row]] = {}
    for _, quantity, rows in by_condition(outcome):
        by_quantity.setdefault(quantity, []).extend(rows)
    return [
        Panel(functools.partial(_draw, outcome.table.figure, x_rows, y_rows))
        for x_rows, y_rows in pairwise(by_quantity.values())
    ]


def _draw(name: str, x_rows: Sequence[Row], y_rows: Sequence[Row], axes: Axes) -> None:
    shades = colors_of([*x_rows, *y_rows])
    scenarios = list(dict.fromkeys(row.published.scenario for row in x_rows))
    y_by_key = {(row.published.scenario, row.published.cca): row for row in y_rows}
    for row in x_rows:
        y_row = y_by_key.get((row.published.scenario, row.published.cca))
        if y_row is None:
            continue
        marker = _MARKERS[scenarios.index(row.published.scenario) % len(_MARKERS)]
        label = cca_name(row.published.cca) if row.published.scenario == scenarios[0] else None
        axes.plot(row.ours.mean, y_row.ours.mean, marker, color=shades[row.published.cca], label=label)
    axes.set_xlabel(axis_of(x_rows[0]))
    axes.set_ylabel(axis_of(y_rows[0]))
    axes.set_title(heading(scenarios[0] if len(scenarios) == 1 else "", name), fontsize=9)
    if len(scenarios) > 1:
        for scenario, marker in zip(scenarios, _MARKERS, strict=False):
            axes.plot([], [], marker, color="#777777", label=scenario)
    axes.legend(fontsize="x-small")
