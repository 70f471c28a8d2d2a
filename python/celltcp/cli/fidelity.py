"""celltcp fidelity."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from celltcp.cli.options import draws, option, options
from celltcp.cli.output import check_json, other_arguments, print_result
from celltcp.cli.packetdrill import packetdrill
from celltcp.cli.verbosity import note, progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.fidelity.campaign import EnginePair
    from celltcp.fidelity.cases import Case
    from celltcp.fidelity.causes import Cause
    from celltcp.fidelity.differences import Fidelity
    from celltcp.fidelity.distribution import Distribution

#: Width of the tables without a terminal, characters; verdicts then fit on one line.
_TABLE_WIDTH = 150
#: Options that do not affect the results.
_NOT_IN_COMMAND = ("out", "overwrite", "jobs", "json_file", "strict")


@click.group(invoke_without_command=True)
@option("cca", default="reno,cubic,bbr", help="Congestion controls, which both engines must have.")
@click.option(
    "--scenario",
    metavar="LIST",
    help="Cases or groups of the set (steady, loss, steps, outage, cellular, mobility, nr), or any "
    "scenario.  [default: the whole set]",
)
@click.option(
    "--random",
    "count",
    type=click.IntRange(min=1),
    metavar="N",
    help="N random scenarios by --seed instead of the set. Prints the distribution of the differences, "
    "and what out-of-band cases have in common.",
)
@options("runs", "seed")
@option("duration", help="Simulated length of a run.  [default: that of each case]")
@options("jobs", "kernel", "dry_run", "out", "overwrite")
@click.option(
    "--rerun-undecided",
    type=click.IntRange(min=2),
    metavar="N",
    help="Repeat, with N runs, comparisons that are out of band but whose interval overlaps the band.",
)
@click.option(
    "--page", metavar="FILE", help="Write the outcome to this file as a Markdown page with pictures."
)
@option("json_file")
@click.option("--strict", is_flag=True, help="Exit with code 1 if something is outside its band.")
@draws
@click.pass_context
def fidelity(
    context: click.Context,
    cca: str,
    scenario: str | None,
    count: int | None,
    runs: int,
    seed: int,
    duration: str | None,
    jobs: int | None,
    kernel: str | None,
    dry_run: bool,
    out: str | None,
    overwrite: bool,
    rerun_undecided: int | None,
    page: str | None,
    json_file: str | None,
    strict: bool,
) -> None:
    """Measure how far the native TCP is from that of a Linux kernel.

    Both engines run on the same realisations of the path. For each case and congestion control, the
    table shows how far goodput and RTT are apart, and whether that is within the allowed band. It needs
    a kernel, which celltcp kernel build builds.

    celltcp fidelity packetdrill plays test scripts of Linux against the native TCP; it needs no kernel.
    """
    if context.invoked_subcommand:
        return
    from celltcp._core import KERNEL
    from celltcp.campaign.engines import engine
    from celltcp.fidelity.campaign import EnginePair, cost_of, judge, select_linux_ccas
    from celltcp.fidelity.causes import known_causes
    from celltcp.fidelity.distribution import distribution_of
    from celltcp.fidelity.report.page import PAGE, write_page
    from celltcp.files.replacing import check_output
    from celltcp.results.folder import prepare_folder

    ccas = select_linux_ccas(cca)
    if count and (scenario or page):
        other = "--scenario" if scenario else "--page"
        raise click.UsageError(f"--random draws its own scenarios and makes no page; leave out {other}")
    cases = _select_cases(count, seed, scenario, duration)
    native, linux = engine(), engine(KERNEL, kernel)
    for case in cases:
        native.require(case.scenario.ccas)
        linux.require(case.scenario.ccas)
    if dry_run:
        click.echo(cost_of(cases, ccas, runs, seed, EnginePair(native, linux)))
        return
    check_json(json_file)
    if page:
        check_output(Path(page), PAGE, inputs=other_arguments("page"))
    folder = prepare_folder(out) if out else None
    engines = EnginePair(native, linux, workers=jobs, out=folder, overwrite=overwrite)
    with progress_bar("judging") as progress:
        result = judge(cases, ccas, runs, seed, engines, progress=progress)
    if rerun_undecided and result.undecided:
        result = _rerun_undecided(result, cases, rerun_undecided, engines)
    causes = known_causes()
    distribution = distribution_of(result, cases) if count else None
    document = result.to_json(causes)
    if distribution:
        document["distribution"] = distribution.to_json()

    def show() -> None:
        print_fidelity(result)
        if distribution:
            print_distribution(distribution)

    print_result(lambda: document, json_file, show)
    if folder:
        save_tables(result, causes, cases if count else [], folder)
        save_pictures(result, folder)
    if page:
        file = write_page(result, Path(page), _command_line(context), causes)
        note(f"page: {file}")
    if strict and result.outside:
        sys.exit(1)


fidelity.add_command(packetdrill)


def _select_cases(count: int | None, seed: int, names: str | None, duration: str | None) -> list[Case]:
    """Returns `count` random cases; without a count, the cases of these names or the whole set."""
    from celltcp.fidelity.cases import choose_cases
    from celltcp.fidelity.random_cases import random_cases
    from celltcp.scenarios.scenario_list import split_names

    if count:
        return random_cases(count, seed, duration)
    return choose_cases(split_names(names or ""), duration)


def _rerun_undecided(
    fidelity: Fidelity, cases: Sequence[Case], runs: int, engines: EnginePair
) -> Fidelity:
    """Returns the judgements, of which undecided ones are repeated with this number of runs."""
    from dataclasses import replace

    from celltcp.fidelity.campaign import rerun_undecided
    from celltcp.fidelity.saved import DECIDED

    engines = replace(engines, out=engines.out / DECIDED if engines.out else None)
    with progress_bar("deciding") as progress:
        return rerun_undecided(fidelity, cases, runs, engines, progress=progress)


def _command_line(context: click.Context) -> str:
    """Returns the command with its given options that change the result."""
    import shlex

    from click.core import ParameterSource

    words = ["celltcp", "fidelity"]
    for parameter in context.command.params:
        name = str(parameter.name)
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and name not in _NOT_IN_COMMAND:
            words += [parameter.opts[0], str(context.params[name])]
    return shlex.join(words)


def print_fidelity(fidelity: Fidelity) -> None:
    """Prints a table per group, and the number of differences within their bands."""
    from celltcp.fidelity.cases import group_titles
    from celltcp.fidelity.report.tables import group_table
    from celltcp.fidelity.rows import LEGEND
    from celltcp.present.terminal import Terminal

    console = Terminal(_TABLE_WIDTH)
    for group, title in group_titles().items():
        selected = [judgement for judgement in fidelity.judgements if judgement.group == group]
        if selected:
            console.print_table(group_table(selected, title))
    console.print(LEGEND)
    total = len(fidelity.judgements)
    console.print(
        f"celltcp {fidelity.version} against Linux {fidelity.kernel_version}, "
        f"{fidelity.runs} runs each: {fidelity.within_count} of {total} within their bands, "
        f"{len(fidelity.undecided)} undecided, "
        f"{len(fidelity.outside)} outside"
    )


def print_distribution(distribution: Distribution) -> None:
    """Prints quantiles of the differences, traits of the cases, and the comparisons beyond a band."""
    from celltcp.fidelity.report.tables import out_of_band_table, quantiles_table, traits_table
    from celltcp.present.terminal import Terminal

    console = Terminal()
    console.print_table(quantiles_table(distribution))
    console.print_table(traits_table(distribution))
    if distribution.outside:
        console.print_table(out_of_band_table(distribution))


def save_tables(
    fidelity: Fidelity, causes: Sequence[Cause], random_cases: Sequence[Case], folder: Path
) -> None:
    """Writes the table of all judgements, and the scenarios of random cases."""
    from celltcp.fidelity.rows import csv_text
    from celltcp.fidelity.saved import ROWS
    from celltcp.files.atomic_write import write_text

    write_text(folder / ROWS, csv_text(fidelity, causes))
    for case in random_cases:
        write_text(folder / case.name / "scenario.toml", case.scenario.to_toml())


def save_pictures(fidelity: Fidelity, folder: Path) -> None:
    """Draws the overview, and the trajectories of each case and congestion control."""
    from celltcp.fidelity.plots import draw_overview, draw_trajectories
    from celltcp.present.style import save

    for judgement in fidelity.judgements:
        picture = draw_trajectories(judgement, fidelity.seed)
        save(picture, folder / judgement.case / f"{judgement.cca}.png")
    for ending in ("png", "svg"):
        note(f"picture: {save(draw_overview(fidelity), folder / f'overview.{ending}')}")
