"""Capabilities: a table of words as measured, beside the same table as published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.published_table import Cell

#: Words for what this build does not have, and for what was not run.
NOT_AVAILABLE = "not available"
NOT_RUN = "-"

#: Words for the levels on which end-to-end semantics are kept.
_SEMANTICS = {0: "No", 1: "Yes*", 2: "Yes+"}


@dataclass(frozen=True)
class Word:
    """A cell of the table with the word that was measured."""

    cell: Cell
    here: str
    row: Row | None = None

    @property
    def differs(self) -> bool:
        """Whether another word was measured than is published."""
        return self.here not in (self.cell.published_text, NOT_AVAILABLE, NOT_RUN)


@dataclass(frozen=True)
class Capabilities:
    """The table by line and column."""

    lines: list[str]
    columns: list[str]
    words: Mapping[tuple[str, str], Word]

    @property
    def differing(self) -> list[Word]:
        """The cells that differ, line by line."""
        places = ((line, column) for line in self.lines for column in self.columns)
        result = (self.words[place] for place in places if place in self.words)
        return [each for each in result if each.differs]


def capabilities(result: Outcome) -> Capabilities:
    """Returns the table of an outcome whose entries have cells."""
    rows = {row.published.cell: row for row in result.rows}
    known = {each.cell for each in result.table.entries}
    words = [
        Word(cell, _word(cell, rows[cell]), rows[cell])
        if cell in rows
        else Word(cell, NOT_RUN if cell in known else NOT_AVAILABLE)
        for cell in result.table.cells
    ]
    return Capabilities(
        list(dict.fromkeys(cell.line for cell in result.table.cells)),
        list(dict.fromkeys(cell.column for cell in result.table.cells)),
        {(each.cell.line, each.cell.column): each for each in words},
    )


def _word(cell: Cell, row: Row) -> str:
    """Returns the measured word: that of the publication if its rule holds, or the other one."""
    if row.holds is None:
        return NOT_RUN
    if row.published.quantity == "semantics" and row.published.claim and not row.published.claim.refers:
        return _SEMANTICS[int(min(row.values))]
    if row.holds:
        return cell.published_text
    return "No" if cell.published_text == "Yes" else "Yes"
