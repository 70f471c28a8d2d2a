"""Verdicts: what a publication says in words, with what comes out here and whether it holds."""

from __future__ import annotations

import functools
import math
import textwrap
from typing import TYPE_CHECKING

from celltcp.plots.papers.panel import Panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from celltcp.papers.outcome import Outcome, Row

#: Most verdicts of a panel.
_ROWS = 40

#: Looks of a verdict that holds, that does not, and that cannot be judged.
_LOOKS = {True: ("P", "#009E73"), False: ("X", "#D55E00"), None: ("o", "#999999")}


def verdict_panels(found: Outcome) -> list[Panel]:
    """Returns panels with a line per claim."""
    rows = [row for row in found.rows if row.theirs.claim is not None]
    return [
        Panel(
            functools.partial(_draw, found.table.figure, rows[start : start + _ROWS]),
            height=0.24 * len(rows[start : start + _ROWS]) + 0.6,
        )
        for start in range(0, len(rows), _ROWS)
    ]


def _draw(name: str, rows: Sequence[Row], axes: Axes) -> None:
    for line, row in enumerate(rows):
        marker, shade = _LOOKS[row.holds]
        place = f"{row.theirs.scenario}{f', {row.theirs.part}' if row.theirs.part else ''}"
        mean = "-" if math.isnan(row.here.mean) else f"{row.here.mean:.3g}"
        claim = row.theirs.claim.text if row.theirs.claim else ""
        said = textwrap.shorten(row.theirs.note or claim, 62, placeholder=" ...")
        axes.plot(0.0, line, marker, color=shade, ms=6)
        texts = {
            0.02: place,
            0.33: row.theirs.cca,
            0.42: said,
            0.80: f"{row.theirs.quantity} {mean}; {claim}",
        }
        for left, text in texts.items():
            axes.text(left, line, text, va="center", fontsize=7)
    axes.set_xlim(-0.02, 1.15)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axis("off")
    axes.set_title(f"{name}: + holds here, x does not", fontsize=9, loc="left")
