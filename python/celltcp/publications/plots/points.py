"""Points: one quantity against another, a point per CCA and place."""

from __future__ import annotations

import functools
from itertools import pairwise
from typing import TYPE_CHECKING

from celltcp.publications.plots.panel import Panel, axis_of, by_scenario, cca_name, heading, shades_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from celltcp.publications.agreement import Outcome, Row

_MARKERS = ("^", "x", "o", "s", "D", "v", "P", "*")


def scatter_panels(found: Outcome) -> list[Panel]:
    """Returns a panel per pair of quantities that follow each other in the table."""
    by_quantity: dict[str, list[Row]] = {}
    for _, quantity, rows in by_scenario(found):
        by_quantity.setdefault(quantity, []).extend(rows)
    return [
        Panel(functools.partial(_draw, found.table.figure, rows, others))
        for rows, others in pairwise(by_quantity.values())
    ]


def _draw(name: str, across: Sequence[Row], up: Sequence[Row], axes: Axes) -> None:
    shades = shades_of([*across, *up])
    scenarios = list(dict.fromkeys(row.theirs.scenario for row in across))
    at = {(row.theirs.scenario, row.theirs.cca): row for row in up}
    for row in across:
        other = at.get((row.theirs.scenario, row.theirs.cca))
        if other is None:
            continue
        marker = _MARKERS[scenarios.index(row.theirs.scenario) % len(_MARKERS)]
        label = cca_name(row.theirs.cca) if row.theirs.scenario == scenarios[0] else None
        axes.plot(row.here.mean, other.here.mean, marker, color=shades[row.theirs.cca], label=label)
    axes.set_xlabel(axis_of(across[0]))
    axes.set_ylabel(axis_of(up[0]))
    axes.set_title(heading(scenarios[0] if len(scenarios) == 1 else "", name), fontsize=9)
    if len(scenarios) > 1:
        for scenario, marker in zip(scenarios, _MARKERS, strict=False):
            axes.plot([], [], marker, color="#777777", label=scenario)
    axes.legend(fontsize="x-small")
