"""Texts about published and simulated values."""

from __future__ import annotations

import math

from celltcp.publications.agreement import Agreement, Outcome, Row
from celltcp.publications.capabilities import capability_table
from celltcp.scenarios.cca_mix import count_text

#: Minimum rise of the mean rank correlation without a CCA that is reported.
_NOTABLE_RISE = 0.1


def condition_text(row: Row) -> str:
    """Returns condition and part of a row."""
    return ", ".join(filter(None, (row.published.scenario, row.published.part)))


def quantity_text(row: Row) -> str:
    """Returns quantity and unit of a row."""
    return ", ".join(filter(None, (row.published.quantity, row.published.unit)))


def statement_text(row: Row) -> str:
    """Returns the publication's statement, or its text in a capability table."""
    cell = row.published.cell
    if row.published.note or cell is None:
        return row.published.note
    return f"{cell.column}, {cell.line}: {cell.published_text}"


def sentence(text: str) -> str:
    """Returns a note as a sentence: with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def value_text(value: float | None, ci95: float | None) -> str:
    """Returns a value with the half width of its interval, if there is one; `-` without a value."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.2f}" + (f" ±{ci95:.2f}" if ci95 is not None else "")


def differing_cells(outcome: Outcome) -> list[str]:
    """Returns a text for each cell of a capability table that differs, with the reason."""
    return [
        f"{cell.cell.column}, {cell.cell.line}: {cell.row.published.quantity} is "
        f"{value_text(cell.row.ours.mean, cell.row.ours.ci95)}, not {cell.row.published.claim.text}. "
        f"{cell.cell.why}".rstrip()
        for cell in capability_table(outcome).differing
        if cell.row is not None and cell.row.published.claim is not None
    ]


def agreement_text(agreement: Agreement) -> str:
    """Returns an agreement in words, without undefined parts."""
    texts = []
    if not math.isnan(agreement.rho):
        rankings = count_text(agreement.group_count, "ranking")
        texts.append(
            f"mean rank correlation {agreement.rho:+.2f} ({rankings}, ties within 2 %; "
            f"p = {agreement.p_value:.2g})"
        )
        if agreement.without is not None and agreement.without[1] >= agreement.rho + _NOTABLE_RISE:
            texts.append(f"without {agreement.without[0]} {agreement.without[1]:+.2f}")
    if not math.isnan(agreement.error):
        texts.append(f"mean error {100 * agreement.error:.0f} %")
    judged = (
        f"{agreement.agreeing_count} of {agreement.judged_count} in their intervals"
        if agreement.judged_count
        else "no intervals"
    )
    return f"{agreement.quantity}: {', '.join([*texts, judged])}{_baseline_text(agreement)}"


def _baseline_text(agreement: Agreement) -> str:
    """Returns the agreement of a second measurement; empty if it is unknown or has no ranks."""
    baseline = agreement.replication_baseline
    if baseline is None or math.isnan(baseline.rho):
        return ""
    return (
        ". A second measurement of the published figures would have "
        f"{baseline.rho:+.2f} ({baseline.low:+.2f} to {baseline.high:+.2f}) and "
        f"{100 * baseline.error:.0f} %"
    )
