"""Comparison on several scenarios as parts of a report: the means over all, then each scenario."""

from __future__ import annotations

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.report.front_page import several_answer
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.tables_of_several import set_table
from celltcp.comparison.verdict_tables import verdicts_table
from celltcp.present.palette import colours
from celltcp.present.section import Finding, Part, Section
from celltcp.scenarios.cca_mix import labels


def set_part(result: ScenarioSet) -> Part:
    """Returns the part of a report on what several scenarios have in common."""
    count = len(result.comparisons)
    ccas = ", ".join(labels(result.ccas).values())
    by_name: dict[tuple[str, ...], Comparison] = {
        (name,): each for name, each in result.comparisons.items()
    }
    verdicts = verdicts_table(("scenario",), by_name)
    answer, settings = several_answer(list(result.comparisons.values()), "scenario")
    return Part(
        title=f"{count} scenarios",
        asked=f"Which of {ccas} is best on {', '.join(result.comparisons)}?",
        answer=answer,
        findings=_findings(result),
        sections=(
            *([settings] if settings else []),
            Section("Means over the scenarios", set_table(result)),
            Section("Best on each scenario", verdicts),
        ),
        warnings=(result.unfinished,) if result.unfinished else (),
    )


def _findings(result: ScenarioSet) -> tuple[Finding, ...]:
    names, shades = labels(result.ccas), colours(result.ccas)
    found = []
    for need, leading in result.leading_by_need().items():
        open_text = f"undecided on {leading.undecided} of {leading.total}" if leading.undecided else ""
        question = f"Best or tied for {need}"
        if not leading.ranked:
            found.append(Finding(question, "undecided", open_text, state="open"))
            continue
        extent = ", ".join(f"{names[cca]} on {len(leading.scenarios[cca])}" for cca in leading.ranked)
        answer = leading.share_text(names, "on")
        state = "open" if leading.undecided else "sure" if len(leading.ranked) == 1 else "tied"
        found.append(Finding(question, answer, extent, open_text, state, shades[leading.ranked[0]]))
    return tuple(found)
