"""Texts of published figures beside ours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.publications.agreement import Agreement, Row

#: Rise of the mean rank correlation without a CCA that is worth telling.
_CARRIES = 0.1


def place_text(row: Row) -> str:
    """Returns scenario and part of a row."""
    return ", ".join(each for each in (row.published.scenario, row.published.part) if each)


def quantity_text(row: Row) -> str:
    """Returns quantity and unit of a row."""
    return ", ".join(each for each in (row.published.quantity, row.published.unit) if each)


def value_text(value: float | None, half: float | None) -> str:
    """Returns a value with half of its interval, where there is one; `-` without a value."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.2f}" + (f" ±{half:.2f}" if half is not None else "")


def agreement_text(found: Agreement) -> str:
    """Returns an agreement in words, without what there is none of."""
    texts = []
    if not math.isnan(found.rho):
        texts.append(
            f"mean rank correlation {found.rho:+.2f} (of {found.groups}, ties within 2 %; "
            f"p = {found.chance:.2g})"
        )
        if found.without is not None and found.without[1] >= found.rho + _CARRIES:
            texts.append(f"without {found.without[0]} {found.without[1]:+.2f}")
    if not math.isnan(found.error):
        texts.append(f"mean error {100 * found.error:.0f} %")
    judged = f"{found.inside} of {found.judged} in their intervals" if found.judged else "no intervals"
    return f"{found.quantity}: {', '.join([*texts, judged])}{_again_text(found)}"


def _again_text(found: Agreement) -> str:
    """Returns how far the published figures would agree with themselves, where ranks do."""
    if found.again is None or math.isnan(found.again.rho):
        return ""
    again = found.again
    return (
        ". A second measurement of the published figures would have "
        f"{again.rho:+.2f} ({again.low:+.2f} to {again.high:+.2f}) and {100 * again.error:.0f} %"
    )
