"""celltcp shell set."""

from __future__ import annotations

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result


@click.command(name="set")
@click.argument("run", metavar="RUN")
@click.argument("changes", nargs=-1, required=True, metavar="FIELD=VALUE...")
@option("json_file")
def set_fields(run: str, changes: tuple[str, ...], json_file: str | None) -> None:
    """Change the path of a live run in progress.

    RUN is one of celltcp shell list. FIELD is one of the scenario, such as path.up.rate, or for short
    rate (of the downlink), loss, rtt, delay (one-way) or outage (nothing passes for that time). Rates,
    delays, losses and buffers of wires can change; the radio cannot.

    \b
    celltcp shell set 1a2b3c rate=5Mbit/s loss=1%
    celltcp shell set 1a2b3c outage=2s
    """
    from celltcp.live.control import send_request
    from celltcp.live.path_changes import PathChange
    from celltcp.live.tables import change_text

    check_json(json_file)
    done: list[PathChange] = send_request(run, "set", changes=list(changes))
    lines = "\n".join(map(change_text, done))
    print_result(lambda: done, json_file, lambda: click.echo(lines))
