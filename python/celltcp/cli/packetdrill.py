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
    from rich.table import Table

    from celltcp.fidelity.packetdrill import FAILED, NOT_APPLICABLE, PASSED, count, missing
    from celltcp.present.fit_table import print_table
    from celltcp.present.terminal import wide_console

    console = wide_console()
    counted = count(outcomes)
    if counted[FAILED]:
        table = Table(title="Failed")
        for heading in ("script", "line", "differs in", "expected", "seen"):
            table.add_column(heading, justify="right" if heading == "line" else "left")
        for outcome in outcomes:
            if outcome.status == FAILED:
                texts = (outcome.reason, outcome.expected, outcome.seen)
                table.add_row(outcome.script, str(outcome.line), *(text or "" for text in texts))
        print_table(console, table, markup=False)
    if counted[NOT_APPLICABLE]:
        table = Table(title="Not applicable")
        table.add_column("needs")
        table.add_column("scripts", justify="right")
        for reason, scripts in missing(outcomes):
            table.add_row(reason, str(scripts))
        print_table(console, table, markup=False)
    console.print(
        f"{counted[PASSED]} passed, {counted[FAILED]} failed, {counted[NOT_APPLICABLE]} not applicable"
    )
