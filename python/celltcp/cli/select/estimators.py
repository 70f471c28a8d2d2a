"""celltcp select estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option, options
from celltcp.cli.output import check_json, print_result
from celltcp.cli.verbosity import progress_bar
from celltcp.present.fit_table import print_table
from celltcp.present.terminal import wide_console

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from celltcp.selection.estimators import Accuracy


@click.command()
@option(
    "scenarios",
    default=None,
    help="Scenarios: built-in names, files, folders of traces, patterns such as 'static/*'.  "
    "[default: mobility/*]",
)
@option(
    "cca",
    default=None,
    metavar="LIST",
    help="Congestion controls, or auto with its parameters.  [default: nine, and auto:policy=rules]",
)
@option("runs", default=5)
@options("seed", "jobs")
@option("out", help="Keep the results of each scenario in this folder.")
@option("json_file")
def estimators(
    scenarios: str | None,
    cca: str | None,
    runs: int,
    seed: int,
    jobs: int | None,
    out: str | None,
    json_file: str | None,
) -> None:
    """Measure how often the estimators of selectors are right.

    Estimators watch connections under each congestion control. Their answers are compared with what the
    simulator knows: movement, speed and latency every 5 s after the first 5 s, the others in each slot.
    """
    from celltcp.results.folder import prepare_folder
    from celltcp.selection.estimators import DEFAULT_CCAS, DEFAULT_SCENARIOS, check_estimators

    check_json(json_file)
    folder = prepare_folder(out) if out else None
    with progress_bar("estimating") as progress:
        accuracy = check_estimators(
            DEFAULT_SCENARIOS if scenarios is None else scenarios,
            cca=DEFAULT_CCAS if cca is None else cca,
            runs=runs,
            seed=seed,
            jobs=jobs,
            out=folder,
            progress=progress,
        )
    print_result(accuracy.to_json, json_file, lambda: print_accuracy(accuracy, wide_console()))


def print_accuracy(accuracy: Accuracy, console: Console) -> None:
    """Shares that were right, by family and congestion control, then by confidence."""
    from celltcp.scenarios.cca_mix import labels

    asked = list(accuracy.overall["estimator"])
    names = labels(accuracy.ccas)
    by_cca = _table("Right answers of estimators, %, and how many")
    by_cca.add_column("family,\n  CCA", overflow="fold")
    for heading in asked:
        by_cca.add_column(heading, justify="right", no_wrap=True)
    for family, rows in accuracy.table.groupby("family", sort=True):
        by_cca.add_row(str(family))
        for cca in accuracy.ccas:
            cells = rows[rows["cca"] == cca].set_index("estimator")
            by_cca.add_row(f"  {names[cca]}", *(_cell(cells, each) for each in asked))
    print_table(console, by_cca)
    print_table(console, _by_confidence(accuracy))
    for reason in accuracy.about["left_out"]:
        console.print(f"left out: {reason}", style="yellow", markup=False)


def _by_confidence(accuracy: Accuracy) -> Table:
    table = _table("Right answers by confidence, %, and how many")
    result = accuracy.by_confidence
    ranges = list(dict.fromkeys(result["confidence"].sort_values()))
    for heading in ("estimator", "all", *ranges):
        table.add_column(heading, justify="left" if heading == "estimator" else "right")
    overall = accuracy.overall.set_index("estimator")
    for estimator, rows in result.groupby("estimator", sort=True):
        cells = rows.set_index("confidence")
        shares = (_cell(cells, each) for each in ranges)
        table.add_row(str(estimator), _cell(overall, str(estimator)), *shares)
    return table


def _table(title: str) -> Table:
    """A table with a space between columns, so that many fit."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(title=title, box=SIMPLE_HEAD, padding=0, show_edge=False)


def _cell(rows: pd.DataFrame, key: str) -> str:
    if key not in rows.index:
        return ""
    row = rows.loc[key].to_dict()
    count = row["answers"]
    short = f"{count / 1000:.0f}k" if count >= 10_000 else f"{count:.0f}"
    return f"{100 * row['right']:.0f} ({short})"
