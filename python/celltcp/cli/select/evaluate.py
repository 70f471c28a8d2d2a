"""celltcp select evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import case_options, cca_file_option, draws, option, takes_settings
from celltcp.cli.output import check_json, draw, print_result, run_request

if TYPE_CHECKING:
    from celltcp.campaign.run_settings import RunSettings


@click.command()
@click.option(
    "--policy",
    default="default",
    metavar="LIST",
    help="Policies to evaluate: built-in names or files.",
)
@option("runs")
@option("cca", default="all", help="Fixed CCAs to compare with; cubic is always one of them.")
@click.option(
    "--against",
    default="thesis-establishment,thesis-inflight,bpftune",
    metavar="LIST",
    help="Other policies to compare with; '' for none.",
)
@click.option(
    "--hints",
    is_flag=True,
    help="Give policies SINR and speed of the radio (table policies always use them).",
)
@click.option(
    "--history",
    default=4,
    type=click.IntRange(0),
    metavar="N",
    help="Number of earlier connections in the cache of policies that use one.",
)
@click.option(
    "--switch-cost",
    is_flag=True,
    help="Measure the cost of each CCA switch by an extra run without it.",
)
@option("engine")
@option("dry_run")
@option("out")
@option("overwrite")
@cca_file_option
@case_options
@draws
@takes_settings
def evaluate(
    policy: str,
    scenarios: str,
    requirement: str,
    against: str,
    hints: bool,
    history: int,
    switch_cost: bool,
    settings: RunSettings,
    dry_run: bool,
    json_file: str | None,
) -> None:
    """Compare policies with fixed CCAs.

    Policies are also compared with the best fixed CCA of each case in hindsight. A fixed CCA stays for
    the whole connection. All of them meet the same realisations of the channel. A case is a scenario
    with a requirement.

    For policies that predict, the calibration compares predicted with measured values. With --out it is
    drawn as reliability.png.
    """
    from celltcp.selection.evaluation import PolicySettings, evaluation_request
    from celltcp.selection.tables.evaluation import print_evaluation

    check_json(json_file)
    folder = settings.prepare_out()
    policies = PolicySettings(policy, requirement, against, hints, history, switch_cost)
    request = evaluation_request(policies, scenarios, settings)
    result = run_request(request, "evaluating", dry_run=dry_run)
    print_result(result.to_json, json_file, lambda: print_evaluation(result))
    if folder:
        draw(result.plot(), folder, "cases")
        if result.reliability["policy"].isin(result.about["policies"]).any():
            draw(result.plot_reliability(), folder, "reliability")
