"""Published figures and ours, as tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from celltcp.papers.outcome import Agreement, Outcome, Row


def print_outcome(found: Outcome, console: Console) -> None:
    """Prints a row per figure, how well the ranks agree, and the source."""
    from rich.table import Table

    from celltcp.cli.fitted import print_table
    from celltcp.papers.publications import publications

    table = Table(
        title=f"{found.table.publication}, {found.table.figure}: {found.table.title}, as published and "
        f"here, means and 95 % intervals{_KINDS[found.table.interval]}"
    )
    for heading in ("scenario", "CCA", "quantity"):
        table.add_column(heading, no_wrap=True)
    for heading in ("published", "here", "difference"):
        table.add_column(heading, justify="right")
    table.add_column("in the interval")
    for group in found.groups:
        for row in group.rows:
            table.add_row(
                group.title,
                row.theirs.cca,
                f"{group.quantity}, {group.unit}",
                _text(row.theirs.value, row.theirs.ci95),
                _text(row.here.mean, row.here.ci95),
                f"{100 * row.error:+.0f} %" if not math.isnan(row.error) else "-",
                _agrees(row),
            )
        table.add_section()
    print_table(console, table, ("in the interval", "difference"))
    for group in found.groups:
        if group.ranks:
            console.print(
                f"{group.title}: Spearman's rank correlation of {group.ranks.count}: {group.ranks}"
            )
    for agreement in found.agreements:
        console.print(agreement_text(agreement))
    known = publications()
    name = found.table.publication
    source = known[name].source if name in known else name
    console.print(f"published: {source}, {found.table.figure}. {found.table.note}")


#: Words for the kinds of intervals.
_KINDS = {"runs": "", "slots": " of slots of 100 ms, averaged over the run"}


def agreement_text(found: Agreement) -> str:
    """Returns an agreement in words."""
    judged = f"{found.inside} of {found.judged} in their intervals" if found.judged else "no intervals"
    return (
        f"{found.quantity}: mean rank correlation {found.rho:+.2f} (of {found.groups}, ties within "
        f"2 %; p = {found.chance:.2g}), mean error {100 * found.error:.0f} %, {judged}"
    )


def print_sweep(field: str, found: Sequence[tuple[str, Outcome]], console: Console) -> None:
    """Prints the agreement of a table for each value of a field that the publication does not give."""
    from rich.table import Table

    from celltcp.cli.fitted import print_table

    first = found[0][1].table
    table = Table(title=f"{first.publication}, {first.figure}: agreement by {field}")
    table.add_column(field)
    table.add_column("quantity")
    for heading in ("mean rank correlation", "p-value", "mean error", "in their intervals"):
        table.add_column(heading, justify="right")
    for value, outcome in found:
        for each in outcome.agreements:
            table.add_row(
                value,
                each.quantity,
                f"{each.rho:+.2f}",
                f"{each.chance:.2g}",
                f"{100 * each.error:.0f} %",
                f"{each.inside} of {each.judged}",
            )
    print_table(console, table)


def _agrees(row: Row) -> str:
    return {True: "inside", False: "outside", None: "-"}[row.agrees]


def _text(value: float | None, half: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.2f}" + (f" ±{half:.2f}" if half is not None else "")
