"""Sweep as a part of a report: who is best at each value, and how the figures go along the values."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from celltcp.comparison.application_tables import sweep_figures_tables
from celltcp.comparison.parameter_sweep import Sweep
from celltcp.comparison.plots.sweep import PANELS, draw_sweep
from celltcp.comparison.report.findings import verdicts_table
from celltcp.comparison.report.provenance import command_of, origin_sections
from celltcp.comparison.tables import sweep_table
from celltcp.present.chart import Chart, Panel, Series, numbers
from celltcp.present.palette import colours
from celltcp.present.scenario_text import scenario_sections
from celltcp.present.section import Figure, Finding, Part, Section, runs_text
from celltcp.present.style import dashes
from celltcp.scenarios.cca_mix import labels


def sweep_part(result: Sweep) -> Part:
    """Returns the part of a report on a sweep."""
    first = next(iter(result.comparisons.values()))
    about = first.results.about
    values = list(result.comparisons)
    ccas = ", ".join(labels(first.ccas).values())
    asked = (
        f"Which of {ccas} is best on {about['name']} for each {result.field} of {', '.join(values)}, "
        f"in {runs_text(about['runs'])} of {about['duration_s']:g} s each?"
    )
    vary = f"{result.field}={','.join(values)}"
    changed = f"{result.field}={values[0]}"
    command = command_of("sweep", about, options=["--vary", vary], changed=changed)
    warned: dict[str, list[str]] = {}
    for value, comparison in result.comparisons.items():
        for warning in comparison.warnings:
            warned.setdefault(warning, []).append(value)
    verdicts = verdicts_table(result.field, result.comparisons, _requirements(result))
    return Part(
        title=f"{about['name']} by {result.field}",
        asked=asked,
        findings=_findings(result),
        sections=(
            *(
                Section(f"What the application of {flow} got", table)
                for flow, table in sweep_figures_tables(result).items()
            ),
            Section("Means and 95 % intervals", sweep_table(result)),
            Section("Along the values", figure=_figure(result)),
            Section("Best at each value", verdicts),
            *_scenario(result),
            *origin_sections(about, command),
        ),
        warnings=tuple(
            f"{result.field}={', '.join(where)}: {warning}" for warning, where in warned.items()
        ),
    )


def _scenario(result: Sweep) -> tuple[Section, ...]:
    """Returns the scenario of the first value, and that the others differ in the field."""
    value, first = next(iter(result.comparisons.items()))
    note = f"This is the scenario for {result.field}={value}; the others have another {result.field}."
    short, whole = scenario_sections(first.results.about)
    return replace(short, text=(*short.text, note)), whole


def _findings(result: Sweep) -> tuple[Finding, ...]:
    """Returns a finding per requirement: the values at which each CCA leads or is tied."""
    found = []
    first = next(iter(result.comparisons.values()))
    names, shades = labels(first.ccas), colours(first.ccas)
    for requirement in _requirements(result):
        leading: dict[str, list[str]] = {}
        undecided = []
        for value, comparison in result.comparisons.items():
            verdict = comparison.verdicts[requirement]
            if verdict.best is None or not comparison.decides:
                undecided.append(value)
            else:
                for cca in (verdict.best, *verdict.tied):
                    leading.setdefault(cca, []).append(value)
        ranked = sorted(leading, key=lambda cca: -len(leading[cca]))
        count = len(result.comparisons)
        extent = "; ".join(f"{names[cca]} at {', '.join(leading[cca])}" for cca in ranked)
        open_text = f"undecided at {', '.join(undecided)}" if undecided else ""
        question = f"Best or tied for {requirement}"
        if not ranked:
            found.append(Finding(question, "undecided", open_text, state="open"))
            continue
        best = ranked[0]
        answer = f"{names[best]}, at {len(leading[best])} of {count}"
        state = "open" if undecided else "sure" if len(ranked) == 1 else "tied"
        found.append(Finding(question, answer, extent, open_text, state, shades[best]))
    return tuple(found)


def _requirements(result: Sweep) -> list[str]:
    """Returns the requirements that the comparisons of all values have."""
    first, *others = result.comparisons.values()
    return [each for each in first.requirements if all(each in other.requirements for other in others)]


def _figure(result: Sweep) -> Figure:
    """Returns goodput and RTT against the values."""
    values = list(result.comparisons)
    summary = result.summary
    ccas = list(dict.fromkeys(summary.index.get_level_values("cca")))
    names, shades = labels(ccas), colours(ccas)
    panels = []
    for metric, text in PANELS:
        label, _, unit = text.partition(", ")
        series = []
        for cca in ccas:
            mine = summary.xs(cca, level="cca").reindex(values)
            mean, half = numbers(mine[metric, "mean"]), numbers(mine[metric, "ci95"])
            half = np.nan_to_num(half)
            series.append(
                Series(
                    names[cca],
                    shades[cca],
                    mean,
                    look="joined",
                    dash=dashes(cca),
                    low=mean - half,
                    high=mean + half,
                    size=8,
                )
            )
        panels.append(Panel(label, unit, tuple(series), 2))
    chart = Chart(
        np.arange(len(values), dtype=float), result.field, "", tuple(panels), names=tuple(values)
    )
    draw = functools.partial(draw_sweep, summary, result.field, values)
    return Figure(draw, f"Goodput and RTT by {result.field}", chart)
