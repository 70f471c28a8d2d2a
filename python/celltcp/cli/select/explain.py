"""celltcp select explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import draws, option
from celltcp.cli.output import check_json, draw, print_result
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from celltcp.selection.explanation import Explanation


@click.command()
@click.argument("folder", metavar="DIR")
@option(
    "seed",
    default=None,
    help="Explain the run with this seed.  [default: the first]",
)
@click.option(
    "--run",
    type=click.IntRange(0),
    metavar="N",
    help="Explain the run with this number in the tables, counted from 0 over all CCAs.",
)
@click.option(
    "--flow",
    type=click.IntRange(0),
    metavar="N",
    help="Explain the connection with this number.  [default: the longest of the first flow with a "
    "selector]",
)
@option(
    "cca",
    default=None,
    metavar="LABEL",
    help="Explain only this selector, such as auto:policy=rules, or auto if it is the only one.",
)
@option("json_file")
@draws
def explain(
    folder: str,
    seed: int | None,
    run: int | None,
    flow: int | None,
    cca: str | None,
    json_file: str | None,
) -> None:
    """Explain the decisions of selectors in stored results.

    DIR is the folder that --out of compare or run wrote, with auto in --cca. Each explanation is a
    table of decisions, a comparison of estimates with the truth, and a picture, which goes to DIR.
    """
    from celltcp.results.folder import prepare_folder
    from celltcp.selection.explanation import explain as explain_all

    check_json(json_file)
    result = explain_all(folder, run, cca, flow=flow, seed=seed)
    pictures_folder = prepare_folder(folder)

    def show() -> None:
        for explanation in result:
            print_explanation(explanation)

    print_result(lambda: {"runs": [explanation.to_json() for explanation in result]}, json_file, show)
    draw_all(result, pictures_folder)


def draw_all(explanations: list[Explanation], folder: Path) -> None:
    """Draws a picture of each explanation: explain.png, explain-2.png and so on."""
    for explanation in explanations:
        draw(explanation.plot(), folder, explanation.picture)


def print_explanation(explained: Explanation) -> None:
    """Prints the decisions of a selector, its estimates, and the truth."""
    from celltcp.selection.tables.explanation import agreements_table, decisions_table

    console = Terminal()
    if explained.others:
        console.print(f"{explained.others}; --flow shows another.")
    console.print_table(decisions_table(explained))
    under = ", ".join(f"{cca} {seconds:.1f} s" for cca, seconds in explained.time_under.items())
    console.print(f"Time under each: {under}")
    console.print_table(agreements_table(explained.agreements))
