"""celltcp select estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option, options
from celltcp.cli.output import check_json, print_result
from celltcp.cli.verbosity import progress_bar
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
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
    print_result(accuracy.to_json, json_file, lambda: print_accuracy(accuracy, Terminal()))


def print_accuracy(accuracy: Accuracy, console: Terminal) -> None:
    """Prints shares of correct estimates by family and congestion control, then by confidence."""
    from celltcp.selection.tables.estimators import accuracy_table, confidence_table

    console.print_table(accuracy_table(accuracy))
    console.print_table(confidence_table(accuracy))
    for reason in accuracy.about["left_out"]:
        console.print(f"left out: {reason}", style="yellow")
