"""Part of a report on an evaluation of policies."""

from __future__ import annotations

import functools
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
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.scenario_list import short_name
from celltcp.selection import Evaluation
from celltcp.selection.cases import RIVALS, won_tied_lost
from celltcp.selection.plots.selection import LOOKS, PANELS, draw_cases

#: Columns in %, which have intervals, with their headings.
_PERCENT_COLUMNS = (("gain", "gain over cubic, %"), ("regret", "regret to best, %"))


def evaluation_part(evaluation: Evaluation) -> Part:
    """Returns the part of a report on policies."""
    about = evaluation.about
    policies = ", ".join(about["policies"])
    subject = "does the policy" if len(about["policies"]) == 1 else "do the policies"
    scenarios = count_text(len(about["scenarios"]), "scenario")
    return Part(
        title=f"Evaluation of {policies}",
        question=(
            f"How close to the best fixed CCA {subject} {policies} come on {scenarios} for "
            f"{', '.join(about['requirements'])}, in {runs_text(about['runs'])} each?"
        ),
        findings=_findings(evaluation),
        sections=(
            Section("Over all cases", _checks(evaluation), text=(_CHECKS_NOTE,)),
            *_pictures(evaluation),
            Section("Cases", _cases(evaluation), text=(_BEST_NOTE,)),
            Section("Scenarios", digests_table(about)),
            *provenance_sections(about, _command(about)),
        ),
        warnings=tuple(f"left out: {reason}" for reason in about["left_out"]),
    )


_CHECKS_NOTE = (
    "Won, tied and lost are against CUBIC, the best fixed CCA in hindsight over the runs of a case, "
    "and the best one of each run (oracle)."
)
_BEST_NOTE = "The best fixed CCA in hindsight is that with the highest mean over the runs of a case."


def _findings(evaluation: Evaluation) -> tuple[Finding, ...]:
    """Returns a finding per policy and requirement: gain over CUBIC and regret, with intervals."""
    checks = evaluation.checks
    return tuple(
        Finding(
            f"{row['policy']} for {row['requirement']}",
            f"{percent_text(row['gain'], row['gain_ci95'])} % over cubic",
            f"Regret to the best in hindsight {percent_text(row['regret'], row['regret_ci95'])} %",
            f"won {row['won_default']}, tied {row['tied_default']}, lost {row['lost_default']} of "
            f"{row['cases']} cases against cubic",
            # The half width is NaN without an interval.
            "decided" if abs(row["gain"]) > row["gain_ci95"] else "undecided",
        )
        for row in checks[checks["policy"].isin(evaluation.about["policies"])].to_dict("records")
    )


def _checks(evaluation: Evaluation) -> Table:
    columns = (
        *map(Column, ("policy", "for")),
        *number_columns("cases", *(heading for _, heading in _PERCENT_COLUMNS)),
        *(Column(f"won, tied, lost against {rival}") for rival in ("cubic", "best", "oracle")),
        *number_columns("changes, returns per minute"),
    )
    rows: list[tuple[str, ...]] = []
    for prefix, table in (("", evaluation.checks), ("best constant: ", evaluation.best_for_all)):
        rows += [
            (
                f"{prefix}{row['policy']}",
                str(row["requirement"]),
                str(row["cases"]),
                *(percent_text(row[column], row[f"{column}_ci95"]) for column, _ in _PERCENT_COLUMNS),
                *(won_tied_lost(row, rival) for rival in RIVALS),
                f"{row['switches_per_min']:.1f}, {row['returns_per_min']:.1f}",
            )
            for row in table.to_dict("records")
        ]
    return Table(columns, tuple(rows))


def _cases(evaluation: Evaluation) -> Table:
    cases = evaluation.cases[evaluation.cases["policy"].isin(evaluation.about["policies"])]
    columns = (
        *map(Column, ("policy", "scenario", "for")),
        *number_columns("mean", *(heading for _, heading in _PERCENT_COLUMNS)),
        *map(Column, ("best", "against cubic", "against best", "against oracle")),
    )
    rows = tuple(
        (
            str(row["policy"]),
            short_name(row["scenario"]),
            str(row["requirement"]),
            f"{row['mean']:.{2 if row['requirement'] == 'goodput' else 3}f}",
            *(percent_text(row[column], row[f"{column}_ci95"]) for column, _ in _PERCENT_COLUMNS),
            *(str(row[name]) for name in ("best_cca", *(f"against_{rival}" for rival in RIVALS))),
        )
        for row in cases.to_dict("records")
    )
    return Table(columns, rows, cca_of_cell={str(cca): str(cca) for cca in cases["best_cca"]})


def _pictures(evaluation: Evaluation) -> list[Section]:
    """Returns sections with gain and regret, case by case, a picture per requirement."""
    about = evaluation.about
    policies = list(about["policies"])
    sections = []
    for requirement in about["requirements"]:
        selected = evaluation.cases[evaluation.cases["requirement"] == requirement]
        selected = selected[selected["policy"].isin(policies)]
        if selected.empty:
            continue
        draw = functools.partial(draw_cases, selected, policies, [requirement])
        title = f"Gain and regret by case, for {requirement}"
        sections.append(Section(title, figure=Figure(draw, title, _chart(selected, policies))))
    return sections


def _chart(cases: pd.DataFrame, policies: list[str]) -> Chart:
    scenarios = list(dict.fromkeys(cases["scenario"]))
    panels = []
    for value, half, label in PANELS:
        series = []
        for index, policy in enumerate(policies):
            selected = cases[cases["policy"] == policy].set_index("scenario").reindex(scenarios)
            mean = numbers(selected[value])
            half_width = np.nan_to_num(numbers(selected[half]))
            colour, _ = LOOKS[index % len(LOOKS)]
            low, high = mean - half_width, mean + half_width
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
