"""Comparison on several scenarios as parts of a report: the means over all, then each scenario."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from celltcp.comparison.applications.application_tables import set_application_tables
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.lines.settings_lines import settings_blocks
from celltcp.comparison.metrics import GOODPUT, MEAN_RTT, words_of
from celltcp.comparison.plots.scenario_set import plot_set
from celltcp.comparison.report.front_page import question_on, several_answer
from celltcp.comparison.report.leading_findings import leading_findings
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.sets.verdicts import MIN_SCENARIOS, first_decided, over_all_text, verdict_lines
from celltcp.comparison.tables_of_several import set_table
from celltcp.comparison.verdicts.choices import NEED_TEXTS
from celltcp.comparison.verdicts.verdict_tables import verdicts_table
from celltcp.present.section import Figure, Part, Section
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Maximum number of scenarios that a question names.
_MAX_NAMES = 4


def set_part(scenario_set: ScenarioSet) -> Part:
    """Returns the part of a report on the means over several scenarios."""
    count = len(scenario_set.comparisons)
    by_name: dict[tuple[str, ...], Comparison] = {
        (name,): comparison for name, comparison in scenario_set.comparisons.items()
    }
    verdicts = verdicts_table(("scenario",), by_name)
    answer, settings = _answer(scenario_set)
    over_all = tuple(line.strip() for line in verdict_lines(scenario_set))
    return Part(
        title=f"{count} scenarios",
        question=question_on(scenario_set.ccas, _names_text(list(scenario_set.comparisons))),
        answer=answer,
        findings=leading_findings(
            scenario_set.leading_by_need(), scenario_set.ccas, "on", lambda names: str(len(names))
        ),
        sections=(
            *([settings] if settings else []),
            *([Section("Over all scenarios", text=over_all)] if over_all else []),
            *(
                Section("Means of the application", table)
                for table in set_application_tables(scenario_set)
            ),
            Section("Means over the scenarios", set_table(scenario_set)),
            *_distribution(scenario_set),
            *([Section("Best on each scenario", verdicts)] if len(scenario_set.ccas) > 1 else []),
        ),
        warnings=(scenario_set.unfinished,) if scenario_set.unfinished else (),
    )


def _distribution(scenario_set: ScenarioSet) -> list[Section]:
    """Returns the section with the distributions of metrics over three or more scenarios."""
    if len(scenario_set.comparisons) < MIN_SCENARIOS:
        return []
    title = "Distribution over the scenarios"
    return [Section(title, figure=Figure(functools.partial(plot_set, scenario_set), title))]


def _names_text(names: Sequence[str]) -> str:
    """Returns the names of scenarios; of many the first ones, and the number of the others."""
    if len(names) <= _MAX_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: _MAX_NAMES - 1])} and {len(names) - _MAX_NAMES + 1} more"


def _answer(scenario_set: ScenarioSet) -> tuple[str, Section | None]:
    """Returns the answer in a sentence, and the lines that set the best CCA over all scenarios.

    With few scenarios, or none that decide, it counts the scenarios on which each CCA is best.
    """
    verdict = first_decided(scenario_set.verdicts)
    counts, settings = several_answer(list(scenario_set.comparisons.values()), "scenario")
    if verdict is None:
        return counts, settings
    names = labels(scenario_set.ccas)
    best, other = verdict.ranked[:2]
    gaps = [f"{words_of(verdict.metric).name} {verdict.differences[other].text_with_unit}"]
    for metric in (GOODPUT, MEAN_RTT):
        difference = scenario_set.difference(best, other, metric)
        if metric != verdict.metric and difference.values:
            gaps.append(f"{words_of(metric).name} {difference.text}")
    need = NEED_TEXTS.get(verdict.need, verdict.need)
    text = (
        f"For {need}, set {names[best]}: {over_all_text(scenario_set)}, {', '.join(gaps)} against "
        f"{names[other]}."
    )
    if counts:
        text += f" Each alone: {counts[0].lower()}{counts[1:]}"
    section = Section("What to set", text=(text,), blocks=settings_blocks(best), is_front=True)
    return text, section
