"""celltcp select evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import case_options, option, takes_settings
from celltcp.cli.outcome import check_json, draw, tell
from celltcp.cli.progress import progress_bar
from celltcp.cli.select.evaluation_tables import print_evaluation

if TYPE_CHECKING:
    from celltcp.settings import RunSettings


@click.command()
@click.option(
    "--policy",
    default="default",
    show_default=True,
    metavar="LIST",
    help="Built-in policies, or files.",
)
@option("runs")
@option("cca", default="all", help="Fixed CCAs.")
@click.option(
    "--against",
    default="thesis-establishment,thesis-inflight,bpftune",
    show_default=True,
    metavar="LIST",
    help="Other policies to compare with; '' for none.",
)
@click.option("--hints", is_flag=True, help="Ask the radio; policies that are tables always do.")
@click.option(
    "--history",
    default=4,
    show_default=True,
    type=click.IntRange(0),
    help="Earlier connections, for policies with a memory.",
)
@click.option("--switches", is_flag=True, help="Measure the cost of changes, by one more run for each.")
@option("engine", help=None)
@option("out", help="Keep tables and the picture here; resumes.")
@option("overwrite")
@case_options
@takes_settings
def evaluate(
    policy: str,
    scenarios: str,
    requirement: str,
    against: str,
    hints: bool,
    history: int,
    switches: bool,
    settings: RunSettings,
    json_file: str | None,
) -> None:
    """Measure policies against fixed CCAs, and against the best of them in hindsight.

    All of them meet the same channel realisations. A case is a scenario and a requirement.
    """
    from celltcp.results import prepare_folder
    from celltcp.selection.evaluation import PolicySettings, evaluate_with

    check_json(json_file)
    folder = prepare_folder(settings.out) if settings.out else None
    policies = PolicySettings(policy, requirement, against, hints, history, switches)
    with progress_bar("evaluating") as progress:
        result = evaluate_with(policies, scenarios, settings, progress)
    tell(result.to_json(), json_file, lambda: print_evaluation(result))
    if folder:
        draw(result.plot(), folder, "cases")
