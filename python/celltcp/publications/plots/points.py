"""Points: one quantity against another, a point per CCA and place."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import Panel, axis_of, by_scenario, cca_name, colors_of, heading

_MARKERS = ("^", "x", "o", "s", "D", "v", "P", "*")


def scatter_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per pair of quantities that follow each other in the table."""
    by_quantity: dict[str, list[Row]] = {}
    for _, quantity, rows in by_scenario(outcome):
        by_quantity.setdefault(quantity, []).extend(rows)
    return [
        Panel(functools.partial(_draw, outcome.table.figure, rows, others))
        for rows, others in pairwise(by_quantity.values())
    ]


def _draw(name: str, across: Sequence[Row], up: Sequence[Row], axes: Axes) -> None:
    shades = colors_of([*across, *up])
    scenarios = list(dict.fromkeys(row.published.scenario for row in across))
    at = {(row.published.scenario, row.published.cca): row for row in up}
    for row in across:
        other = at.get((row.published.scenario, row.published.cca))
        if other is None:
            continue
        marker = _MARKERS[scenarios.index(row.published.scenario) % len(_MARKERS)]
        label = cca_name(row.published.cca) if row.published.scenario == scenarios[0] else None
        axes.plot(row.ours.mean, other.ours.mean, marker, color=shades[row.published.cca], label=label)
    axes.set_xlabel(axis_of(across[0]))
    axes.set_ylabel(axis_of(up[0]))
    axes.set_title(heading(scenarios[0] if len(scenarios) == 1 else "", name), fontsize=9)
    if len(scenarios) > 1:
        for scenario, marker in zip(scenarios, _MARKERS, strict=False):
            axes.plot([], [], marker, color="#777777", label=scenario)
    axes.legend(fontsize="x-small")
