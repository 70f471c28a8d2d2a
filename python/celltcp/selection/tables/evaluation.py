"""The tables of celltcp select evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.table import Table

from celltcp.present.fit_table import print_table
from celltcp.present.section import percent_text
from celltcp.present.terminal import wide_console
from celltcp.selection import Evaluation
from celltcp.selection.tables.baseline import print_baselines
from celltcp.selection.tables.calibration import print_calibration
from celltcp.selection.tables.switch_cost import print_prices

#: Columns that a narrow terminal can do without, the least important first.
_OF_CASES = ("switches, returns /min", "mean", "vs oracle", "vs best")
_OF_CHECKS = (
    *("above best", "switches, returns /min", ">=95 % of best", "gain >5 %"),
    *("oracle w/t/l", "cubic w/t/l"),
)

#: Note on a single run.
_ONE_RUN = "no interval, so any difference decides"


def print_evaluation(result: Evaluation) -> None:
    """Tables of cases, checks and the tally, and what to know about them."""
    console = wide_console()
    about = result.about
    shown = result.cases[result.cases["policy"].isin(about["policies"])]
    for policy, cases in shown.groupby("policy", sort=False):
        print_table(console, _cases(str(policy), cases, about["runs"]), _OF_CASES)
    print_table(console, _checks(result.checks, result.best_for_all, about["runs"]), _OF_CHECKS)
    print_baselines(result, console)
    print_calibration(result, console)
    print_table(console, _duels(result))
    print_table(console, _tally(result))
    print_prices(result, console)
    for name, hinted in about["hints"].items():
        if hinted:
            console.print(f"{name} asks the radio (hints=on).")
    for name, count in about["history"].items():
        console.print(
            f"{name} remembers {count} earlier connections to each destination, its candidates in turn."
        )
    for reason in about["left_out"]:
        console.print(f"left out: {reason}", style="yellow", markup=False)


def _cases(policy: str, cases: pd.DataFrame, runs: int) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from celltcp.scenarios.scenario_list import short_name

    how = (
        f"1 run each: {_ONE_RUN}"
        if runs == 1
        else f"{runs} runs each; means with paired 95 % intervals"
    )
    table = Table(
        title=f"{policy}: cases, {how}",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("scenario", overflow="fold")
    table.add_column("for", no_wrap=True)
    for heading in ("mean", "gain over\ncubic, %", "regret to\nbest, %", "best"):
        table.add_column(heading, justify="right")
    for heading in ("cubic", "best", "oracle"):
        table.add_column(f"vs\n{heading}")
    table.add_column("switches,\nreturns /min", justify="right")
    before = None
    for row in cases.to_dict("records"):
        digits = 2 if row["requirement"] == "goodput" else 3
        table.add_row(
            short_name(row["scenario"]) if row["scenario"] != before else "",
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
        before = row["scenario"]
    return table


def _checks(checks: pd.DataFrame, best_for_all: pd.DataFrame, runs: int) -> Table:
    """Returns a table of counts and means over cases, a block per policy, and the best constant."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="Over all cases; w/t/l: won, tied, lost; best: in hindsight over the runs of a case; "
        "oracle: in each run; best constant: the fixed CCA with the lowest mean regret over all cases"
        + (f"; 1 run each, {_ONE_RUN}" if runs == 1 else ""),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("policy,\n  for", overflow="fold")
    headings = (
        "cases",
        "gain over\ncubic, %",
        "regret to\nbest, %",
        "cubic\nw/t/l",
        "gain\n>5 %",
        ">=95 %\nof best",
        "best\nw/t/l",
        "above\nbest",
        "oracle\nw/t/l",
        "switches,\nreturns /min",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    for policy, rows in checks.groupby("policy", sort=False):
        table.add_row(str(policy))
        for row in rows.to_dict("records"):
            table.add_row(f"  {row['requirement']}", *_check_cells(row))
    table.add_row("best constant")
    for row in best_for_all.to_dict("records"):
        table.add_row(f"  {row['requirement']}: {row['policy']}", *_check_cells(row))
    return table


def _check_cells(row: Mapping[Any, Any]) -> list[str]:
    return [
        str(row["cases"]),
        percent_text(row["gain"], row["gain_ci95"]),
        percent_text(row["regret"], row["regret_ci95"]),
        _won(row, "default"),
        str(row["large_gains"]),
        str(row["reached_best"]),
        _won(row, "best"),
        str(row["better_than_best"]),
        _won(row, "oracle"),
        f"{row['switches_per_min']:.1f}, {row['returns_per_min']:.1f}",
    ]


def _duels(result: Evaluation) -> Table:
    """Returns a table of evaluated policies against every fixed CCA and every other policy."""
    from rich.table import Table

    evaluated = result.about["policies"]
    duels = result.duels
    table = Table(title="Won/tied/lost, and mean difference, %")
    table.add_column("against")
    for policy in evaluated:
        table.add_column(policy, justify="right")
    for rival, theirs in duels.groupby("rival", sort=False):
        if [str(rival)] == evaluated:
            continue
        cells = []
        for policy in evaluated:
            mine = theirs[theirs["policy"] == policy]
            counts = [int((mine["verdict"] == each).sum()) for each in ("won", "tied", "lost")]
            share = f"{mine['percent'].mean():+.1f}" if len(mine) else "-"
            cells.append(f"{'/'.join(map(str, counts))}  {share:>6}" if len(mine) else "-")
        table.add_row(str(rival), *cells)
    return table


def _tally(result: Evaluation) -> Table:
    from rich.table import Table

    from celltcp.selection.tally import OUTCOMES, PUBLISHED

    table = Table(title="Tally against the best fixed CCA in hindsight")
    table.add_column("policy")
    table.add_column("fixed CCAs")
    for heading in ("cases", *OUTCOMES):
        table.add_column(heading, justify="right")
    names = {"all": "all that ran", "thesis": "the thesis' five"}
    for row in result.tally.to_dict("records"):
        counts = [str(row[each]) for each in OUTCOMES]
        table.add_row(row["policy"], names[row["among"]], str(row["cases"]), *counts)
    published = [str(PUBLISHED[each]) for each in OUTCOMES]
    table.add_section()
    table.add_row("atxutegi2018", "the thesis' five", str(sum(PUBLISHED.values())), *published)
    return table


def _won(row: Mapping[Any, Any], rival: str) -> str:
    return "/".join(str(row[f"{verdict}_{rival}"]) for verdict in ("won", "tied", "lost"))
