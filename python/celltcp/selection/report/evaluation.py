"""Evaluation of policies as a part of a report."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from celltcp.campaign.engines import engine_options
from celltcp.comparison.report.provenance import digests_table, provenance_sections
from celltcp.present.chart import Chart, Panel, Series, numbers
from celltcp.present.section import (
    Column,
    Figure,
    Finding,
    Part,
    Section,
    Table,
    number_columns,
    percent_text,
    runs_text,
)
from celltcp.scenarios.scenario_list import short_name
from celltcp.selection import Evaluation
from celltcp.selection.cases import won_tied_lost
from celltcp.selection.plots.selection import LOOKS, PANELS, draw_cases

#: Places of percentages: value and half of its interval, with the heading.
_PERCENT = (("gain", "gain over cubic, %"), ("regret", "regret to best, %"))


def evaluation_part(evaluation: Evaluation) -> Part:
    """Returns the part of a report on policies."""
    about = evaluation.about
    policies = ", ".join(about["policies"])
    requirements = ", ".join(about["requirements"])
    count = len(about["scenarios"])
    come = "does the policy" if len(about["policies"]) == 1 else "do the policies"
    question = (
        f"How close to the best fixed CCA {come} {policies} come on {count} "
        f"{'scenario' if count == 1 else 'scenarios'} for {requirements}, in "
        f"{runs_text(about['runs'])} each?"
    )
    checks = (
        "Won, tied and lost are against CUBIC, the best fixed CCA in hindsight over the runs of a "
        "case, and the best one of each run (oracle).",
    )
    text = "The best fixed CCA in hindsight is that with the highest mean over the runs of a case."
    return Part(
        title=f"Evaluation of {policies}",
        question=question,
        findings=_findings(evaluation),
        sections=(
            Section("Over all cases", _checks(evaluation), text=checks),
            *_pictures(evaluation),
            Section("Cases", _cases(evaluation), text=(text,)),
            Section("Scenarios", digests_table(about)),
            *provenance_sections(about, _command(about)),
        ),
        warnings=tuple(f"left out: {each}" for each in about["left_out"]),
    )


def _findings(evaluation: Evaluation) -> tuple[Finding, ...]:
    """Returns a finding per policy and requirement: gain over CUBIC and regret, with intervals."""
    findings = []
    checks = evaluation.checks
    for row in checks[checks["policy"].isin(evaluation.about["policies"])].to_dict("records"):
        gain = f"{percent_text(row['gain'], row['gain_ci95'])} %"
        half = row["gain_ci95"]
        is_clear = not math.isnan(half) and abs(row["gain"]) > half
        findings.append(
            Finding(
                f"{row['policy']} for {row['requirement']}",
                f"{gain} over cubic",
                f"Regret to the best in hindsight {percent_text(row['regret'], row['regret_ci95'])} %",
                f"won {row['won_default']}, tied {row['tied_default']}, lost {row['lost_default']} of "
                f"{row['cases']} cases against cubic",
                "decided" if is_clear else "undecided",
            )
        )
    return tuple(findings)


def _checks(evaluation: Evaluation) -> Table:
    columns = (
        *map(Column, ("policy", "for")),
        *number_columns("cases", *(heading for _, heading in _PERCENT)),
        *(Column(f"won, tied, lost against {rival}") for rival in ("cubic", "best", "oracle")),
        *number_columns("changes, returns per minute"),
    )
    rows: list[tuple[str, ...]] = []
    for name, table in (("", evaluation.checks), ("best constant: ", evaluation.best_for_all)):
        rows += [
            (
                f"{name}{row['policy']}",
                str(row["requirement"]),
                str(row["cases"]),
                *(percent_text(row[column], row[f"{column}_ci95"]) for column, _ in _PERCENT),
                *(won_tied_lost(row, rival) for rival in ("default", "best", "oracle")),
                f"{row['switches_per_min']:.1f}, {row['returns_per_min']:.1f}",
            )
            for row in table.to_dict("records")
        ]
    return Table(columns, tuple(rows))


def _cases(evaluation: Evaluation) -> Table:
    cases = evaluation.cases[evaluation.cases["policy"].isin(evaluation.about["policies"])]
    headings = ("policy", "scenario", "for")
    columns = (
        *map(Column, headings),
        *number_columns("mean", *(heading for _, heading in _PERCENT)),
        *map(Column, ("best", "against cubic", "against best", "against oracle")),
    )
    rows = tuple(
        (
            str(row["policy"]),
            short_name(row["scenario"]),
            str(row["requirement"]),
            f"{row['mean']:.{2 if row['requirement'] == 'goodput' else 3}f}",
            *(percent_text(row[column], row[f"{column}_ci95"]) for column, _ in _PERCENT),
            *(str(row[name]) for name in ("best_cca", "against_default", "against_best")),
            str(row["against_oracle"]),
        )
        for row in cases.to_dict("records")
    )
    return Table(columns, rows, ccas={str(cca): str(cca) for cca in cases["best_cca"]})


def _pictures(evaluation: Evaluation) -> list[Section]:
    """Returns gain and regret, case by case, a picture per requirement."""
    about = evaluation.about
    policies = list(about["policies"])
    sections = []
    for requirement in about["requirements"]:
        selected = evaluation.cases[evaluation.cases["requirement"] == requirement]
        selected = selected[selected["policy"].isin(policies)]
        if selected.empty:
            continue
        draw = functools.partial(draw_cases, selected, policies, [requirement])
        words = f"Gain and regret by case, for {requirement}"
        sections.append(Section(words, figure=Figure(draw, words, _chart(selected, policies))))
    return sections


def _chart(cases: pd.DataFrame, policies: list[str]) -> Chart:
    scenarios = list(dict.fromkeys(cases["scenario"]))
    panels = []
    for value, half, label in PANELS:
        series = []
        for index, policy in enumerate(policies):
            selected = cases[cases["policy"] == policy].set_index("scenario").reindex(scenarios)
            mean = numbers(selected[value])
            width = np.nan_to_num(numbers(selected[half]))
            colour = LOOKS[index % len(LOOKS)][0]
            low, high = mean - width, mean + width
            series.append(Series(policy, colour, mean, look="points", low=low, high=high, size=8))
        panels.append(Panel(label.partition(", ")[0], "%", tuple(series), 1))
    names = tuple(short_name(name) for name in scenarios)
    return Chart(np.arange(len(scenarios), dtype=float), "case", "", tuple(panels), names=names)


def _command(about: Mapping[str, Any]) -> str:
    """Returns the command that reproduces an evaluation."""
    words = ["celltcp", "select", "evaluate", "--policy", ",".join(about["policies"])]
    words += ["--against", ",".join(about["against"]), "--cca", ",".join(about["cca"])]
    words += ["--scenarios", ",".join(about["scenarios"])]
    words += ["--requirement", ",".join(about["requirements"])]
    words += ["--runs", str(about["runs"]), "--seed", str(about["seed"])]
    words += [word for change in about.get("set", ()) for word in ("--set", change)]
    words += ["--hints"] if any(about["hints"].values()) else []
    words += ["--switch-cost"] if about.get("switches") else []
    histories = set(about["history"].values())
    words += ["--history", str(max(histories))] if histories else []
    return shlex.join([*words, *engine_options(str(about["engine"])), "--out", "results"])
