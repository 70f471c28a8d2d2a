"""Question that a report answers."""

from __future__ import annotations

from collections.abc import Sequence

from celltcp.scenarios.cca_mix import labels


def question_on(ccas: Sequence[str], where: str) -> str:
    """Returns what is asked about congestion controls: which is best, or what a single one gets.

    Args:
        ccas: the congestion controls or line-ups.
        where: scenarios and runs, in words.
    """
    names = ", ".join(labels(ccas).values())
    return (
        f"Which of {names} is best on {where}?"
        if len(ccas) > 1
        else f"What does {names} get on {where}?"
    )
