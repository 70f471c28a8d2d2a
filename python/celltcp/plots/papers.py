"""Published figures and ours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.plots.palette import colours
from celltcp.plots.style import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from celltcp.papers.outcome import Group, Outcome

_BARS_PER_ROW = 2
_SPIDERS_PER_ROW = 3


def draw_outcomes(found: Sequence[Outcome]) -> Figure:
    """Draws outcomes in the forms that their tables have, one under the other.

    Bars have a panel per scenario and phase, with published figures hatched beside ours. Spider plots
    have one per scenario, with an axis per quantity that ends at the largest mean.
    """
    bars = [
        (each.table.figure, group)
        for each in found
        if each.table.form == "bars"
        for group in each.groups
    ]
    spiders = [
        (each.table.figure, [group for group in each.groups if group.scenario == scenario])
        for each in found
        if each.table.form == "spider"
        for scenario in dict.fromkeys(group.scenario for group in each.groups)
    ]
    lines = -(-len(bars) // _BARS_PER_ROW), -(-len(spiders) // _SPIDERS_PER_ROW)
    picture = figure(9.2, 2.8 * lines[0] + 3.6 * lines[1])
    heights = [2.8] * lines[0] + [3.6] * lines[1]
    grid = picture.add_gridspec(sum(lines), _BARS_PER_ROW * _SPIDERS_PER_ROW, height_ratios=heights)
    for place, (name, group) in enumerate(bars):
        row, column = divmod(place, _BARS_PER_ROW)
        first = column * _SPIDERS_PER_ROW
        _draw(picture.add_subplot(grid[row, first : first + _SPIDERS_PER_ROW]), name, group)
    for place, (name, groups) in enumerate(spiders):
        row, column = divmod(place, _SPIDERS_PER_ROW)
        first = column * _BARS_PER_ROW
        spot = grid[lines[0] + row, first : first + _BARS_PER_ROW]
        _draw_spider(picture.add_subplot(spot, projection="polar"), name, groups, legend=place == 0)
    return picture


def _draw_spider(axes: Axes, name: str, groups: Sequence[Group], *, legend: bool) -> None:
    shades = colours(row.theirs.cca for row in groups[0].rows)
    angles = [2 * math.pi * place / len(groups) for place in range(len(groups))]
    largest = [max(row.here.mean for row in group.rows) or 1.0 for group in groups]
    for rows in zip(*(group.rows for group in groups), strict=True):
        shares = [row.here.mean / most for row, most in zip(rows, largest, strict=True)]
        cca = rows[0].theirs.cca
        axes.plot([*angles, angles[0]], [*shares, shares[0]], color=shades[cca], label=cca)
    ends = zip(groups, largest, strict=True)
    axes.set_xticks(angles, [f"{each.quantity}\n{most:.3g} {each.unit}" for each, most in ends])
    axes.set_ylim(0, 1)
    axes.set_yticks([0.5, 1.0], ["", ""])
    axes.set_title(f"{groups[0].scenario}\n{name}")
    if legend:
        axes.legend(loc="upper left", bbox_to_anchor=(-0.35, 1.15), fontsize="x-small")


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
                math.nan if mean is None else mean,
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
