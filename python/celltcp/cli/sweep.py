"""celltcp sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.comparison_output import check_by, remember_by
from celltcp.cli.options import (
    campaign_options,
    cca_file_option,
    draws,
    option,
    scenarios_options,
    takes_settings,
)
from celltcp.cli.output import (
    check_json,
    draw,
    print_result,
    print_trace_summary,
    reuse_picture,
    run_request,
)
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.campaign.run_settings import RunSettings
    from celltcp.comparison.sweep.parameter_sweep import Sweep
    from celltcp.present.section import Table

#: Maximum of rows in printed tables of best values; larger ones are summarised in sentences.
_MAX_ROWS = 12


@click.command()
@scenarios_options
@click.option(
    "--vary",
    required=True,
    multiple=True,
    metavar="FIELD=VALUES",
    help="Field of the scenario and its values, such as tcp.window_scale=0..14 or path.rtt=18ms,68ms; "
    "may be repeated, which gives all combinations.",
)
@campaign_options
@option("by")
@cca_file_option
@draws
@takes_settings
def sweep(
    scenarios: tuple[str, ...],
    vary: tuple[str, ...],
    settings: RunSettings,
    dry_run: bool,
    json_file: str | None,
    by: tuple[str, ...],
) -> None:
    """Compare congestion controls, and the values of a field.

    SCENARIO is as for celltcp compare. Several scenarios and several --vary give all combinations.
    With --out, the results of each are in a folder of their own; celltcp show and celltcp report take
    DIR as a whole.
    """
    from celltcp.comparison.sweep.parameter_sweep import sweep_request, swept_sources

    check_json(json_file)
    sources = swept_sources(scenarios, settings)
    for source in sources.values():
        print_trace_summary(source.scenario)
    request = sweep_request(sources, vary, settings)
    check_by(by, request)
    folder = settings.prepare_out()
    result = run_request(request, "sweeping", dry_run=dry_run)
    remember_by(folder, by)
    print_result(lambda: result.to_json(by), json_file, lambda: print_sweep(result, by))
    results = [point.results for point in result.points.values()]
    is_repeat = all(point.is_repeat for point in results)
    if folder and not (is_repeat and reuse_picture(results[0], folder, "sweep")):
        draw(result.plot(by), folder, "sweep")


def print_sweep(sweep: Sweep, by: Sequence[str] = ()) -> None:
    """Prints means with intervals per point and congestion control, and the best of both."""
    from celltcp.campaign.provenance import engine_text
    from celltcp.comparison.applications.application_tables import sweep_metrics_tables
    from celltcp.comparison.sweep.best_value_tables import best_values_tables, best_values_texts
    from celltcp.comparison.sweep.mix_shares import have_pauses, mix_share_texts
    from celltcp.comparison.tables_of_several import sweep_shares_table, sweep_table
    from celltcp.comparison.verdicts.verdict_tables import unranked_text, verdicts_table

    about = next(iter(sweep.points.values())).results.about
    console = Terminal()
    shares, of_mixes = sweep_shares_table(sweep), mix_share_texts(sweep)
    # Who gets how much is what mixes are compared for, but for flows that ask for times.
    are_first = bool(of_mixes) and not have_pauses(sweep)
    if are_first:
        _print_shares(console, shares, of_mixes)
    for table in (*sweep_metrics_tables(sweep, by).values(), sweep_table(sweep, by)):
        console.print_table(table)
    for warning in sweep.warnings:
        console.print(f"warning: {warning}", style="yellow")
    if not are_first:
        _print_shares(console, shares, of_mixes)
    # One run of what is random has a warning in place of verdicts.
    if len(sweep.ccas) > 1 and any(point.decides for point in sweep.points.values()):
        verdicts = verdicts_table(sweep.axes, sweep.points, by, sweep.ranking_metrics)
        if len(verdicts.columns) > len(sweep.axes):
            console.print_table(verdicts)
        if not by and (text := unranked_text(next(iter(sweep.points.values())))):
            console.print(text)
    tables = best_values_tables(sweep, by)
    if sum(len(table.rows) for table in tables) <= _MAX_ROWS:
        for table in tables:
            console.print_table(table)
    else:
        # With several fields, each metric and field has a table; the sentences below sum them up.
        console.print(
            "Best values of each field at each value of the others: "
            f"{len(tables)} tables in the report, best_values in --json"
        )
    for text in (*best_values_texts(sweep, by), *sweep.field_changes_by(by)):
        console.print(text)
    console.print(engine_text(about), style="dim")


def _print_shares(console: Terminal, shares: Table | None, of_mixes: Sequence[str]) -> None:
    if shares is not None:
        console.print_table(shares)
    for text in of_mixes:
        console.print(text)
