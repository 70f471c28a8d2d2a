"""celltcp sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import (
    campaign_options,
    cca_file_option,
    draws,
    scenario_options,
    takes_settings,
)
from celltcp.cli.output import check_json, draw, is_drawn, print_result, print_trace_summary
from celltcp.cli.verbosity import progress_bar
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from celltcp.campaign.run_settings import RunSettings
    from celltcp.comparison.parameter_sweep import Sweep


@click.command()
@scenario_options
@click.option(
    "--vary",
    required=True,
    metavar="FIELD=VALUES",
    help="Field of the scenario and its values, such as tcp.window_scale=0..14 or path.rtt=18ms,68ms.",
)
@campaign_options
@cca_file_option
@draws
@takes_settings
def sweep(
    scenario: str, vary: str, settings: RunSettings, dry_run: bool, json_file: str | None
) -> None:
    """Compare congestion controls for each value of a field.

    SCENARIO is as for celltcp compare. With --out, the results of each value are in a folder of their
    own, which celltcp show takes.
    """
    from celltcp.comparison.parameter_sweep import sweep_request

    check_json(json_file)
    source = settings.source(scenario)
    print_trace_summary(source.scenario)
    folder = settings.prepare_out()
    request = sweep_request(source, vary, settings)
    if dry_run:
        click.echo(request.estimate())
        return
    with progress_bar("sweeping") as progress:
        result = request.run(progress)
    print_result(result.to_json, json_file, lambda: _print_sweep(result))
    repeats = [each.results for each in result.comparisons.values()]
    is_repeat = all(each.is_repeat for each in repeats)
    if folder and not (is_repeat and is_drawn(repeats[0], folder, "sweep")):
        draw(result.plot(), folder, "sweep")


def _print_sweep(result: Sweep) -> None:
    """Means with intervals, a row per value and congestion control."""
    from celltcp.campaign.provenance import ran_by
    from celltcp.comparison.application_tables import sweep_figures_tables
    from celltcp.comparison.tables import sweep_table

    about = next(iter(result.comparisons.values())).results.about
    console = Terminal()
    for table in (*sweep_figures_tables(result).values(), sweep_table(result)):
        console.print_table(table)
    warned: dict[str, list[str]] = {}
    for value, comparison in result.comparisons.items():
        for warning in comparison.warnings:
            warned.setdefault(warning, []).append(value)
    for warning, values in warned.items():
        text = f"{result.field}={', '.join(values)}: {warning}"
        console.print(f"warning: {text}", style="yellow")
    console.print(ran_by(about), style="dim")
