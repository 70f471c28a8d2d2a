"""celltcp select compare-engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import case_options, option, takes_settings
from celltcp.cli.output import check_json, print_result, run_request
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from celltcp.campaign.run_settings import RunSettings
    from celltcp.selection.engine_agreement import Overlap


@click.command("compare-engines")
@option("runs", default=5)
@option("cca", default="all", help="Congestion controls to compare. all: those that both engines have.")
@option("dry_run")
@option("out", help="Keep the tables in this folder. Runs that are there already are not done again.")
@option("overwrite")
@case_options
@takes_settings
def compare_engines(
    scenarios: str, requirement: str, settings: RunSettings, dry_run: bool, json_file: str | None
) -> None:
    """Check whether both engines find the same best CCAs.

    Both engines meet the same realisations of the channel. A case is a scenario with a requirement. Its
    best are the congestion control with the highest mean and all that are tied with it.
    """
    from celltcp.selection.engine_agreement import overlap_request

    check_json(json_file)
    settings.prepare_out()
    request = overlap_request(scenarios, requirement, settings)
    result = run_request(request, "comparing", dry_run=dry_run)
    print_result(result.to_json, json_file, lambda: print_overlap(result))


def print_overlap(overlap: Overlap) -> None:
    """Prints the sets of all cases, the CCAs in one set only, and the number of overlaps."""
    from celltcp.selection.report.engine_agreement_tables import (
        cases_table,
        differences_table,
        summary_table,
    )

    console = Terminal()
    about = overlap.about
    console.print_table(cases_table(overlap.cases))
    if len(overlap.differences):
        console.print_table(differences_table(overlap.differences))
        console.print(
            "Means, paired by seed, against the best of each engine; cases without overlap are bold."
        )
    console.print_table(summary_table(overlap.summary))
    for reason in about["left_out"]:
        console.print(f"left out: {reason}", style="yellow")
    overall = overlap.summary.iloc[-1]
    console.print(
        f"celltcp {about['version']} against Linux {about['kernel_version']}, "
        f"{about['runs']} runs each: the best overlap in {overall['overlap']} of "
        f"{overall['cases']} cases, {100 * overall['share']:.0f} %",
        soft_wrap=True,
    )
