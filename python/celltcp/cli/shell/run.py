"""celltcp shell run."""

from __future__ import annotations

import os
import shlex
import signal
from typing import TYPE_CHECKING

import click

from celltcp.cli.options import complete_scenario, option, reading_options, takes_settings
from celltcp.cli.output import check_json, print_result, print_trace_summary
from celltcp.cli.shell.rights import with_rights
from celltcp.cli.verbosity import note

if TYPE_CHECKING:
    from celltcp.campaign.run_settings import RunSettings
    from celltcp.live.result import LiveResult

#: Exit code of a run that did not keep real time.
LATE_RUN_CODE = os.EX_PROTOCOL


@click.command()
@click.argument("scenario", shell_complete=complete_scenario)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@option("uplink")
@reading_options
@option("changes")
@option("seed", help="Seed of the path.")
@option(
    "cca",
    default="own",
    show_default=False,
    metavar="NAME",
    help="Congestion control of TCP on the hosts, one of this machine's kernel.  "
    "[default: that of the machine]",
)
@click.option(
    "--server",
    metavar="COMMAND",
    help="Command to run on the server, such as 'iperf3 -s', until the end.",
)
@click.option(
    "--outside",
    is_flag=True,
    help="Phones reach the networks of this machine, by the program pasta.",
)
@click.option(
    "--phones",
    default=1,
    type=click.IntRange(1, 100),
    metavar="N",
    help="Phones in the cell; the second is the host phone-2.",
)
@click.option(
    "--on",
    "others",
    nargs=2,
    multiple=True,
    metavar="HOST COMMAND",
    help="Command to run on another host meanwhile, such as phone-2; may be repeated.",
)
@click.option(
    "--busy-poll",
    is_flag=True,
    help="Never sleep: real time is kept better, and a core is busy.",
)
@click.option(
    "--pcap",
    metavar="FILE",
    help="Capture (pcap) of what the server sends and receives: the headers of all packets.",
)
@click.option("--pcap-at", metavar="HOST", help="Capture at this host.  [default: server]")
@click.option(
    "--log",
    metavar="FILE",
    help="Log of the packets, from which celltcp replay repeats the run in virtual time.",
)
@option("out", help="Keep the tables in this folder; they are written every second.")
@option("overwrite")
@option("json_file")
@with_rights
@takes_settings
def run(
    scenario: str,
    command: tuple[str, ...],
    settings: RunSettings,
    server: str | None,
    outside: bool,
    phones: int,
    others: tuple[tuple[str, str], ...],
    busy_poll: bool,
    log: str | None,
    pcap: str | None,
    pcap_at: str | None,
    json_file: str | None,
) -> None:
    """Run a COMMAND, or a shell, behind a path in real time.

    SCENARIO is as for celltcp compare. COMMAND runs on the host phone, whose only way out is the path
    to the host server. Both names are known there.

    \b
    celltcp shell drive --server 'iperf3 -s' -- iperf3 -c server
    celltcp shell trace.down -- ping -c 3 server
    """
    from celltcp.live.shell import LiveOptions, Shell
    from celltcp.live.tables import lateness_text
    from celltcp.results.warnings import missed_real_time

    check_json(json_file)
    arguments = command or (os.environ.get("SHELL", "/bin/sh"),)
    if pcap_at and not pcap:
        raise click.UsageError("--pcap-at needs --pcap, the file of the capture")
    words = shlex.split(server) if server else None
    options = LiveOptions(words, outside, phones, busy_poll, log, pcap, pcap_at)
    live = Shell.with_settings(scenario, settings, options)
    print_trace_summary(live.scenario)
    settings.prepare_out()
    if outside:
        note("connections of TCP to other networks end on the server, which makes their own ones there")
    with live:
        for identity in live.removed:
            note(f"run {identity} was killed: its programs were ended")
        for host, other_command in others:
            live.start(shlex.split(other_command), on=host, start_new_session=True)
        # The command receives Ctrl-C as well, and decides what to do.
        previous_handler = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            code = live.run(arguments).returncode
        finally:
            signal.signal(signal.SIGINT, previous_handler)
    result = live.result()
    print_result(lambda: result.to_json(code), json_file, lambda: print_live(result))
    lateness = result.status["lateness"]
    note(lateness_text(result.status))
    for warning in missed_real_time(lateness):
        click.echo(f"warning: {warning}", err=True)
    if code or not lateness["valid"]:
        # The code of a program that a signal ended is negative; shells add 128 to the signal's number.
        shell_code = code if code > 0 else 128 - code
        raise SystemExit(shell_code if code else LATE_RUN_CODE)


def print_live(live_result: LiveResult) -> None:
    """Prints the packets and the TCP connections."""
    from celltcp.live.tables import flows_table, traffic_table
    from celltcp.present.terminal import Terminal
    from celltcp.results.columns import records

    terminal = Terminal()
    terminal.print_table(traffic_table(live_result.status["to"], live_result.status["time_s"]))
    if (flows := flows_table(records(live_result.tables["flows"]))) is not None:
        terminal.print_table(flows)
