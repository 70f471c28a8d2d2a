"""Comparison on several scenarios as parts of a report: the means over all, then each scenario."""

from __future__ import annotations

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.report.front_page import several_answer
from celltcp.comparison.report.leading_findings import leading_findings
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.tables_of_several import set_table
from celltcp.comparison.verdict_tables import verdicts_table
from celltcp.present.section import Part, Section
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
        findings=leading_findings(
            result.leading_by_need(), result.ccas, "on", lambda names: str(len(names))
        ),
        sections=(
            *([settings] if settings else []),
            Section("Means over the scenarios", set_table(result)),
            Section("Best on each scenario", verdicts),
        ),
        warnings=(result.unfinished,) if result.unfinished else (),
    )
