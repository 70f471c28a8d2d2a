"""celltcp fidelity packetdrill."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.fidelity.packetdrill import Outcome


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@option("json_file")
def packetdrill(paths: tuple[str, ...], json_file: str | None) -> None:
    """Play packetdrill scripts of Linux against the native TCP.

    PATH is a script or a folder, which is searched for *.pkt. The exit code is 1 if a script failed.
    """
    from celltcp.fidelity.packetdrill import FAILED, play_scripts

    check_json(json_file)
    outcomes = play_scripts(paths)
    print_result(lambda: outcomes, json_file, lambda: print_outcomes(outcomes))
    if any(outcome.status == FAILED for outcome in outcomes):
        sys.exit(1)


def print_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Prints failed scripts, the reasons why others are not applicable, and the number of each."""
    from celltcp.fidelity.packetdrill import FAILED, NOT_APPLICABLE, PASSED, count
    from celltcp.fidelity.packetdrill_tables import failed_table, not_applicable_table
    from celltcp.present.terminal import Terminal

    console = Terminal()
    counts = count(outcomes)
    if counts[FAILED]:
        console.print_table(failed_table(outcomes))
    if counts[NOT_APPLICABLE]:
        console.print_table(not_applicable_table(outcomes))
    console.print(
        f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[NOT_APPLICABLE]} not applicable"
    )
