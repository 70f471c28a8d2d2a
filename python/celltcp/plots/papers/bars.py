"""Bars: published figures, hatched, beside ours, with a panel per place, phase and quantity."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from celltcp.plots.papers.panel import Panel, axis_of, shades_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from celltcp.papers.outcome import Group, Outcome


def bar_panels(found: Outcome) -> list[Panel]:
    """Returns a panel per group of rows."""
    return [Panel(functools.partial(_draw, found.table.figure, group)) for group in found.groups]


def _draw(name: str, group: Group, axes: Axes) -> None:
    shades = shades_of(group.rows)
    published = any(row.theirs.value is not None for row in group.rows)
    for place, row in enumerate(group.rows):
        shade = shades[row.theirs.cca]
        ours = (0.2 if published else 0.0, shade, row.here.mean, row.here.ci95)
        theirs = (-0.2, "white", row.theirs.value, row.theirs.ci95)
        for side, fill, mean, half in (theirs, ours):
            axes.bar(
                place + side,
                math.nan if mean is None else mean,
                0.36,
                yerr=half,
                color=fill,
                edgecolor=shade,
                hatch="" if fill == shade else "////",
                error_kw={"lw": 0.8},
            )
    names = [row.theirs.cca.replace(":", ":\n").replace(",", ",\n") for row in group.rows]
    long = any("\n" in each for each in names) or len(names) > 6
    axes.set_xticks(range(len(names)), names, fontsize=7 if long else None)
    if all(not row.here.mean < 0 for row in group.rows):
        axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel(axis_of(group.rows[0]))
    rho = f"; rank correlation {group.ranks.rho:+.2f}" if group.ranks else ""
    hatched = "; hatched: published" if published else ""
    axes.set_title(f"{group.title}\n{name}{rho}{hatched}", fontsize=9)
