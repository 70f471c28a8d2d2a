"""Places: bars of all places side by side, a panel per quantity and a colour per CCA."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from celltcp.present.palette import colours
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import Panel, axis_of, by_scenario, cca_name

#: Bars of this many places have room for their names side by side.
_LEVEL = 3

#: Maximum of letters of a line of the name of a place.
_LETTERS = 11


def place_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per quantity with the bars of each place."""
    shades = colours(dict.fromkeys(row.published.cca for row in outcome.rows))
    quantities: dict[str, dict[str, list[Row]]] = {}
    for scenario, quantity, rows in by_scenario(outcome):
        quantities.setdefault(quantity, {})[scenario] = rows
    bars = [
        {name for rows in places.values() for name in _bar_names(rows)}
        for places in quantities.values()
    ]
    # All panels have the same colours, so the legend is in the one with most bars.
    fullest = max(range(len(bars)), key=lambda number: len(bars[number]), default=0)
    return [
        Panel(functools.partial(_draw, outcome.table.figure, shades, places, index == fullest))
        for index, places in enumerate(quantities.values())
    ]


def _bar_names(rows: Sequence[Row]) -> list[str]:
    """Returns the names of the bars of a place."""
    published = any(row.published.value is not None for row in rows)
    return [*(["published"] if published else []), *(row.published.cca for row in rows)]


def _draw(
    name: str,
    shades: Mapping[str, str],
    places: Mapping[str, Sequence[Row]],
    has_legend: bool,
    axes: Axes,
) -> None:
    every = [row for rows in places.values() for row in rows]
    columns = set(_bar_names(every))
    names = [name for name in ("published", *shades) if name in columns]
    width = 0.8 / len(names)
    for index, rows in enumerate(places.values()):
        for row in rows:
            shade = shades[row.published.cca]
            at = index + (names.index(row.published.cca) - (len(names) - 1) / 2) * width
            label = cca_name(row.published.cca)
            _bar(axes, at, width, row.ours.mean, row.ours.ci95, shade, label)
            if row.ours.mean == 0:
                axes.annotate("0", (at, 0), (0, 2), textcoords="offset points", ha="center", fontsize=7)
            if row.published.value is not None:
                at = index - (len(names) - 1) / 2 * width
                _bar(axes, at, width, row.published.value, row.published.ci95, None, "published")
    short = [_short(scenario) for scenario in places]
    is_level = len(short) <= _LEVEL
    axes.set_xticks(
        range(len(short)),
        short,
        fontsize=8,
        rotation=0 if is_level else 30,
        ha="center" if is_level else "right",
    )
    # A few bars are no wider than many.
    spare = max(0.0, (3 - len(short)) / 2)
    axes.set_xlim(-0.6 - spare, len(short) - 0.4 + spare)
    axes.set_ylim(0, axes.get_ylim()[1] * (1.35 if has_legend else 1.0))
    axes.grid(axis="x", visible=False)
    axes.set_axisbelow(True)
    axes.set_ylabel(axis_of(every[0]))
    axes.set_title(name, fontsize=9)
    if has_legend:
        handles, labels = axes.get_legend_handles_labels()
        one_each = dict(
            sorted(zip(labels, handles, strict=True), key=lambda each: each[0] != "published")
        )
        axes.legend(one_each.values(), one_each.keys(), fontsize="x-small", loc="upper right")


def _short(place: str) -> str:
    """Returns the name of a scenario without its folders, and other names wrapped between words."""
    if " " not in place:
        return place.rpartition("/")[2]
    return textwrap.fill(place, _LETTERS, break_long_words=False, break_on_hyphens=False)


def _bar(
    axes: Axes, at: float, width: float, mean: float, half: float | None, shade: str | None, label: str
) -> None:
    """Draws a bar; one without a colour is hatched."""
    axes.bar(
        at,
        mean,
        width * 0.9,
        yerr=None if half is None or math.isnan(half) else half,
        color=shade or "white",
        edgecolor=shade or "#555555",
        hatch="" if shade else "////",
        error_kw={"lw": 0.8},
        label=label,
    )
