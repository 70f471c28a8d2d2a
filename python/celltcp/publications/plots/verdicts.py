"""Verdicts: claims of a publication, with the simulated means and whether they hold."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import Panel, cca_name, name_of, number_text

#: Maximum number of verdicts in a panel.
_MAX_ROWS = 40

#: Marker and colour of a claim that holds, does not hold, or is unknown.
_STYLES = {True: ("P", "#009E73"), False: ("X", "#D55E00"), None: ("o", "#999999")}


def verdict_panels(outcome: Outcome) -> list[Panel]:
    """Returns panels with a line per claim."""
    rows = [row for row in outcome.rows if row.published.claim is not None]
    parts = [rows[start : start + _MAX_ROWS] for start in range(0, len(rows), _MAX_ROWS)]
    return [
        Panel(functools.partial(_draw, outcome.table.figure, part), height=0.24 * (len(part) + 1) + 0.6)
        for part in parts
    ]


def _draw(name: str, rows: Sequence[Row], axes: Axes) -> None:
    headings = {
        0.02: "place",
        0.33: "CCA",
        0.42: "what is said",
        0.80: "mean here; relation that stands for it",
    }
    for left, text in headings.items():
        axes.text(left, -1, text, va="center", fontsize=7, fontweight="bold")
    for line, row in enumerate(rows):
        marker, shade = _STYLES[row.holds]
        condition = ", ".join(filter(None, (row.published.scenario, row.published.part)))
        unit = f" {row.published.unit}".rstrip()
        mean = "-" if math.isnan(row.ours.mean) else f"{number_text(row.ours.mean)}{unit}"
        claim = row.published.claim.text if row.published.claim else ""
        statement = textwrap.shorten(row.published.note or claim, 56, placeholder=" ...")
        relation = f"{name_of(row.published.quantity)} {mean}; {claim}"
        axes.plot(0.0, line, marker, color=shade, ms=6)
        texts = {
            0.02: condition,
            0.33: cca_name(row.published.cca),
            0.42: statement,
            0.80: textwrap.shorten(relation, 52, placeholder=" ..."),
        }
        for left, text in texts.items():
            axes.text(left, line, text, va="center", fontsize=7)
    axes.set_xlim(-0.02, 1.15)
    axes.set_ylim(len(rows) - 0.5, -1.5)
    axes.axis("off")
    legend = "+ holds here, x does not"
    axes.set_title(f"{name}: {legend}" if name else legend, fontsize=9, loc="left")
