"""Capability tables: measured cell texts, such as Yes or No, next to the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.published_table import Cell

#: Text of cells that this build cannot measure.
NOT_AVAILABLE = "not available"
#: Text of cells that were not run.
NOT_RUN = "-"

#: Texts for the levels of end-to-end semantics.
_SEMANTICS = {0: "No", 1: "Yes*", 2: "Yes+"}


@dataclass(frozen=True)
class CapabilityCell:
    """Cell of the table with its measured text."""

    cell: Cell
    measured_text: str
    row: Row | None = None

    @property
    def differs(self) -> bool:
        """Whether the measured text differs from the published one."""
        return self.measured_text not in (self.cell.published_text, NOT_AVAILABLE, NOT_RUN)


@dataclass(frozen=True)
class CapabilityTable:
    """Cells by the labels of their row and column."""

    row_labels: list[str]
    column_labels: list[str]
    cells: Mapping[tuple[str, str], CapabilityCell]

    @property
    def differing(self) -> list[CapabilityCell]:
        """The cells that differ, row by row."""
        keys = ((row, column) for row in self.row_labels for column in self.column_labels)
        return [self.cells[key] for key in keys if key in self.cells and self.cells[key].differs]


def capability_table(outcome: Outcome) -> CapabilityTable:
    """Returns the table of an outcome whose entries have cells."""
    rows = {row.published.cell: row for row in outcome.rows}
    measurable = {entry.cell for entry in outcome.table.entries}
    cells = [
        CapabilityCell(cell, _measured_text(cell, rows[cell]), rows[cell])
        if cell in rows
        else CapabilityCell(cell, NOT_RUN if cell in measurable else NOT_AVAILABLE)
        for cell in outcome.table.cells
    ]
    return CapabilityTable(
        list(dict.fromkeys(cell.line for cell in outcome.table.cells)),
        list(dict.fromkeys(cell.column for cell in outcome.table.cells)),
        {(cell.cell.line, cell.cell.column): cell for cell in cells},
    )


def _measured_text(cell: Cell, row: Row) -> str:
    """Returns the published text if its claim holds in the measurement, otherwise the opposite.

    Semantics that are measured without a reference have the text of their lowest level.
    """
    if row.holds is None:
        return NOT_RUN
    if (
        row.published.quantity == "semantics"
        and row.published.claim
        and not row.published.claim.is_relative
    ):
        return _SEMANTICS[int(min(row.values))]
    if row.holds:
        return cell.published_text
    return "No" if cell.published_text == "Yes" else "Yes"
