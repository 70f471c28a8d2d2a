"""Conditions: bars of all conditions side by side, a panel per quantity and a colour per CCA."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from celltcp.present.palette import colours
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import Panel, axis_of, by_condition, cca_name

#: Maximum number of conditions whose names have room side by side.
_MAX_HORIZONTAL_NAMES = 3

#: Maximum number of characters in a line of the name of a condition.
_NAME_WIDTH = 11


def condition_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per quantity with the bars of each condition."""
    shades = colours(dict.fromkeys(row.published.cca for row in outcome.rows))
    quantities: dict[str, dict[str, list[Row]]] = {}
    for scenario, quantity, rows in by_condition(outcome):
        quantities.setdefault(quantity, {})[scenario] = rows
    bars = [
        {name for rows in places.values() for name in _bar_names(rows)}
        for places in quantities.values()
    ]
    # All panels have the same colours, so the legend is in the one with most bars.
    fullest = max(range(len(bars)), key=lambda index: len(bars[index]), default=0)
    return [
        Panel(functools.partial(_draw, outcome.table.figure, shades, places, index == fullest))
        for index, places in enumerate(quantities.values())
    ]


def _bar_names(rows: Sequence[Row]) -> list[str]:
    """Returns the names of the bars of a condition."""
    has_published = any(row.published.value is not None for row in rows)
    return [*(["published"] if has_published else []), *(row.published.cca for row in rows)]


def _draw(
    name: str,
    shades: Mapping[str, str],
    places: Mapping[str, Sequence[Row]],
    has_legend: bool,
    axes: Axes,
) -> None:
    all_rows = [row for rows in places.values() for row in rows]
    bar_names = set(_bar_names(all_rows))
    names = [name for name in ("published", *shades) if name in bar_names]
    width = 0.8 / len(names)
    for index, rows in enumerate(places.values()):
        for row in rows:
            shade = shades[row.published.cca]
            x = index + (names.index(row.published.cca) - (len(names) - 1) / 2) * width
            label = cca_name(row.published.cca)
            _draw_bar(axes, x, width, row.ours.mean, row.ours.ci95, shade, label)
            if row.ours.mean == 0:
                axes.annotate("0", (x, 0), (0, 2), textcoords="offset points", ha="center", fontsize=7)
            if row.published.value is not None:
                x = index - (len(names) - 1) / 2 * width
                _draw_bar(axes, x, width, row.published.value, row.published.ci95, None, "published")
    short_names = [_short_name(scenario) for scenario in places]
    is_horizontal = len(short_names) <= _MAX_HORIZONTAL_NAMES
    axes.set_xticks(
        range(len(short_names)),
        short_names,
        fontsize=8,
        rotation=0 if is_horizontal else 30,
        ha="center" if is_horizontal else "right",
    )
    # Margins keep a few bars from being wider than many.
    margin = max(0.0, (3 - len(short_names)) / 2)
    axes.set_xlim(-0.6 - margin, len(short_names) - 0.4 + margin)
    axes.set_ylim(0, axes.get_ylim()[1] * (1.35 if has_legend else 1.0))
    axes.grid(axis="x", visible=False)
    axes.set_axisbelow(True)
    axes.set_ylabel(axis_of(all_rows[0]))
    axes.set_title(name, fontsize=9)
    if has_legend:
        handles, labels = axes.get_legend_handles_labels()
        pairs = sorted(zip(labels, handles, strict=True), key=lambda pair: pair[0] != "published")
        unique = dict(pairs)
        axes.legend(unique.values(), unique.keys(), fontsize="x-small", loc="upper right")


def _short_name(condition: str) -> str:
    """Returns the name of a scenario without its folders; other names are wrapped between words."""
    if " " not in condition:
        return condition.rpartition("/")[2]
    return textwrap.fill(condition, _NAME_WIDTH, break_long_words=False, break_on_hyphens=False)


def _draw_bar(
    axes: Axes, x: float, width: float, mean: float, ci95: float | None, shade: str | None, label: str
) -> None:
    """Draws a bar; it is hatched without a colour."""
    axes.bar(
        x,
        mean,
        width * 0.9,
        yerr=None if ci95 is None or math.isnan(ci95) else ci95,
        color=shade or "white",
        edgecolor=shade or "#555555",
        hatch="" if shade else "////",
        error_kw={"lw": 0.8},
        label=label,
    )
