"""Comparison on several scenarios as parts of a report: the means over all, then each scenario."""

from __future__ import annotations

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.report.front_page import several_answer
from celltcp.comparison.report.leading_findings import leading_findings
from celltcp.comparison.report.question import question_on
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.tables_of_several import set_table
from celltcp.comparison.verdict_tables import verdicts_table
from celltcp.present.section import Part, Section


def set_part(result: ScenarioSet) -> Part:
    """Returns the part of a report on the means over several scenarios."""
    count = len(result.comparisons)
    by_name: dict[tuple[str, ...], Comparison] = {
        (name,): comparison for name, comparison in result.comparisons.items()
    }
    verdicts = verdicts_table(("scenario",), by_name)
    answer, settings = several_answer(list(result.comparisons.values()), "scenario")
    return Part(
        title=f"{count} scenarios",
        asked=question_on(result.ccas, ", ".join(result.comparisons)),
        answer=answer,
        findings=leading_findings(
            result.leading_by_need(), result.ccas, "on", lambda names: str(len(names))
        ),
        sections=(
            *([settings] if settings else []),
            Section("Means over the scenarios", set_table(result)),
            *([Section("Best on each scenario", verdicts)] if len(result.ccas) > 1 else []),
        ),
        warnings=(result.unfinished,) if result.unfinished else (),
    )
