"""Table of claims of a publication: the claim, its relation, and the simulated mean."""

from __future__ import annotations

from collections.abc import Sequence

from celltcp.present.section import Column, Table, number_columns
from celltcp.publications.agreement import Row
from celltcp.publications.report.texts import condition_text, quantity_text, statement_text, value_text

#: Texts for whether a claim holds.
_HOLDS = {True: "yes", False: "no", None: "-"}


def claims_table(rows: Sequence[Row], title: str = "") -> Table:
    """Returns a row per claim."""
    text_columns = map(Column, ("scenario", "CCA", "said", "quantity", "claim"))
    cells = tuple(
        (
            condition_text(row),
            row.published.cca,
            statement_text(row),
            quantity_text(row),
            row.published.claim.text if row.published.claim else "",
            value_text(row.ours.mean, row.ours.ci95),
            _HOLDS[row.holds],
        )
        for row in rows
    )
    return Table(
        (*text_columns, *number_columns("here"), Column("holds")),
        cells,
        title,
        cca_of_cell={row.published.cca: row.published.cca for row in rows},
        droppable=("quantity", "claim"),
    )
