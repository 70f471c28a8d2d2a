"""Part of `celltcp compare` for several scenarios: runs the comparisons and prints their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.cli.comparison_output import check_by, draw_comparison, print_comparison, remember_by
from celltcp.cli.output import draw, print_load_summary, print_result, reuse_picture, run_request
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.campaign.run_settings import RunSettings
    from celltcp.comparison.sets.scenario_set import ScenarioSet


#: Maximum number of scenarios of which all tables are printed; more have a row for each.
_MAX_WHOLE = 6


def compare_set(
    names: Sequence[str],
    settings: RunSettings,
    dry_run: bool,
    json_file: str | None,
    published: bool,
    by: Sequence[str] = (),
) -> None:
    """Compares CCAs on each scenario; prints a table for each scenario and one of the means."""
    from celltcp.comparison.sets.scenario_set import folder_name, set_request
    from celltcp.comparison.sets.verdicts import MIN_SCENARIOS
    from celltcp.scenarios.scenario_list import expand_scenarios

    scenarios = expand_scenarios(names, settings.source)
    print_load_summary(scenarios)
    request = set_request(scenarios, settings)
    check_by(by, request)
    folder = settings.prepare_out()
    result = run_request(request, "comparing", dry_run=dry_run)
    remember_by(folder, by)
    print_result(lambda: result.to_json(by), json_file, lambda: print_set(result, published, by))
    if folder:
        for name, comparison in result.comparisons.items():
            draw_comparison(comparison, folder / folder_name(name))
        results = [each.results for each in result.comparisons.values()]
        is_repeat = all(each.is_repeat for each in results)
        if len(results) >= MIN_SCENARIOS and not (
            is_repeat and reuse_picture(results[0], folder, "ecdf")
        ):
            draw(result.plot(by), folder, "ecdf")


def print_set(scenario_set: ScenarioSet, published: bool = False, by: Sequence[str] = ()) -> None:
    """Prints the table of each scenario, the means, and on how many scenarios each CCA is best."""
    from celltcp.comparison.applications.application_tables import set_application_tables
    from celltcp.comparison.sets.verdicts import verdict_lines
    from celltcp.comparison.tables_of_several import set_table
    from celltcp.scenarios.cca_mix import labels

    console = Terminal()
    if len(scenario_set.comparisons) > _MAX_WHOLE and not published:
        _print_rows(scenario_set, by, console)
    else:
        for name, comparison in scenario_set.comparisons.items():
            print_comparison(comparison, published, by, name)
    names = labels(scenario_set.ccas)
    for table in (*set_application_tables(scenario_set), set_table(scenario_set, by)):
        console.print_table(table)
    if not any(each.decides for each in scenario_set.comparisons.values()):
        console.print("One run decides nothing on a random scenario alone: give --runs 2 or more.")
    if scenario_set.unfinished:
        console.print(f"warning: {scenario_set.unfinished}", style="yellow")
    for need, leading in scenario_set.leading_by_need(by).items() if len(scenario_set.ccas) > 1 else ():
        parts = [f"{names[cca]} on {len(leading.scenarios[cca])}" for cca in leading.ranked]
        parts += [f"undecided on {len(leading.undecided)}"] if leading.undecided else []
        console.print(f"best or tied for {need:>8}: {', '.join(parts)} of {len(leading.all_scenarios)}")
    for line in verdict_lines(scenario_set):
        console.print(line)


def _print_rows(scenario_set: ScenarioSet, by: Sequence[str], console: Terminal) -> None:
    """Prints the tables of many scenarios with a row for each and CCA, their warnings and verdicts."""
    from celltcp.comparison.applications.application_tables import sweep_metrics_tables
    from celltcp.comparison.sweep.parameter_sweep import SCENARIO, Sweep
    from celltcp.comparison.tables_of_several import sweep_shares_table, sweep_table
    from celltcp.comparison.verdicts.verdict_tables import verdicts_table

    rows = Sweep((SCENARIO,), {(name,): each for name, each in scenario_set.comparisons.items()})
    for table in (*sweep_metrics_tables(rows, by).values(), sweep_table(rows, by)):
        console.print_table(table)
    for warning in rows.warnings:
        console.print(f"warning: {warning}", style="yellow")
    if (shares := sweep_shares_table(rows)) is not None:
        console.print_table(shares)
    if len(scenario_set.ccas) > 1:
        console.print_table(verdicts_table(rows.axes, rows.points, by, rows.ranking_metrics))
    console.print(
        "celltcp show DIR/NAME has all tables of a scenario, where DIR is the folder of --out."
    )
