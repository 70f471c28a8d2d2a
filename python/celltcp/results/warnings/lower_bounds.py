"""Warnings about lower bounds of a path from a capture, and overflows that such a buffer causes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp.results.columns import rows_of
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.lower_bounds import UNSEEN_OVERFLOW, doubtful_sentences

if TYPE_CHECKING:
    from celltcp.results.tables import Results


def lower_bounds(results: Results, scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each doubt about a path that was estimated from a capture."""
    name = results.about["name"]
    overflows_text = _overflows_text(results, scenario)
    return [
        f"{name}: {text[0].lower()}{text[1:]}"
        + (f"; {overflows_text}" if overflows_text and UNSEEN_OVERFLOW in text else "")
        for text in doubtful_sentences(scenario)
    ]


def unseen_overflows(results: Results, scenario: Mapping[str, Any]) -> dict[str, float]:
    """Returns the segments lost a run, by CCA, in a captured buffer that is a lower bound."""
    sentences = doubtful_sentences(scenario)
    if "recoveries" not in results.tables or not any(UNSEEN_OVERFLOW in text for text in sentences):
        return {}
    losses: dict[str, float] = {}
    for cca, overflow in rows_of(results.tables["recoveries"], "cca", "overflow"):
        losses[cca] = losses.get(cca, 0.0) + (overflow or 0.0)
    runs = max(int(results.about["runs"]), 1)
    return {cca: lost / runs for cca, lost in losses.items() if lost >= runs / 2}


def _overflows_text(results: Results, scenario: Mapping[str, Any]) -> str:
    """Returns text on the overflows of a buffer that is a lower bound; empty without any."""
    losses = unseen_overflows(results, scenario)
    if not losses:
        return ""
    names = labels(losses)
    counts = [f"{names[cca]} {lost:.0f}" for cca, lost in losses.items()]
    each = "" if int(results.about["runs"]) <= 1 else " a run"
    return (
        f"overflows here (segments lost{each}: {', '.join(counts)}), which the capture does not have, "
        "and their recoveries are consequences of that bound; with a larger path.buffer, a longer "
        "queue takes their place"
    )
