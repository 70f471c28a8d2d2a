"""celltcp shell status."""

from __future__ import annotations

import time

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result

#: Time between two lines, s.
_INTERVAL_S = 1.0


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--follow", is_flag=True, help="A line each second, until the run ends.")
@option("json_file")
def status(run: str, follow: bool, json_file: str | None) -> None:
    """Show the state of a live run in progress.

    RUN is one of celltcp shell list. The line has time, capacity and queue of the access link in both
    directions, the one-way delay, on a radio SINR and cell, and the lateness of packets.
    """
    from celltcp._core import CelltcpError
    from celltcp.live.control import send_request
    from celltcp.live.outcome import Status
    from celltcp.live.tables import status_text

    if follow and json_file:
        raise click.UsageError("--follow prints lines for people; --json has the state of one moment")
    check_json(json_file)
    state: Status = send_request(run, "status")
    print_result(lambda: state, json_file, lambda: click.echo(status_text(state)))
    while follow:
        time.sleep(_INTERVAL_S)
        try:
            click.echo(status_text(send_request(run, "status")))
        except CelltcpError:
            return
