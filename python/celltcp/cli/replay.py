"""celltcp replay."""

from __future__ import annotations

from pathlib import Path

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result
from celltcp.cli.verbosity import note


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option("out", help="Keep the tables in this folder.")
@option("overwrite")
@option("json_file")
def replay(file: Path, out: str | None, overwrite: bool, json_file: str | None) -> None:
    """Repeat a live run in virtual time.

    FILE is a log of celltcp shell --log. The same packets leave the path at the same times. The exit
    code is 1 if they do not.
    """
    from celltcp.cli.shell.run import print_live
    from celltcp.live.replayed import replay as repeat

    check_json(json_file)
    result, is_same = repeat(file, out=out, overwrite=overwrite)
    print_result(result.to_json, json_file, lambda: print_live(result))
    departures = f"{result.departures} departures"
    if is_same is None:
        note(f"{departures}; the live run was killed, so that there is nothing to compare them with")
    elif is_same:
        note(f"{departures}, the same as those of the live run")
    else:
        click.echo(f"warning: {departures}, which differ from those of the live run", err=True)
        raise SystemExit(1)
