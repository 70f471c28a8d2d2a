"""celltcp run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import cca_file_option, draws, option, scenario_options, takes_settings
from celltcp.cli.output import (
    check_json,
    has_style_options,
    other_arguments,
    print_assumptions,
    print_result,
    print_trace_summary,
)
from celltcp.cli.verbosity import note, progress_bar

if TYPE_CHECKING:
    from pathlib import Path

    from celltcp.campaign.run_settings import RunSettings
    from celltcp.comparison.single_run import SingleRun


@click.command()
@scenario_options
@option(
    "cca",
    default="own",
    show_default=False,
    metavar="NAME",
    help="Congestion control, with parameters if wanted.  [default: that of the scenario]",
)
@option("radio_log")
@cca_file_option
@option("out", help="Keep the results in this folder: tables and a picture.")
@option(
    "overwrite",
    help="Overwrite the --out folder, even if it holds another experiment, and the file of --pcap.",
)
@click.option(
    "--pcap",
    metavar="FILE",
    help="Write the packets that the server sends and receives to this file (pcap). It appears when "
    "the run is done; a named pipe has them while it runs.",
)
@click.option(
    "--pcap-at",
    metavar="NODE",
    help="Capture at this host, or at this node with a middlebox, such as phone or gateway.  "
    "[default: server]",
)
@click.option(
    "--samples",
    default="every-ack",
    metavar="WHEN",
    help="When to record the state of the connection: every-ack, off, or an interval such as 10ms.",
)
@option("json_file")
@draws
@takes_settings
def run(
    scenario: str,
    settings: RunSettings,
    pcap: str | None,
    pcap_at: str | None,
    json_file: str | None,
) -> None:
    """Run one congestion control once, and record it in detail.

    SCENARIO is as for celltcp compare. With --out, the tables have every ACK, and the picture shows
    rates, RTT, queue and window over time.
    """
    from pathlib import Path

    from celltcp.campaign.provenance import engine_text
    from celltcp.comparison.single_run import run_with
    from celltcp.files.replacing import check_output

    check_json(json_file)
    if pcap_at and not pcap:
        raise click.UsageError("--pcap-at needs --pcap, the file of the capture")
    if pcap:
        check_output(Path(pcap), overwrite=settings.overwrite, inputs=other_arguments("pcap"))
    source = settings.source(scenario)
    print_trace_summary(source.scenario)
    print_assumptions(source)
    folder = settings.prepare_out()
    with progress_bar("running") as progress:
        result = run_with(source, settings, pcap=pcap, pcap_at=pcap_at, progress=progress)
    print_result(result.to_json, json_file, lambda: _print_run(result))
    note(engine_text(result.results.about))
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)
    _draw(result, folder)


def _print_run(single_run: SingleRun) -> None:
    """Prints a line per flow and application, and the decisions of selectors."""
    from celltcp.cli.comparison_output import print_limits
    from celltcp.comparison.connection_texts import connection_texts
    from celltcp.comparison.tables import decisions_table
    from celltcp.present.terminal import Terminal

    console = Terminal()
    if single_run.applications:
        from celltcp.comparison.applications.application_tables import metrics_text
        from celltcp.comparison.load_results import comparison_of

        comparison = comparison_of(single_run)
        for application in single_run.applications:
            text = metrics_text(application, comparison)
            console.print(text, soft_wrap=not console.is_terminal)
    for text in connection_texts(single_run.results):
        # A terminal breaks lines between words; files and pipes have a line per flow.
        console.print(text, soft_wrap=not console.is_terminal)
    print_limits(single_run.results, console)
    if "decisions" in single_run.results.tables:
        console.print_table(decisions_table(single_run.results))


def _draw(single_run: SingleRun, folder: Path | None) -> None:
    """Draws the picture in the folder of the results, unless it exists."""
    if single_run.results.is_repeat and folder:
        note(f"{folder} has this run already: nothing was run")
    is_reused = single_run.results.is_repeat and not has_style_options()
    if folder and not (is_reused and (folder / "run.png").is_file()):
        from celltcp.present.style import save

        note(f"picture: {save(single_run.plot.time_series(), folder / 'run.png')}")
