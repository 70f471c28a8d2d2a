"""Reasons of the shares in a sweep of mixes: why flows that compete get unequal parts at a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.competition import MIN_UNEQUAL
from celltcp.comparison.mix_shares import shares_of
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from celltcp.comparison.explanation.explanation import ExplainedComparison


def share_reasons(explained: Mapping[str, ExplainedComparison]) -> list[str]:
    """Returns the reason of unequal shares for each mix and value, of the explanations."""
    return [text for name, result in explained.items() for text in _reasons(name, result)]


def _reasons(name: str, result: ExplainedComparison) -> Iterator[str]:
    comparison = result.comparison
    for mix in filter(has_several_flows, comparison.ccas):
        shares = {each.flow: share for each, share in shares_of(comparison, mix).items()}
        if not shares or max(shares.values()) < MIN_UNEQUAL * min(shares.values()):
            continue
        least = min(shares, key=shares.__getitem__)
        cause = next((each for each in result.ccas if (each.cca, each.flow) == (mix, least)), None)
        text = "" if cause is None else cause.cause_text("competition")
        # The first sentence has what the others took.
        _, _, reason = text.partition(" Mbit/s. ")
        if reason:
            yield f"{labels(comparison.ccas)[mix]} with {name}, why {least} gets less: {reason}"
