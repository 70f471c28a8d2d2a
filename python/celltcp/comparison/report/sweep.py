"""Sweep as a part of a report: the best CCA and the metrics at each value."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from celltcp.comparison.applications.application_tables import sweep_metrics_tables
from celltcp.comparison.metrics import interval_ends
from celltcp.comparison.plots.sweep import draw_sweep, has_amounts, panel_metrics
from celltcp.comparison.report.fairness import fairness_finding
from celltcp.comparison.report.front_page import question_on, several_answer
from celltcp.comparison.report.leading_findings import leading_findings
from celltcp.comparison.report.provenance import command_of, provenance_sections
from celltcp.comparison.sets.leading import leading_in
from celltcp.comparison.sweep.best_value_tables import (
    as_good_values,
    best_text,
    best_values_tables,
    best_values_texts,
)
from celltcp.comparison.sweep.best_values import FieldRanking, conditions_among
from celltcp.comparison.sweep.failures import failures_of
from celltcp.comparison.sweep.mix_shares import have_pauses, mix_share_texts
from celltcp.comparison.sweep.parameter_sweep import SCENARIO, Sweep
from celltcp.comparison.tables_of_several import range_text, sweep_shares_table, sweep_table
from celltcp.comparison.verdicts.reversals import best_reversal_text
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.comparison.verdicts.verdict_tables import set_instead, verdict_text, verdicts_table
from celltcp.present.chart import Chart, Panel, Series
from celltcp.present.palette import colours
from celltcp.present.scenario_text import scenario_sections
from celltcp.present.section import Figure, Finding, Part, Section
from celltcp.present.style import dashes
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import has_several_flows, join_names, labels, ranked_mixes


def sweep_part(sweep: Sweep, by: Sequence[str] = ()) -> Part:
    """Returns the part of a report on a sweep; `by` are chosen metrics, as in `Comparison.best_by`."""
    first = next(iter(sweep.points.values()))
    about = first.results.about
    names = list(dict.fromkeys(str(point.results.about["name"]) for point in sweep.points.values()))
    fields = [axis for axis in sweep.axes if axis != SCENARIO]
    values = {
        axis: list(dict.fromkeys(point[index] for point in sweep.points))
        for index, axis in enumerate(sweep.axes)
    }
    varied = " and ".join(f"{field} of {', '.join(values[field])}" for field in fields)
    for_values = f" for each {varied}" if fields else ""
    question = question_on(
        sweep.ccas,
        f"{', '.join(names)}{for_values}, in {range_text(sweep.points.values())} of "
        f"{about['duration_s']:g} s each",
    )
    options = [word for field in fields for word in ("--vary", f"{field}={','.join(values[field])}")]
    changes = [f"{field}={values[field][0]}" for field in fields]
    command = command_of(
        "sweep", about, options=options, changes=changes, scenarios=values.get(SCENARIO, ())
    )
    by_field = f" by {' and '.join(fields)}" if fields else ""
    answer, settings = several_answer(list(sweep.points.values()), "point")
    shares = sweep_shares_table(sweep)
    of_shares = [] if shares is None else [Section("Shares of the flows", shares)]
    of_mixes = mix_share_texts(sweep)
    are_first = bool(of_mixes) and not have_pauses(sweep)
    if of_mixes:
        of_shares = [replace(each, text=tuple(of_mixes), is_front=True) for each in of_shares]
    verdicts = verdicts_table(sweep.axes, sweep.points, by, sweep.ranking_metrics)
    is_ranked = len(verdicts.columns) > len(sweep.axes)
    return Part(
        title=f"{', '.join(names)}{by_field}",
        question=question,
        answer=answer,
        findings=(
            *([fairness] if (fairness := fairness_finding(sweep.comparisons)) else []),
            *_field_findings(sweep),
            *_findings(sweep),
        ),
        sections=(
            *(of_shares if are_first else ()),
            *_changes(sweep, by),
            *([settings] if settings else []),
            *(
                Section(f"What the application of {flow} got", table)
                for flow, table in sweep_metrics_tables(sweep, by).items()
            ),
            Section("Means and 95 % intervals", sweep_table(sweep, by)),
            *(() if are_first else of_shares),
            *(
                Section(": ".join(["Along the values", *outer]), figure=_figure(along))
                for outer, along in sweep.lines.items()
            ),
            *([Section("Best at each value", verdicts)] if is_ranked else []),
            *(
                Section(table.title, replace(table, title=""))
                for table in best_values_tables(sweep, by)
            ),
            *_scenario(sweep),
            *provenance_sections(about, command),
        ),
        warnings=tuple(sweep.warnings),
    )


def _changes(sweep: Sweep, by: Sequence[str]) -> tuple[Section, ...]:
    """Returns the section on gains by other values and CCAs; none without gains."""
    texts = (*sweep.field_changes_by(by), *best_values_texts(sweep, by))
    return (Section("What to change", text=texts, is_front=True),) if texts else ()


def _field_findings(sweep: Sweep) -> tuple[Finding, ...]:
    """Returns a finding per field and need: the best value over all CCAs, and under each mix."""
    conditions = conditions_among(sweep.axes)
    are_several = len(ranked_mixes(sweep.ccas)) > 1
    return tuple(
        _field_finding(ranking, stake, has_ccas=len(sweep.ccas) > 1)
        for ranking in sweep.field_rankings
        if ranking.cca is None or has_several_flows(ranking.cca) or not are_several
        if ranking.field not in conditions
        for stake in ranking.stakes
    )


def _field_finding(ranking: FieldRanking, stake: Stake, *, has_ccas: bool) -> Finding:
    where = "".join(f" at {axis}={value}" for axis, value in ranking.fixed.items())
    if ranking.cca is not None and has_ccas:
        where += f" under {ranking.cca}"
    question = f"Best {ranking.field}{where} for {ranking.question(stake)}"
    verdict = stake.verdict
    text = verdict_text(verdict, {name: name for name in ranking.choices})
    if verdict.leader is None or verdict.best is None:
        texts = filter(None, (text, best_reversal_text(ranking, stake)))
        return Finding(question, "undecided", "; ".join(texts), state="undecided")
    others = [name for name in verdict.tied if name not in as_good_values(stake)]
    tied_text = f"tied with it: {', '.join(others)}" if others else ""
    dearer = join_names([f"{each.name} ({each.short})" for each in verdict.dearer], 4)
    tied = "; ".join(filter(None, (tied_text, f"as good at a price: {dearer}" if dearer else "")))
    instead = set_instead(verdict, {name: name for name in ranking.choices})
    cost = f" ({verdict.cost.short}{instead})" if verdict.cost else ""
    failures = failures_of(ranking, ranking.stakes)
    fails = "".join(
        f"; {each.flow} fails with {verdict.best}" for each in failures if verdict.best in each.names
    )
    reversal = best_reversal_text(ranking, stake) if verdict.best == verdict.leader else ""
    effect = f"{stake.value_text(verdict.best)}{cost}{fails}{reversal and f'; {reversal}'}"
    return Finding(question, best_text(stake), effect, tied, "tied" if verdict.tied else "decided")


def _scenario(sweep: Sweep) -> tuple[Section, ...]:
    """Returns the scenario of the first point, with a note on the others."""
    point, first = next(iter(sweep.points.items()))
    coordinates = ", ".join(f"{axis}={value}" for axis, value in zip(sweep.axes, point, strict=True))
    note = f"This is the scenario for {coordinates}; the others have another {' or '.join(sweep.axes)}."
    short, whole = scenario_sections(first.results.about)
    return replace(short, text=(*short.text, note)), whole


def _findings(sweep: Sweep) -> tuple[Finding, ...]:
    """Returns a finding per flow and requirement: the values at which each CCA is best or tied."""
    separator = ", " if len(sweep.axes) == 1 else "; "
    leading = leading_in(sweep.comparisons, sweep.ccas)
    return leading_findings(leading, sweep.ccas, "at", separator.join)


def _figure(sweep: Sweep) -> Figure:
    """Returns the metrics of the flows against the values of a sweep of one axis."""
    values = list(sweep.comparisons)
    names, shades, dash = labels(sweep.ccas), colours(sweep.ccas), dashes(sweep.ccas)
    panels = []
    for metric in panel_metrics(sweep):
        by_point = [metric.values(comparison) for comparison in sweep.points.values()]
        series = []
        for cca in sweep.ccas:
            estimates = [estimate(by_cca.get(cca, [])) for by_cca in by_point]
            mean = np.array([each.mean for each in estimates])
            ends = [interval_ends(metric.metric, each, metric.factor) for each in estimates]
            series.append(
                Series(
                    *(names[cca], shades[cca], mean),
                    look="joined" if has_amounts(values) else "points",
                    dash=dash[cca],
                    low=np.array([low for low, _ in ends]),
                    high=np.array([high for _, high in ends]),
                    size=8,
                )
            )
        panels.append(Panel(metric.label, metric.unit, tuple(series), metric.digits))
    chart = Chart(
        np.arange(len(values), dtype=float), sweep.field, "", tuple(panels), names=tuple(values)
    )
    metrics = ", ".join(panel.label for panel in panels)
    return Figure(functools.partial(draw_sweep, sweep), f"{metrics} by {sweep.field}", chart)
