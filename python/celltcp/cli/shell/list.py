"""celltcp shell list."""

from __future__ import annotations

import click

from celltcp.cli.options import option
from celltcp.cli.output import print_result


@click.command(name="list")
@option("json_file")
def list_runs(json_file: str | None) -> None:
    """List the live runs of this user in progress."""
    from celltcp.live.run_folders import running_runs
    from celltcp.present.section import Column, Table
    from celltcp.present.terminal import Terminal

    runs = running_runs()
    columns = tuple(map(Column, ("run", "scenario", "cca", "process", "started")))
    rows = tuple(tuple(str(value) for value in run.values()) for run in runs)
    print_result(lambda: runs, json_file, lambda: Terminal().print_table(Table(columns, rows)))
