"""Published means and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.plots.palette import colours
from celltcp.plots.style import figure
from celltcp.statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from celltcp.papers.beside import Beside

_PER_ROW = 2


def draw_beside(found: Sequence[Beside]) -> Figure:
    """A panel per scenario: published mean in white, ours in colour, both with their 95 % intervals."""
    rows = -(-len(found) // _PER_ROW)
    columns = min(len(found), _PER_ROW)
    picture = figure(4.6 * columns, 2.8 * rows)
    panels = picture.subplots(rows, columns, squeeze=False).ravel()
    for each, axes in zip(found, panels, strict=False):
        _draw(axes, each)
    for axes in panels[len(found) :]:
        axes.set_visible(False)
    return picture


def _draw(axes: Axes, each: Beside) -> None:
    shades = colours(theirs.cca for theirs in each.published)
    for place, theirs in enumerate(each.published):
        shade = shades[theirs.cca]
        ours = estimate(each.ours[theirs.cca])
        means = {-0.2: ("white", theirs.goodput_mbps, theirs.ci95), 0.2: (shade, ours.mean, ours.ci95)}
        for side, (fill, mean, half) in means.items():
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
    axes.set_xticks(range(len(each.published)), [theirs.cca for theirs in each.published])
    axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("goodput, Mbit/s")
    rho = f", rank correlation {each.ranks.rho:+.2f}" if each.ranks else ""
    axes.set_title(f"{each.scenario}{rho}\n(hatched: published)")
