"""Table of published and simulated values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from celltcp.present.section import Column, Table, number_columns
from celltcp.publications.agreement import Row
from celltcp.publications.report.texts import condition_text, quantity_text, value_text

#: Texts for whether a value is in the interval.
_AGREES = {True: "inside", False: "outside", None: "-"}


def numbers_table(rows: Sequence[Row], title: str = "") -> Table:
    """Returns a row per published value."""
    difference = "difference, %"
    columns = (
        *(Column(heading, no_wrap=True) for heading in ("scenario", "CCA", "quantity")),
        *number_columns("published", "here", difference),
        Column("agrees"),
    )
    cells = tuple(
        (
            condition_text(row),
            row.published.cca,
            quantity_text(row),
            value_text(row.published.value, row.published.ci95),
            value_text(row.ours.mean, row.ours.ci95),
            "-" if math.isnan(row.error) else f"{100 * row.error:+.0f}",
            _AGREES[row.agrees],
        )
        for row in rows
    )
    ccas = {row.published.cca: row.published.cca for row in rows}
    return Table(columns, cells, title, cca_of_cell=ccas, droppable=("agrees", difference))
