"""Comparison on several scenarios as parts of a report: the means over all, then each scenario."""

from __future__ import annotations

from celltcp.comparison.application_tables import set_application_tables
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.report.front_page import question_on, several_answer
from celltcp.comparison.report.leading_findings import leading_findings
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.tables_of_several import set_table
from celltcp.comparison.verdict_tables import verdicts_table
from celltcp.present.section import Part, Section


def set_part(scenario_set: ScenarioSet) -> Part:
    """Returns the part of a report on the means over several scenarios."""
    count = len(scenario_set.comparisons)
    by_name: dict[tuple[str, ...], Comparison] = {
        (name,): comparison for name, comparison in scenario_set.comparisons.items()
    }
    verdicts = verdicts_table(("scenario",), by_name)
    answer, settings = several_answer(list(scenario_set.comparisons.values()), "scenario")
    return Part(
        title=f"{count} scenarios",
        question=question_on(scenario_set.ccas, ", ".join(scenario_set.comparisons)),
        answer=answer,
        findings=leading_findings(
            scenario_set.leading_by_need(), scenario_set.ccas, "on", lambda names: str(len(names))
        ),
        sections=(
            *([settings] if settings else []),
            *(
                Section("Means of the application", table)
                for table in set_application_tables(scenario_set)
            ),
            Section("Means over the scenarios", set_table(scenario_set)),
            *([Section("Best on each scenario", verdicts)] if len(scenario_set.ccas) > 1 else []),
        ),
        warnings=(scenario_set.unfinished,) if scenario_set.unfinished else (),
    )
