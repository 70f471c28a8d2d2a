"""Plot of a capability table: measured cell texts, coloured by agreement with the publication."""

from __future__ import annotations

import functools

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from celltcp.publications.agreement import Outcome
from celltcp.publications.capabilities import (
    NOT_AVAILABLE,
    CapabilityCell,
    CapabilityTable,
    capability_table,
)
from celltcp.publications.plots.panel import Panel, heading

#: Colours of cells that agree, that differ, and that cannot be measured.
_AGREES, _DIFFERS, _NOT_AVAILABLE = "#D5EFE3", "#F8D9C4", "#EEEEEE"


def capability_panels(outcome: Outcome) -> list[Panel]:
    """Returns the panel with the table; none if the entries have no cells."""
    if not outcome.table.cells:
        return []
    return [Panel(functools.partial(_draw, outcome.table.figure, capability_table(outcome)))]


def _draw(name: str, measured: CapabilityTable, axes: Axes) -> None:
    rows = [
        [measured.cells[row, column] for column in measured.column_labels]
        for row in measured.row_labels
    ]
    table = axes.table(
        cellText=[[_text(cell) for cell in row] for row in rows],
        cellColours=[[_colour(cell) for cell in row] for row in rows],
        rowLabels=measured.row_labels,
        colLabels=measured.column_labels,
        cellLoc="center",
        bbox=Bbox.from_bounds(0.2, 0.0, 0.8, 1.0),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(7.5)
    axes.axis("off")
    axes.set_title(heading(name, "measured; in brackets the publication where it differs"), fontsize=9)


def _text(cell: CapabilityCell) -> str:
    if cell.differs:
        return f"{cell.measured_text}\n({cell.cell.published_text})"
    return cell.measured_text


def _colour(cell: CapabilityCell) -> str:
    if cell.measured_text == NOT_AVAILABLE:
        return _NOT_AVAILABLE
    return _DIFFERS if cell.differs else _AGREES
