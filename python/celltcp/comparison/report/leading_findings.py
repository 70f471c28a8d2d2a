"""Findings on several scenarios, or along the values of a sweep: where each CCA is best or tied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from celltcp.comparison.leading import Leading
from celltcp.present.palette import colours
from celltcp.present.section import Finding
from celltcp.scenarios.cca_mix import labels


def leading_findings(
    leading: Mapping[str, Leading], ccas: Sequence[str], word: str, where: Callable[[list[str]], str]
) -> tuple[Finding, ...]:
    """Returns a finding per need.

    Args:
        leading: by need.
        ccas: congestion controls that are compared.
        word: before the places, `on` or `at`.
        where: text of some of the places.
    """
    names, shades = labels(ccas), colours(ccas)
    findings = []
    for need, each in leading.items():
        question = f"Best or tied for {need}"
        undecided = f"undecided {word} {where(each.undecided)}" if each.undecided else ""
        ranked = each.ranked
        if not ranked:
            findings.append(Finding(question, "undecided", undecided, state="undecided"))
            continue
        extent = "; ".join(f"{names[cca]} {word} {where(each.scenarios[cca])}" for cca in ranked)
        answer = each.share_text(names, word)
        state = "undecided" if undecided else "decided" if len(ranked) == 1 else "tied"
        findings.append(Finding(question, answer, extent, undecided, state, shades[ranked[0]]))
    return tuple(findings)
