"""celltcp sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.compare import DROPPABLE, headings, outcome_cells, tell_left_out
from celltcp.cli.console import fitting, wide_console
from celltcp.cli.means import runs_text
from celltcp.cli.options import campaign_options, draws, own_option, scenario_options, takes_settings
from celltcp.cli.outcome import check_json, draw, is_drawn, tell, tell_traces
from celltcp.cli.progress import progress_bar

if TYPE_CHECKING:
    from celltcp.parameter_sweep import Sweep
    from celltcp.settings import RunSettings


@click.command()
@scenario_options
@click.option(
    "--vary",
    required=True,
    metavar="FIELD=VALUES",
    help="Field of the scenario and its values, such as tcp.window_scale=0..14 or path.rtt=18ms,68ms.",
)
@campaign_options
@own_option
@draws
@takes_settings
def sweep(scenario: str, vary: str, settings: RunSettings, json_file: str | None) -> None:
    """Compare congestion controls for each value of a field.

    SCENARIO is as for celltcp compare. With --out, the results of each value are in a folder of their
    own, which celltcp show takes.
    """
    from celltcp.parameter_sweep import sweep_with
    from celltcp.results import prepare_folder

    check_json(json_file)
    tell_traces(settings.load(scenario))
    folder = prepare_folder(settings.out) if settings.out else None
    with progress_bar("sweeping") as progress:
        result = sweep_with(scenario, vary, settings, progress)
    tell(result.to_json(), json_file, lambda: _print_sweep(result))
    repeats = [each.results for each in result.comparisons.values()]
    is_repeat = all(each.is_repeat for each in repeats)
    if folder and not (is_repeat and is_drawn(repeats[0], folder, "sweep")):
        draw(result.plot(), folder, "sweep")


def _print_sweep(result: Sweep) -> None:
    """Means with intervals, a row per value and congestion control."""
    from rich.table import Table

    from celltcp.labels import labels
    from celltcp.results.origin import ran_by

    about = next(iter(result.comparisons.values())).results.about

    def build(left_out: frozenset[str]) -> Table:
        title = f"{about['name']}: mean and 95 % interval over {runs_text(about['runs'])}"
        table = Table(title=title)
        table.add_column(result.field)
        table.add_column("CCA")
        for heading in headings(left_out):
            table.add_column(heading, justify="right", no_wrap=True)
        for value, comparison in result.comparisons.items():
            names = labels(comparison.ccas)
            for cca in comparison.ccas:
                mine = comparison.runs[comparison.runs["cca"] == cca]
                table.add_row(value, names[cca], *outcome_cells(mine, left_out))
            if len(comparison.ccas) > 1:
                table.add_section()
        return table

    console = wide_console()
    table, left_out = fitting(console, build, DROPPABLE)
    console.print(table)
    tell_left_out(console, left_out)
    warned: dict[str, list[str]] = {}
    for value, comparison in result.comparisons.items():
        for warning in comparison.warnings:
            warned.setdefault(warning, []).append(value)
    for warning, values in warned.items():
        told = f"{result.field}={', '.join(values)}: {warning}"
        console.print(f"warning: {told}", style="yellow", highlight=False, markup=False)
    console.print(ran_by(about), style="dim")
