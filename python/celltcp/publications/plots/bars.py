"""Bars: values by CCA, a panel per place, phase and quantity; published values are hatched."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from celltcp.publications.agreement import Group, Outcome, Row
from celltcp.publications.plots.panel import Panel, axis_of, cca_name, colors_of, heading


def bar_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per group of rows, or per quantity where all places have the same one CCA."""
    if len(outcome.groups) > 1 and len({row.published.cca for row in outcome.rows}) == 1:
        by_quantity: dict[str, list[Group]] = {}
        for group in outcome.groups:
            by_quantity.setdefault(group.quantity, []).append(group)
        return [
            Panel(functools.partial(_draw_places, outcome.table.figure, groups))
            for groups in by_quantity.values()
        ]
    return [Panel(functools.partial(_draw, outcome.table.figure, group)) for group in outcome.groups]


def _draw(name: str, group: Group, axes: Axes) -> None:
    published = _draw_rows(group.rows, axes)
    names = [_broken(cca_name(row.published.cca)) for row in group.rows]
    long = any("\n" in each for each in names) or len(names) > 6
    axes.set_xticks(range(len(names)), names, fontsize=7 if long else None)
    known = group.ranks is not None and not math.isnan(group.ranks.rho)
    rho = f"rank correlation {group.ranks.rho:+.2f}" if group.ranks and known else ""
    axes.set_title(heading(group.title, _remarks(name, rho, published)), fontsize=9)


def _broken(name: str) -> str:
    """Returns the name of a CCA with its parameters in lines of their own."""
    return name.replace(" (", "\n(").replace(":", ":\n").replace(",", ",\n")


def _remarks(name: str, rho: str, published: bool) -> str:
    return "; ".join(each for each in (name, rho, "hatched: published" if published else "") if each)


def _draw_places(name: str, groups: Sequence[Group], axes: Axes) -> None:
    """Draws the places of one CCA side by side, without the common parts of their names."""
    rows = [row for group in groups for row in group.rows]
    published = _draw_rows(rows, axes)
    names = [row.published.scenario for row in rows]
    words = [each.split() for each in names]
    common = {word for word in words[0] if all(word in each for each in words)}
    short = [" ".join(word for word in each if word not in common) for each in words]
    axes.set_xticks(range(len(rows)), short if all(short) else names, fontsize=8)
    if common and all(short):
        axes.set_xlabel(" ".join(word for word in words[0] if word in common))
    axes.set_title(heading(cca_name(rows[0].published.cca), _remarks(name, "", published)), fontsize=9)


def _draw_rows(rows: Sequence[Row], axes: Axes) -> bool:
    """Draws a bar per row, next to the published one; returns whether there are published ones."""
    shades = colors_of(rows)
    published = any(row.published.value is not None for row in rows)
    for index, row in enumerate(rows):
        shade = shades[row.published.cca]
        ours = (0.2 if published else 0.0, shade, row.ours.mean, row.ours.ci95)
        published_bar = (-0.2, "white", row.published.value, row.published.ci95)
        if row.ours.mean == 0:
            axes.annotate("0", (index + ours[0], 0), (0, 2), textcoords="offset points", ha="center")
        for side, fill, mean, half in (published_bar, ours):
            axes.bar(
                index + side,
                math.nan if mean is None else mean,
                0.36,
                yerr=half,
                color=fill,
                edgecolor=shade,
                hatch="" if fill == shade else "////",
                error_kw={"lw": 0.8},
            )
    # A few bars are no wider than many.
    spare = max(0.0, (4 - len(rows)) / 2)
    axes.set_xlim(-0.6 - spare, len(rows) - 0.4 + spare)
    if all(not row.ours.mean < 0 for row in rows):
        axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)
    axes.set_axisbelow(True)
    axes.set_ylabel(axis_of(rows[0]))
    return published
