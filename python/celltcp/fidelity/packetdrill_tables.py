"""Tables of packetdrill scripts: those that failed, and what those not applicable need."""

from __future__ import annotations

from collections.abc import Sequence

from celltcp.fidelity.packetdrill import FAILED, Outcome, missing
from celltcp.present.section import Column, Table, number_columns


def failed_table(outcomes: Sequence[Outcome]) -> Table:
    """Returns a row per failed script: the line, the expected event and the one that came."""
    text_columns = map(Column, ("differs in", "expected", "seen"))
    rows = tuple(
        (
            outcome.script,
            str(outcome.line),
            outcome.reason or "",
            outcome.expected or "",
            outcome.seen or "",
        )
        for outcome in outcomes
        if outcome.status == FAILED
    )
    return Table((Column("script"), *number_columns("line"), *text_columns), rows, "Failed")


def not_applicable_table(outcomes: Sequence[Outcome]) -> Table:
    """Returns the reasons why scripts are not applicable, with the number of scripts."""
    rows = tuple((reason, str(scripts)) for reason, scripts in missing(outcomes))
    return Table((Column("needs"), *number_columns("scripts")), rows, "Not applicable")
