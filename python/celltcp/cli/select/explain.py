"""celltcp select explain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from celltcp.cli.options import draws, option
from celltcp.cli.output import check_json, draw, print_result
from celltcp.present.fit_table import print_table
from celltcp.present.terminal import wide_console

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from pathlib import Path

    from rich.table import Table

    from celltcp.selection.agreement import Agreement
    from celltcp.selection.explanation import Explanation


#: Headings of the main measures.
_HEADINGS = {
    "base_rtt": "base\nms",
    "capacity": "capa-\ncity",
    "movement": "move-\nment",
    "queue_ratio": "queue\nratio",
    "retransmitted": "sent\nagain",
}


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
    """Explain the decisions that selectors made in stored results.

    DIR is the folder that --out of compare or run wrote, with auto in --cca. Each explanation is a
    table of decisions, a comparison of estimates with the truth, and a picture, which goes to DIR.
    """
    from pathlib import Path

    from celltcp.results.folder import prepare_folder
    from celltcp.selection.explanation import explain as explain_all

    check_json(json_file)
    result = explain_all(folder, run, cca, flow=flow, seed=seed)
    place = prepare_folder(folder)

    def show() -> None:
        for each in result:
            _print(each)

    print_result(lambda: {"runs": [each.to_json() for each in result]}, json_file, show)
    draw_all(result, Path(place))


def draw_all(result: list[Explanation], folder: Path) -> None:
    """Draws a picture of each explanation: explain.png, explain-2.png and so on."""
    for each in result:
        draw(each.plot(), folder, each.picture)


def _print(explained: Explanation) -> None:
    console = wide_console()
    if explained.others:
        console.print(f"{explained.others}; --flow shows another.", markup=False)
    print_table(console, _decisions(explained), ("queue ratio", "sent again", "movement", "from"))
    under = ", ".join(f"{cca} {seconds:.1f} s" for cca, seconds in explained.time_under.items())
    console.print(f"Time under each: {under}")
    print_table(console, _agreements(explained.agreements))


def _decisions(explained: Explanation) -> Table:
    from rich.table import Table

    from celltcp.selection.explanation import MAIN_MEASURES

    table = Table(title=f"{explained.title}: decisions")
    table.add_column("s", justify="right")
    for heading in ("from", "to", "cause"):
        table.add_column(heading, no_wrap=True)
    table.add_column("why")
    table.add_column("verdict")
    for name in MAIN_MEASURES:
        table.add_column(_HEADINGS[name], justify="right")
    for row in explained.decisions.to_dict("records"):
        table.add_row(
            f"{row['t_s']:.2f}",
            row["from_cca"],
            row["to_cca"],
            row["cause"],
            row["reason"],
            row["verdict"],
            *(_measure(row, name) for name in MAIN_MEASURES),
        )
    return table


def _measure(row: Mapping[Hashable, Any], name: str) -> str:
    """Returns a measure as text; `-` for one that was unknown."""
    value = float(row.get(name, math.nan))
    return "-" if math.isnan(value) else f"{value:.3g}"


def _agreements(result: list[Agreement]) -> Table:
    from rich.table import Table

    from celltcp.selection.agreement import CONFIDENT

    table = Table(
        title="What the estimators saw against what is true; "
        f"numbers with a confidence below {CONFIDENT:g} left out"
    )
    table.add_column("estimate")
    table.add_column("truth")
    for heading in ("slots", "right, %", "median\nerror, %", "median\nbias, %"):
        table.add_column(heading, justify="right")
    for each in result:
        shares = (each.accuracy, each.error, each.bias)
        cells = ["" if share is None else f"{100 * share:.1f}" for share in shares]
        table.add_row(each.quantity, each.truth, f"{each.slots} of {each.total_slots}", *cells)
    return table
