"""celltcp compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.comparison_output import check_by, draw_comparison, print_comparison, remember_by
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
    print_assumptions,
    print_result,
    print_trace_summary,
    run_request,
)

if TYPE_CHECKING:
    from celltcp.campaign.run_settings import RunSettings


@click.command()
@scenarios_options
@campaign_options
@option("middlebox")
@option("radio_log")
@option("by")
@click.option(
    "--published",
    is_flag=True,
    help="Print the goodput that a publication gives for the scenario beside ours.",
)
@cca_file_option
@draws
@takes_settings
def compare(
    scenarios: tuple[str, ...],
    settings: RunSettings,
    dry_run: bool,
    json_file: str | None,
    published: bool,
    by: tuple[str, ...],
) -> None:
    """Compare congestion controls on one scenario or several.

    SCENARIO is a built-in name (celltcp scenarios lists them), a scenario file (.toml) or a link trace
    (.down, .csv, .txt; also .gz). In run i, all congestion controls meet the same realisation of the
    channel.

    SCENARIO may also be a folder of results, which stands for their scenario. Of a folder of traces or
    a pattern such as 'mobility/*', each scenario has a table of its own, and a folder of its own within
    that of --out. The last table has the means over all.
    """
    from celltcp.comparison.run import comparison_request
    from celltcp.scenarios.scenarios import is_single_name

    check_json(json_file)
    if not is_single_name(scenarios):
        from celltcp.cli.scenario_set import compare_set

        compare_set(scenarios, settings, dry_run, json_file, published, by)
        return
    (scenario,) = scenarios
    source = settings.source(scenario)
    print_trace_summary(source.scenario)
    print_assumptions(source)
    request = comparison_request(source, settings)
    check_by(by, request)
    folder = settings.prepare_out()
    result = run_request(request, "comparing", dry_run=dry_run)
    remember_by(folder, by)
    print_result(lambda: result.to_json(by), json_file, lambda: print_comparison(result, published, by))
    if folder:
        draw_comparison(result, folder)
