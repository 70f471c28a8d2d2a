"""celltcp select evaluate."""

from __future__ import annotations

import click

from celltcp.cli.options import case_options
from celltcp.cli.outcome import check_json, draw, tell
from celltcp.cli.progress import progress_bar
from celltcp.cli.select.evaluated import print_evaluation
from celltcp.engines import ENGINES


@click.command()
@click.option(
    "--policy",
    default="default",
    show_default=True,
    metavar="LIST",
    help="Built-in policies, or files.",
)
@click.option("--runs", default=10, show_default=True, type=click.IntRange(1))
@click.option(
    "--cca", default="all", show_default=True, metavar="LIST", help="Congestion controls that stay."
)
@click.option(
    "--against",
    default="thesis-establishment,thesis-inflight,bpftune",
    show_default=True,
    metavar="LIST",
    help="Policies that run beside; '' for none.",
)
@click.option("--hints", is_flag=True, help="Ask the radio; policies that are tables always do.")
@click.option(
    "--history",
    default=4,
    show_default=True,
    type=click.IntRange(0),
    help="Earlier connections, for policies with a memory.",
)
@click.option("--switches", is_flag=True, help="Find out what changes cost: a run more for each.")
@click.option("--engine", default="native", show_default=True, type=click.Choice(ENGINES))
@click.option("--out", metavar="DIR", help="Keep tables and the picture here; resumes.")
@case_options
def evaluate(
    policy: str,
    scenarios: str,
    runs: int,
    requirement: str,
    cca: str,
    against: str,
    hints: bool,
    history: int,
    switches: bool,
    seed: int,
    jobs: int | None,
    engine: str,
    kernel: str | None,
    changes: tuple[str, ...],
    out: str | None,
    json_file: str | None,
) -> None:
    """Measure policies against congestion controls that stay, and against hindsight.

    All of them meet the same channel realisations. A case is a scenario and a requirement.
    """
    from celltcp.results import prepare_folder
    from celltcp.selection.evaluating import evaluate as evaluate_all

    check_json(json_file)
    folder = prepare_folder(out) if out else None
    with progress_bar("evaluating") as progress:
        result = evaluate_all(
            policy,
            scenarios,
            runs,
            requirement,
            cca,
            against=against,
            hints=hints,
            history=history,
            switches=switches,
            seed=seed,
            jobs=jobs,
            engine=engine,
            kernel=kernel,
            set=changes,
            out=folder,
            progress=progress,
        )
    tell(result.to_json(), json_file, lambda: print_evaluation(result))
    if folder:
        draw(result.plot(), folder, "cases")
