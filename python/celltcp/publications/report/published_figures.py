"""Published figures as sections of a report."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from celltcp.present.section import Column, Figure, Section, Table, number_columns
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots import draw_outcomes
from celltcp.publications.report.claims_table import claims_table
from celltcp.publications.report.texts import (
    agreement_text,
    differing_cells,
    place_text,
    quantity_text,
    value_text,
)

#: Words for what is inside of an interval.
_AGREES = {True: "inside", False: "outside", None: "-"}


def outcome_sections(result: Outcome) -> list[Section]:
    """Returns the sections of an experiment: figures with its picture, then claims."""
    title = f"{result.table.publication}, {result.table.figure}: {result.table.title}"
    text = tuple(agreement_text(each) for each in result.agreements)
    held, judged = result.claims
    if judged:
        text += (f"Claims of the publication: {held} of {judged} hold here.",)
    if result.table.note:
        text += (result.table.note,)
    picture = functools.partial(draw_outcomes, [result])
    rows = [row for row in result.rows if row.published.claim is None]
    claims = [row for row in result.rows if row.published.claim is not None]
    figure = Figure(picture, f"Published figures and ours: {title}") if result.groups else None
    sections = [Section(title, _numbers(rows) if rows else None, figure, text)]
    if claims:
        sections.append(Section(f"{title}: claims", claims_table(claims)))
    if differing := differing_cells(result):
        sections.append(Section(f"{title}: cells that differ", text=tuple(differing)))
    return sections


def _numbers(rows: Sequence[Row]) -> Table:
    columns = (
        *map(Column, ("scenario", "CCA", "quantity")),
        *number_columns("published", "here", "difference, %"),
        Column("agrees"),
    )
    cells = tuple(
        (
            place_text(row),
            row.published.cca,
            quantity_text(row),
            value_text(row.published.value, row.published.ci95),
            value_text(row.ours.mean, row.ours.ci95),
            "-" if math.isnan(row.error) else f"{100 * row.error:+.0f}",
            _AGREES[row.agrees],
        )
        for row in rows
    )
    return Table(columns, cells, ccas={row.published.cca: row.published.cca for row in rows})
