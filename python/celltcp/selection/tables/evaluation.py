"""Tables of celltcp select evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from celltcp.present.section import Column, Table, number_columns, percent_text
from celltcp.present.terminal import Terminal
from celltcp.scenarios.scenario_list import short_name
from celltcp.selection import Evaluation
from celltcp.selection.cases import won_tied_lost
from celltcp.selection.tables.baseline import print_baselines
from celltcp.selection.tables.calibration import print_calibration
from celltcp.selection.tables.switch_cost import print_switch_costs
from celltcp.selection.tally import OUTCOMES, PUBLISHED

#: Note on evaluations with a single run.
_SINGLE_RUN_NOTE = "no interval, so any difference decides"


def print_evaluation(evaluation: Evaluation) -> None:
    """Prints the tables of an evaluation and notes on them."""
    console = Terminal()
    about = evaluation.about
    selected_cases = evaluation.cases[evaluation.cases["policy"].isin(about["policies"])]
    for policy, cases in selected_cases.groupby("policy", sort=False):
        console.print_table(_cases(str(policy), cases, about["runs"]))
    console.print_table(_checks(evaluation.checks, evaluation.best_for_all, about["runs"]))
    print_baselines(evaluation, console)
    print_calibration(evaluation, console)
    console.print_table(_against_rivals(evaluation))
    console.print_table(_tally(evaluation))
    print_switch_costs(evaluation, console)
    for name, has_hints in about["hints"].items():
        if has_hints:
            console.print(f"{name} asks the radio (hints=on).")
    for name, count in about["history"].items():
        console.print(
            f"{name} remembers {count} earlier connections to each destination, its candidates in turn."
        )
    for reason in about["left_out"]:
        console.print(f"left out: {reason}", style="yellow")


def _cases(policy: str, cases: pd.DataFrame, runs: int) -> Table:
    runs_text = (
        f"1 run each: {_SINGLE_RUN_NOTE}"
        if runs == 1
        else f"{runs} runs each; means with paired 95 % intervals"
    )
    rows = []
    last_scenario = None
    for row in cases.to_dict("records"):
        digits = 2 if row["requirement"] == "goodput" else 3
        rows.append(
            (
                short_name(row["scenario"]) if row["scenario"] != last_scenario else "",
                row["requirement"],
                f"{row['mean']:.{digits}f}",
                percent_text(row["gain"], row["gain_ci95"]),
                percent_text(row["regret"], row["regret_ci95"]),
                row["best_cca"],
                row["against_default"],
                row["against_best"],
                row["against_oracle"],
                f"{row['switches_per_min']:.1f}, {row['returns_per_min']:.1f}",
            )
        )
        last_scenario = row["scenario"]
    columns = (
        Column("scenario", folds=True),
        Column("for", no_wrap=True),
        *number_columns("mean", "gain over\ncubic, %", "regret to\nbest, %", "best"),
        *map(Column, ("vs\ncubic", "vs\nbest", "vs\noracle")),
        *number_columns("switches,\nreturns /min"),
    )
    droppable = ("switches, returns /min", "mean", "vs oracle", "vs best")
    title = f"{policy}: cases, {runs_text}"
    return Table(columns, tuple(rows), title, frame="head", droppable=droppable)


def _checks(checks: pd.DataFrame, best_for_all: pd.DataFrame, runs: int) -> Table:
    """Returns a table of counts and means over cases, a block per policy, and the best constant."""
    headings = (
        *("cases", "gain over\ncubic, %", "regret to\nbest, %", "cubic\nw/t/l", "gain\n>5 %"),
        *(">=95 %\nof best", "best\nw/t/l", "above\nbest", "oracle\nw/t/l", "switches,\nreturns /min"),
    )
    blank = [""] * len(headings)
    rows: list[tuple[str, ...]] = []
    for policy, group in checks.groupby("policy", sort=False):
        rows.append((str(policy), *blank))
        rows += [(f"  {row['requirement']}", *_check_cells(row)) for row in group.to_dict("records")]
    rows.append(("best constant", *blank))
    for row in best_for_all.to_dict("records"):
        rows.append((f"  {row['requirement']}: {row['policy']}", *_check_cells(row)))
    return Table(
        (Column("policy,\n  for", folds=True), *number_columns(*headings)),
        tuple(rows),
        "Over all cases; w/t/l: won, tied, lost; best: in hindsight over the runs of a case; "
        "oracle: in each run; best constant: the fixed CCA with the lowest mean regret over all cases"
        + (f"; 1 run each, {_SINGLE_RUN_NOTE}" if runs == 1 else ""),
        frame="head",
        droppable=(
            *("above best", "switches, returns /min", ">=95 % of best", "gain >5 %"),
            *("oracle w/t/l", "cubic w/t/l"),
        ),
    )


def _check_cells(row: Mapping[Any, Any]) -> list[str]:
    return [
        str(row["cases"]),
        percent_text(row["gain"], row["gain_ci95"]),
        percent_text(row["regret"], row["regret_ci95"]),
        won_tied_lost(row, "default"),
        str(row["large_gains"]),
        str(row["reached_best"]),
        won_tied_lost(row, "best"),
        str(row["better_than_best"]),
        won_tied_lost(row, "oracle"),
        f"{row['switches_per_min']:.1f}, {row['returns_per_min']:.1f}",
    ]


def _against_rivals(evaluation: Evaluation) -> Table:
    """Returns a table of evaluated policies against every fixed CCA and every other policy."""
    evaluated = evaluation.about["policies"]
    rows = []
    for rival, rival_duels in evaluation.duels.groupby("rival", sort=False):
        if [str(rival)] == evaluated:
            continue
        cells = []
        for policy in evaluated:
            duels = rival_duels[rival_duels["policy"] == policy]
            counts = [int((duels["verdict"] == verdict).sum()) for verdict in ("won", "tied", "lost")]
            percent = f"{duels['percent'].mean():+.1f}"
            cells.append(f"{'/'.join(map(str, counts))}  {percent:>6}" if len(duels) else "-")
        rows.append((str(rival), *cells))
    columns = (Column("against"), *number_columns(*evaluated))
    return Table(columns, tuple(rows), "Won/tied/lost, and mean difference, %")


def _tally(evaluation: Evaluation) -> Table:
    names = {"all": "all that ran", "thesis": "the thesis' five"}
    rows = [
        (row["policy"], names[row["among"]], *(str(row[column]) for column in ("cases", *OUTCOMES)))
        for row in evaluation.tally.to_dict("records")
    ]
    published = [str(PUBLISHED[outcome]) for outcome in OUTCOMES]
    rows.append(("atxutegi2018", names["thesis"], str(sum(PUBLISHED.values())), *published))
    columns = (Column("policy"), Column("fixed CCAs"), *number_columns("cases", *OUTCOMES))
    title = "Tally against the best fixed CCA in hindsight"
    return Table(columns, tuple(rows), title, group_ends=frozenset({len(rows) - 2}))
