"""Published figures and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.plots.palette import colours
from celltcp.plots.style import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from celltcp.papers.outcome import Group, Outcome

_PER_ROW = 2


def draw_outcomes(found: Sequence[Outcome]) -> Figure:
    """Draws published figures (hatched) and ours with intervals, a panel per scenario and phase."""
    groups = [(each.table.figure, group) for each in found for group in each.groups]
    rows = -(-len(groups) // _PER_ROW)
    columns = min(len(groups), _PER_ROW)
    picture = figure(4.6 * columns, 2.8 * rows)
    panels = picture.subplots(rows, columns, squeeze=False).ravel()
    for (name, group), axes in zip(groups, panels, strict=False):
        _draw(axes, name, group)
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    return picture


def _draw(axes: Axes, name: str, group: Group) -> None:
    shades = colours(row.theirs.cca for row in group.rows)
    for place, row in enumerate(group.rows):
        shade = shades[row.theirs.cca]
        sides = {
            -0.2: ("white", row.theirs.value, row.theirs.ci95),
            0.2: (shade, row.here.mean, row.here.ci95),
        }
        for side, (fill, mean, half) in sides.items():
            axes.bar(
                place + side,
                mean,
                0.36,
                yerr=half,
                color=fill,
                edgecolor=shade,
                hatch="" if side > 0 else "////",
                error_kw={"lw": 0.8},
            )
    axes.set_xticks(range(len(group.rows)), [row.theirs.cca for row in group.rows])
    axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel(f"{group.quantity}, {group.unit}")
    rho = f"; rank correlation {group.ranks.rho:+.2f}" if group.ranks else ""
    axes.set_title(f"{group.title}\n{name}{rho}; hatched: published")
