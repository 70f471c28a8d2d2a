"""Findings on several scenarios or points of a sweep: those on which each CCA is best or tied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from celltcp.comparison.sets.leading import Leading
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
        word: before the scenarios or points, `on` or `at`.
        where: returns the text of some scenarios or points.
    """
    names, shades = labels(ccas), colours(ccas)
    findings = []
    for need, leaders in leading.items():
        question = f"Best or tied for {need}"
        undecided = f"undecided {word} {where(leaders.undecided)}" if leaders.undecided else ""
        ranked = leaders.ranked
        if not ranked:
            findings.append(Finding(question, "undecided", undecided, state="undecided"))
            continue
        extent = "; ".join(f"{names[cca]} {word} {where(leaders.scenarios[cca])}" for cca in ranked)
        answer = leaders.share_text(names, word)
        state = "undecided" if undecided else "decided" if len(ranked) == 1 else "tied"
        findings.append(Finding(question, answer, extent, undecided, state, shades[ranked[0]]))
    return tuple(findings)
