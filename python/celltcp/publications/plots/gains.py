"""Gains of splits: lines over one axis of a grid, with a panel per combination of other values."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.grids import Grid
from celltcp.publications.plots.panel import Panel, axis_of, heading, legend_above

#: Colours of lines, from dark to light (Okabe and Ito), and their markers.
_LINES = (
    *(("#000000", "o"), ("#0072B2", "s"), ("#009E73", "^")),
    *(("#D55E00", "D"), ("#E69F00", "v"), ("#CC79A7", "P")),
)

#: Maximum number of characters in a line of a title.
_TITLE_WIDTH = 34


def gain_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per CCA and combination of the values of `Grid.panels`."""
    grid = outcome.table.grid
    if grid is None:
        return []
    panels: dict[tuple[str, ...], list[Row]] = {}
    for row in outcome.rows:
        if row.published.quantity == "split_gain":
            cell = grid.cells[row.published.scenario]
            key = (row.published.cca, *(cell[axis] for axis in grid.panels))
            panels.setdefault(key, []).append(row)
    return [
        Panel(functools.partial(_draw, outcome.table.figure, grid, key, rows))
        for key, rows in panels.items()
    ]


def _draw(name: str, grid: Grid, key: tuple[str, ...], rows: Sequence[Row], axes: Axes) -> None:
    across = grid.values(grid.across)
    lines = grid.values(grid.lines)
    for line, (shade, marker) in zip(lines, _LINES, strict=False):
        points = {}
        for row in rows:
            cell = grid.cells[row.published.scenario]
            if cell[grid.lines] == line:
                points[across.index(cell[grid.across])] = row
        xs = sorted(points)
        means = [points[x].ours.mean for x in xs]
        half_widths = [points[x].ours.ci95 or math.nan for x in xs]
        style: dict[str, Any] = {"color": shade, "marker": marker, "ms": 4, "lw": 1.1}
        axes.errorbar(
            xs, means, half_widths, capsize=2, label=_axis_value_text(grid.lines, line), **style
        )
        for x in xs:
            if (published_gain := points[x].published.value) is not None:
                star: dict[str, Any] = {"ms": 13, "mfc": "none", "mec": shade, "ls": "none"}
                axes.plot(x, published_gain, "*", label=f"published: {published_gain:g} %", **star)
    ranges = [
        row.published.claim
        for row in rows
        if row.published.claim and row.published.claim.relation == "range"
    ]
    if ranges:
        label = f"published: {ranges[0].low:g} to {ranges[0].high:g} %"
        axes.axhspan(ranges[0].low, ranges[0].high, color="#999999", alpha=0.2, lw=0, label=label)
    axes.axhline(0, color="#777777", lw=0.6)
    axes.set_xticks(range(len(across)), across)
    axes.set_xlim(-0.3, len(across) - 0.7)
    axes.set_xlabel({"size": "file size", "loss": "loss towards the phone"}.get(grid.across, ""))
    axes.set_ylabel(axis_of(rows[0]))
    texts = [_axis_value_text(axis, value) for axis, value in zip(grid.panels, key[1:], strict=True)]
    caption = textwrap.fill("; ".join(texts), _TITLE_WIDTH)
    axes.set_title(heading(name, key[0], caption), fontsize=9)
    legend_above(axes)


def _axis_value_text(axis: str, value: str) -> str:
    """Returns a value of an axis with the name of the axis."""
    if axis == "split":
        return f"RAN:WAN {value.replace('-', ':')} ms"
    return f"{'MCS' if axis == 'mcs' else axis} {value}"
