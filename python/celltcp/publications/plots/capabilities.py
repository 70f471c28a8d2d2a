"""Table of capabilities: measured words, coloured by whether they agree with the published ones."""

from __future__ import annotations

import functools

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from celltcp.publications.agreement import Outcome
from celltcp.publications.capabilities import NOT_AVAILABLE, Capabilities, Word, capabilities
from celltcp.publications.plots.panel import Panel, heading

#: Colours of cells that agree, that differ, and that cannot be measured.
_SAME, _OTHER, _NONE = "#D5EFE3", "#F8D9C4", "#EEEEEE"


def capability_panels(result: Outcome) -> list[Panel]:
    """Returns the panel with the table; none if the entries have no cells."""
    if not result.table.cells:
        return []
    return [Panel(functools.partial(_draw, result.table.figure, capabilities(result)))]


def _draw(name: str, measured: Capabilities, axes: Axes) -> None:
    words = [[measured.words[line, column] for column in measured.columns] for line in measured.lines]
    table = axes.table(
        cellText=[[_text(word) for word in line] for line in words],
        cellColours=[[_colour(word) for word in line] for line in words],
        rowLabels=measured.lines,
        colLabels=measured.columns,
        cellLoc="center",
        bbox=Bbox.from_bounds(0.2, 0.0, 0.8, 1.0),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(7.5)
    axes.axis("off")
    axes.set_title(heading(name, "measured; in brackets the publication where it differs"), fontsize=9)


def _text(word: Word) -> str:
    return f"{word.here}\n({word.cell.published_text})" if word.differs else word.here


def _colour(word: Word) -> str:
    return _NONE if word.here == NOT_AVAILABLE else _OTHER if word.differs else _SAME
