"""Comparison on several scenarios as parts of a report: the means over all, then each scenario."""

from __future__ import annotations

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.report.front_page import several_answer
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.tables import set_table, verdicts_table
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
    count = len(result.comparisons)
    names, shades = labels(result.ccas), colours(result.ccas)
    found = []
    for requirement, leading in result.leading.items():
        ranked = [cca for cca in sorted(leading, key=lambda cca: -len(leading[cca])) if leading[cca]]
        undecided = count - len({name for where in leading.values() for name in where})
        open_text = f"undecided on {undecided} of {count}" if undecided else ""
        question = f"Best or tied for {requirement}"
        if not ranked:
            found.append(Finding(question, "undecided", open_text, state="open"))
            continue
        best = ranked[0]
        extent = ", ".join(f"{names[cca]} on {len(leading[cca])}" for cca in ranked)
        answer = f"{names[best]}, on {len(leading[best])} of {count}"
        state = "open" if undecided else "sure" if len(ranked) == 1 else "tied"
        found.append(Finding(question, answer, extent, open_text, state, shades[best]))
    return tuple(found)
