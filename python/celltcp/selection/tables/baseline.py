"""Tables of celltcp select evaluate: baselines, and the worst cases of policies."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from celltcp.present.section import Column, Table, number_columns, percent_text
from celltcp.present.terminal import Terminal
from celltcp.scenarios.scenario_list import short_name
from celltcp.selection import Evaluation


def print_baselines(evaluation: Evaluation, console: Terminal) -> None:
    """Prints the baselines next to the evaluated policies, and the worst cases of each policy."""
    console.print_table(_baselines(evaluation))
    evaluated = evaluation.worst[evaluation.worst["policy"].isin(evaluation.about["policies"])]
    for policy, cases in evaluated.groupby("policy", sort=False):
        console.print_table(_worst(str(policy), cases.to_dict("records")))


def _baselines(evaluation: Evaluation) -> Table:
    """Returns the baselines and the evaluated policies, a block per requirement."""
    policies = evaluation.about["policies"]
    numbers = ("regret, %", "worst\ncase, %", *(f"{name}\nahead by, %" for name in policies))
    rows: list[tuple[str, ...]] = []
    baselines = evaluation.baselines
    selected = baselines[(baselines["baseline"] != "") | baselines["choice"].isin(policies)]
    for requirement, part in selected.groupby("requirement", sort=False):
        rows.append((str(requirement), "", *[""] * len(numbers)))
        for row in part.to_dict("records"):
            ahead = [
                ""
                if row["choice"] == name and not row["baseline"]
                else percent_text(row[f"ahead_{name}"], row[f"ahead_ci95_{name}"])
                for name in policies
            ]
            rows.append(
                (
                    f"  {row['baseline'] or 'policy'}",
                    row["choice"],
                    percent_text(row["regret"], row["regret_ci95"]),
                    percent_text(row["worst"], float("nan")),
                    *ahead,
                )
            )
    columns = (
        *(Column(heading, folds=True) for heading in ("for,\n  baseline", "choice")),
        *number_columns(*numbers),
    )
    title = (
        "Baselines: regret to the best fixed CCA of each case, and how far that of a policy is "
        "below; 95 % intervals over the cases"
    )
    return Table(columns, tuple(rows), title, frame="head")


def _worst(policy: str, cases: list[dict[Hashable, Any]]) -> Table:
    columns = (
        Column("scenario", folds=True),
        Column("for", no_wrap=True),
        *number_columns("regret, %", "gain over\ncubic, %"),
        *(Column(heading, folds=True) for heading in ("best", "used", "cause")),
    )
    rows = tuple(
        (
            short_name(row["scenario"]),
            row["requirement"],
            percent_text(row["regret"], row["regret_ci95"]),
            percent_text(row["gain"], float("nan")),
            *(row[name] for name in ("best_cca", "used", "cause")),
        )
        for row in cases
    )
    droppable = ("gain over cubic, %", "used")
    return Table(columns, rows, f"{policy}: worst cases", frame="head", droppable=droppable)
