"""celltcp select train."""

from __future__ import annotations

import click

from celltcp.cli.options import option, options
from celltcp.cli.verbosity import note, stages_bar


@click.command()
@option(
    "scenarios",
    default=None,
    help="Families of networks to draw from.  [default: all]",
)
@option(
    "requirement",
    default="goodput,balanced,delay,goodput@,delay@,power",
    help="Requirements to learn for; bounds are drawn for each network.",
)
@option(
    "cca",
    default=None,
    help="Congestion controls to choose from.  [default: those of Linux]",
)
@option("runs", default=12, help="Number of networks from each family.")
@click.option(
    "--samples",
    default=5,
    type=click.IntRange(1),
    metavar="N",
    help="Number of moments on each network.",
)
@click.option(
    "--full-runs",
    default=4,
    type=click.IntRange(2),
    metavar="N",
    help="Networks per family for full runs: N to tune the initial CCA and the margins, N to test.",
)
@click.option(
    "--max-leaves",
    default=8,
    type=click.IntRange(2),
    metavar="N",
    help="Largest number of leaves of a tree.",
)
@click.option(
    "--min-samples-leaf",
    default=20,
    type=click.IntRange(1),
    metavar="N",
    help="Smallest number of moments in a leaf.",
)
@options("seed", "jobs", "cluster", "dry_run")
@click.option(
    "--outcomes",
    metavar="FILE",
    help="Parquet file for the outcomes of the choices; those that are in it are not run again.  "
    "[default: the name of the policy with .parquet]",
)
@option("out", required=True, metavar="FILE", help="File for the policy, such as policy.toml.")
@option("overwrite", help="Replace the file of --out if it exists; outcomes are kept.")
def train(
    scenarios: str | None,
    requirement: str,
    cca: str | None,
    runs: int,
    samples: int,
    full_runs: int,
    max_leaves: int,
    min_samples_leaf: int,
    seed: int,
    jobs: int | None,
    cluster: str | None,
    dry_run: bool,
    outcomes: str | None,
    out: str,
    overwrite: bool,
) -> None:
    """Train a policy on networks drawn at random.

    Runs are branched at sampled times, once per CCA. A shallow decision tree per requirement is fitted
    to the outcomes; its features are the estimates at these times.
    """
    from pathlib import Path

    from celltcp._core import CelltcpError
    from celltcp.campaign.run_settings import workers_of
    from celltcp.files.atomic_write import write_text
    from celltcp.files.replacing import check_output
    from celltcp.present.terminal import Terminal
    from celltcp.results.folder import prepare_folder
    from celltcp.selection.tables.training import full_runs_table, models_table
    from celltcp.selection.training.plan import Plan
    from celltcp.selection.training.train import training_request

    file = Path(out)
    outcomes_file = Path(outcomes) if outcomes else file.with_suffix(".parquet")
    for output in (file, outcomes_file):
        if output.is_dir():
            raise CelltcpError(f"{output}: is a folder; allowed: a file")
        if not dry_run:
            prepare_folder(output.parent)
    if file.resolve() == outcomes_file.resolve():
        raise CelltcpError(f"{file}: is the table of outcomes, too; allowed: different files")
    if not dry_run:
        check_output(file, overwrite=overwrite)
    plan = Plan(
        _split_list(scenarios),
        _split_list(requirement),
        cca or (),
        networks=runs,
        samples=samples,
        full_runs=full_runs,
        max_leaves=max_leaves,
        min_samples_leaf=min_samples_leaf,
        seed=seed,
    )
    request = training_request(file.stem, plan, workers_of(jobs, cluster), outcomes_file)
    if dry_run:
        click.echo(request.estimate())
        return
    with stages_bar() as progress:
        training = request.run(progress)
    write_text(file, training.text)
    console = Terminal()
    console.print_table(models_table(training))
    console.print_table(full_runs_table(training))
    note(f"policy: {file}")
    note(f"outcomes: {outcomes_file}")


def _split_list(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()
