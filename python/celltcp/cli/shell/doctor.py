"""celltcp shell doctor."""

from __future__ import annotations

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result
from celltcp.cli.shell.rights import with_rights


@click.command()
@click.option("--busy-poll", is_flag=True, help="Never sleep, as celltcp shell --busy-poll does.")
@option("json_file")
@with_rights
def doctor(busy_poll: bool, json_file: str | None) -> None:
    """Measure for 5 s how late packets leave on this machine."""
    from celltcp.live.doctor import floor_table, measure_floor
    from celltcp.present.terminal import Terminal

    check_json(json_file)
    floor = measure_floor(busy_poll=busy_poll)
    print_result(lambda: floor, json_file, lambda: Terminal().print_table(floor_table(floor)))
