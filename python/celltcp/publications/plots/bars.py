"""Bars: values by CCA, a panel per condition, phase and quantity; published values are hatched."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from celltcp.publications.agreement import Group, Outcome, Row
from celltcp.publications.plots.panel import Panel, axis_of, cca_name, colors_of, heading


def bar_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per group of rows, or per quantity if all conditions have the same single CCA."""
    if len(outcome.groups) > 1 and len({row.published.cca for row in outcome.rows}) == 1:
        by_quantity: dict[str, list[Group]] = {}
        for group in outcome.groups:
            by_quantity.setdefault(group.quantity, []).append(group)
        return [
            Panel(functools.partial(_draw_conditions, outcome.table.figure, groups))
            for groups in by_quantity.values()
        ]
    return [Panel(functools.partial(_draw, outcome.table.figure, group)) for group in outcome.groups]


def _draw(name: str, group: Group, axes: Axes) -> None:
    has_published = _draw_rows(group.rows, axes)
    names = [_wrap(cca_name(row.published.cca)) for row in group.rows]
    is_long = any("\n" in name for name in names) or len(names) > 6
    axes.set_xticks(range(len(names)), names, fontsize=7 if is_long else None)
    has_rho = group.ranks is not None and not math.isnan(group.ranks.rho)
    rho = f"rank correlation {group.ranks.rho:+.2f}" if group.ranks and has_rho else ""
    axes.set_title(heading(group.title, _subtitle(name, rho, has_published)), fontsize=9)


def _wrap(name: str) -> str:
    """Returns the name of a CCA with its parameters in lines of their own."""
    return name.replace(" (", "\n(").replace(":", ":\n").replace(",", ",\n")


def _subtitle(name: str, rho: str, has_published: bool) -> str:
    return "; ".join(filter(None, (name, rho, "hatched: published" if has_published else "")))


def _draw_conditions(name: str, groups: Sequence[Group], axes: Axes) -> None:
    """Draws the conditions of one CCA side by side, without the common parts of their names."""
    rows = [row for group in groups for row in group.rows]
    has_published = _draw_rows(rows, axes)
    names = [row.published.scenario for row in rows]
    words = [name.split() for name in names]
    common = set(words[0]).intersection(*words)
    short_names = [" ".join(word for word in name if word not in common) for name in words]
    axes.set_xticks(range(len(rows)), short_names if all(short_names) else names, fontsize=8)
    if common and all(short_names):
        axes.set_xlabel(" ".join(word for word in words[0] if word in common))
    subtitle = _subtitle(name, "", has_published)
    axes.set_title(heading(cca_name(rows[0].published.cca), subtitle), fontsize=9)


def _draw_rows(rows: Sequence[Row], axes: Axes) -> bool:
    """Draws a bar per row, next to the published one; returns whether there are published ones."""
    shades = colors_of(rows)
    has_published = any(row.published.value is not None for row in rows)
    our_offset = 0.2 if has_published else 0.0
    for index, row in enumerate(rows):
        shade = shades[row.published.cca]
        our_bar = (our_offset, shade, row.ours.mean, row.ours.ci95)
        published_bar = (-0.2, "white", row.published.value, row.published.ci95)
        if row.ours.mean == 0:
            axes.annotate("0", (index + our_offset, 0), (0, 2), textcoords="offset points", ha="center")
        for offset, fill, mean, ci95 in (published_bar, our_bar):
            axes.bar(
                index + offset,
                math.nan if mean is None else mean,
                0.36,
                yerr=ci95,
                color=fill,
                edgecolor=shade,
                hatch="" if fill == shade else "////",
                error_kw={"lw": 0.8},
            )
    # Margins keep a few bars from being wider than many.
    margin = max(0.0, (4 - len(rows)) / 2)
    axes.set_xlim(-0.6 - margin, len(rows) - 0.4 + margin)
    if all(not row.ours.mean < 0 for row in rows):
        axes.set_ylim(bottom=0)
    axes.grid(axis="x", visible=False)
    axes.set_axisbelow(True)
    axes.set_ylabel(axis_of(rows[0]))
    return has_published
