"""Output of `celltcp papers`: tables of published and simulated values, and their agreement."""

from __future__ import annotations

import math
from collections.abc import Sequence

from celltcp.present.section import Column, Table, number_columns
from celltcp.present.terminal import Terminal
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.capabilities import capability_table
from celltcp.publications.publications import publications
from celltcp.publications.report.claims_table import claims_table
from celltcp.publications.report.numbers_table import numbers_table
from celltcp.publications.report.texts import (
    agreement_text,
    condition_text,
    differing_cells,
    quantity_text,
    value_text,
)
from celltcp.publications.split_choice import choices
from celltcp.publications.split_losses import MIN_LOSS_PERCENT, split_gains, split_losses


def print_outcome(outcome: Outcome, console: Terminal) -> None:
    """Prints published and simulated values, claims, rank correlations, and the source."""
    title = f"{outcome.table.publication}, {outcome.table.figure}: {outcome.table.title}"
    rows = outcome.rows
    if numbers := [row for row in rows if row.published.value is not None]:
        intervals = f"means and 95 % intervals{_INTERVAL_TEXTS[outcome.table.interval]}"
        console.print_table(numbers_table(numbers, f"{title}, as published and here, {intervals}"))
    if outcome.table.form == "capabilities":
        _print_capabilities(title, outcome, console)
    else:
        claims = [row for row in rows if row.published.claim is not None]
        if claims:
            console.print_table(claims_table(claims, f"{title}: claims"))
    others = [row for row in rows if row.published.value is None and row.published.claim is None]
    if outcome.table.form != "choices":
        _print_means(f"{title}: ours", others, console)
    _print_losses(outcome, console)
    if outcome.table.form == "choices":
        _print_choices(title, outcome, console)
    for group in outcome.groups:
        if group.ranks:
            console.print(
                f"{group.title}: Spearman's rank correlation of {group.ranks.count}: {group.ranks}"
            )
    for agreement in outcome.agreements:
        console.print(agreement_text(agreement))
    holding, judged = outcome.claims
    if judged:
        console.print(f"claims of the publication: {holding} of {judged} hold here")
    name = outcome.table.publication
    source = publications()[name].source if name in publications() else name
    note = f". {outcome.table.note}" if outcome.table.note else ""
    console.print(f"published: {source}, {outcome.table.figure}{note}")


def _print_capabilities(title: str, outcome: Outcome, console: Terminal) -> None:
    """Prints the measured texts of cells, with the published text and the reason where it differs."""
    measured = capability_table(outcome)
    rows = []
    for label in measured.row_labels:
        cells = (measured.cells[label, column] for column in measured.column_labels)
        texts = (
            f"{cell.measured_text} ({cell.cell.published_text})" if cell.differs else cell.measured_text
            for cell in cells
        )
        rows.append((label, *texts))
    title = f"{title}; in brackets the publication where it differs"
    console.print_table(
        Table(tuple(map(Column, ("capability", *measured.column_labels))), tuple(rows), title)
    )
    for text in differing_cells(outcome):
        console.print(text)


def _print_choices(title: str, outcome: Outcome, console: Terminal) -> None:
    """Prints gain and cost of each split over the best CCA without one, and whether it pays."""
    rows = []
    for choice in choices(outcome):
        for option in choice.options:
            is_first = option is choice.options[0]
            means = (option.gain, option.delay, option.buffered)
            rows.append(
                (
                    choice.condition if is_first else "",
                    choice.unsplit_cca if is_first else "",
                    option.cca,
                    *(value_text(mean.mean, mean.ci95) for mean in means),
                    choice.verdict if is_first else "",
                )
            )
    columns = (
        *(Column(heading, no_wrap=True) for heading in ("scenario", "without split", "split")),
        *number_columns("gain, %", "delay added, ms", "buffered, kB"),
        Column("verdict"),
    )
    title = f"{title}: gain and cost over the best CCA without a split"
    console.print_table(Table(columns, tuple(rows), title))


def _print_losses(outcome: Outcome, console: Terminal) -> None:
    """Prints the points where a split loses, with the reasons."""
    point_count = len(split_gains(outcome))
    if not point_count:
        return
    losses = split_losses(outcome)
    console.print(
        f"points where the split loses more than {MIN_LOSS_PERCENT:g} %: {len(losses)} of {point_count}"
    )
    for loss in losses:
        gain = value_text(loss.row.ours.mean, loss.row.ours.ci95)
        console.print(f"{condition_text(loss.row)}, {loss.row.published.cca}: {gain} %. {loss.reason}")


def _print_means(title: str, rows: Sequence[Row], console: Terminal) -> None:
    """Prints simulated means without a published number, with a column per CCA."""
    if not rows:
        return
    ccas = list(dict.fromkeys(row.published.cca for row in rows))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        line = lines.setdefault((condition_text(row), quantity_text(row)), {})
        line[row.published.cca] = value_text(row.ours.mean, row.ours.ci95)
    cells = tuple((*key, *(line.get(cca, "") for cca in ccas)) for key, line in lines.items())
    columns = (Column("scenario"), Column("quantity"), *number_columns(*ccas))
    console.print_table(Table(columns, cells, title))


#: Texts for the kinds of intervals.
_INTERVAL_TEXTS = {"runs": "", "slots": " of slots of 100 ms, averaged over the run"}


def print_sweep(field: str, outcomes: Sequence[tuple[str, Outcome]], console: Terminal) -> None:
    """Prints the agreement of a table for each value of a field that the publication does not state."""
    table = outcomes[0][1].table
    headings = ("mean rank correlation", "p-value", "mean error", "in their intervals")
    rows = tuple(
        (
            value,
            agreement.quantity,
            "-" if math.isnan(agreement.rho) else f"{agreement.rho:+.2f}",
            "-" if math.isnan(agreement.p_value) else f"{agreement.p_value:.2g}",
            "-" if math.isnan(agreement.error) else f"{100 * agreement.error:.0f} %",
            f"{agreement.agreeing_count} of {agreement.judged_count}",
        )
        for value, outcome in outcomes
        for agreement in outcome.agreements
    )
    title = f"{table.publication}, {table.figure}: agreement by {field}"
    columns = (Column(field), Column("quantity"), *number_columns(*headings))
    console.print_table(Table(columns, rows, title))
