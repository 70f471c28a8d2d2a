"""celltcp select engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.console import wide_console
from celltcp.cli.fitted import print_table
from celltcp.cli.options import case_options, option, takes_settings
from celltcp.cli.outcome import check_json, tell
from celltcp.cli.progress import progress_bar
from celltcp.report.means import percent_text

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from celltcp.selection.engines import Overlap
    from celltcp.settings import RunSettings

#: Columns of the summary that a narrow terminal can do without, the least important first.
_DROPPABLE = (
    *("mean sizes: native", "kernel", "both", "expected, %"),
    *("best of kernel in native's", "best of native in kernel's", "same best"),
)

#: Names of scenarios up to this length are not folded.
_NAME = 30


@click.command()
@option("runs", default=5)
@option("cca", default="all", help="Congestion controls to compare. all: those that both engines have.")
@option("out", help="Keep the tables in this folder. Runs that are there already are not done again.")
@option("overwrite")
@case_options
@takes_settings
def engines(scenarios: str, requirement: str, settings: RunSettings, json_file: str | None) -> None:
    """Check whether both engines find the same best CCAs.

    Both engines meet the same realisations of the channel. A case is a scenario with a requirement. Its
    best are the congestion control with the highest mean and all that are tied with it.
    """
    from celltcp.results import prepare_folder
    from celltcp.selection.engines import check_engines_with

    check_json(json_file)
    if settings.out:
        prepare_folder(settings.out)
    with progress_bar("comparing") as progress:
        found = check_engines_with(scenarios, requirement, settings, progress)
    tell(found.to_json(), json_file, lambda: print_overlap(found))


def print_overlap(found: Overlap) -> None:
    """Prints the sets of all cases, the CCAs in one set only, and the number of overlaps."""
    console = wide_console()
    about = found.about
    print_table(console, _cases(found.cases), ("kernel only", "native only", "in both"))
    if len(found.differences):
        print_table(console, _differences(found.differences))
        console.print(
            "Means, paired by seed, against the best of each engine; cases without overlap are bold."
        )
    print_table(console, _summary(found.summary), _DROPPABLE)
    for reason in about["left_out"]:
        console.print(f"left out: {reason}", style="yellow", markup=False)
    overall = found.summary.iloc[-1]
    console.print(
        f"celltcp {about['version']} against Linux {about['kernel_version']}, "
        f"{about['runs']} runs each: the best overlap in {overall['overlap']} of "
        f"{overall['cases']} cases, {100 * overall['share']:.0f} %",
        soft_wrap=True,
    )


def _cases(cases: pd.DataFrame) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from celltcp.sources import short_name

    table = Table(
        title="The best of each case, followed by those tied with it",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    longest = max(len(short_name(name)) for name in cases["scenario"])
    table.add_column("scenario", overflow="fold", no_wrap=longest <= _NAME)
    table.add_column("for", no_wrap=True)
    table.add_column("best\nnative", no_wrap=True)
    table.add_column("best\nkernel", no_wrap=True)
    for heading in ("in both", "native only", "kernel only"):
        table.add_column(heading)
    before = None
    for row in cases.to_dict("records"):
        native, kernel, both = (list(row[name]) for name in ("native", "kernel", "both"))
        table.add_row(
            short_name(row["scenario"]) if row["scenario"] != before else "",
            row["requirement"],
            native[0] if native else "-",
            kernel[0] if kernel else "-",
            ", ".join(both) or "none",
            ", ".join(cca for cca in native if cca not in both),
            ", ".join(cca for cca in kernel if cca not in both),
            style="" if row["overlap"] else "bold",
        )
        before = row["scenario"]
    return table


def _differences(differences: pd.DataFrame) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from celltcp.sources import short_name

    table = Table(
        title="Best under one engine only, worst first", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.add_column("scenario", overflow="fold")
    for heading in ("for", "CCA", "best\nunder"):
        table.add_column(heading, no_wrap=True)
    for heading in ("native:\n% to its best", "kernel:\n% to its best"):
        table.add_column(heading, justify="right")
    before = None
    for row in differences.to_dict("records"):
        case = (row["scenario"], row["requirement"])
        table.add_row(
            short_name(row["scenario"]) if case != before else "",
            row["requirement"] if case != before else "",
            row["cca"],
            row["only"],
            percent_text(row["native"], row["native_ci95"], 2),
            percent_text(row["kernel"], row["kernel_ci95"], 2),
            style="" if row["overlap"] else "bold",
        )
        before = case
    return table


def _summary(summary: pd.DataFrame) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="Over all cases; expected: overlap of sets of these sizes drawn at random",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("for", no_wrap=True)
    headings = (
        "cases",
        "overlap",
        "%",
        "expected,\n%",
        "mean sizes:\nnative",
        "kernel",
        "both",
        "same\nbest",
        "best of\nnative in\nkernel's",
        "best of\nkernel in\nnative's",
        "best of\nnative on\nkernel, %",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in summary.to_dict("records"):
        table.add_row(
            row["requirement"],
            str(row["cases"]),
            str(row["overlap"]),
            f"{100 * row['share']:.0f}",
            f"{100 * row['by_chance']:.0f}",
            *(f"{row[name]:.1f}" for name in ("native", "kernel", "both")),
            *(str(row[name]) for name in ("same_best", "native_in_kernel", "kernel_in_native")),
            percent_text(row["native_choice"], float("nan")),
        )
    return table
