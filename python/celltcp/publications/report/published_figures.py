"""Published values as sections of a report."""

from __future__ import annotations

import functools

from celltcp.present.section import Figure, Section
from celltcp.publications.agreement import Outcome
from celltcp.publications.plots import draw_outcomes
from celltcp.publications.report.claims_table import claims_table
from celltcp.publications.report.numbers_table import numbers_table
from celltcp.publications.report.texts import agreement_text, differing_cells, sentence


def outcome_sections(outcome: Outcome) -> list[Section]:
    """Returns the sections of an experiment: values with the picture, claims, differing cells."""
    title = f"{outcome.table.publication}, {outcome.table.figure}: {outcome.table.title}"
    text = tuple(agreement_text(agreement) for agreement in outcome.agreements)
    holding, judged = outcome.claims
    if judged:
        text += (f"Claims of the publication: {holding} of {judged} hold here.",)
    if outcome.table.note:
        text += (sentence(outcome.table.note),)
    picture = functools.partial(draw_outcomes, [outcome])
    rows = [row for row in outcome.rows if row.published.claim is None]
    claims = [row for row in outcome.rows if row.published.claim is not None]
    figure = Figure(picture, f"Published figures and ours: {title}") if outcome.groups else None
    sections = [Section(title, numbers_table(rows) if rows else None, figure, text)]
    if claims:
        sections.append(Section(f"{title}: claims", claims_table(claims)))
    if differing := differing_cells(outcome):
        sections.append(Section(f"{title}: cells that differ", text=tuple(differing)))
    return sections
