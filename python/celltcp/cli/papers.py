"""celltcp papers."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

import click

from celltcp.cli.options import draws, option, options, takes_settings
from celltcp.cli.output import check_json, draw, print_result
from celltcp.cli.verbosity import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from celltcp.campaign.run_settings import RunSettings
    from celltcp.publications.agreement import Outcome
    from celltcp.publications.measurements import Measured
    from celltcp.publications.outcome import PapersOutcome
    from celltcp.publications.paper_run import PaperRun
    from celltcp.publications.publications import Publication
    from celltcp.publications.published_table import Table


@click.command()
@click.argument("name", required=False)
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT...]")
@click.option("--all", "everything", is_flag=True, help="Run all experiments of all publications.")
@click.option(
    "--scenario",
    metavar="LIST",
    help="Run only these scenarios of the experiments; * stands for any text, as in 'split/*/5MB/*'.",
)
@click.option(
    "--historic-ccas",
    is_flag=True,
    help="Use the CCA versions of the kernel used in the experiments.",
)
@click.option(
    "--sweep",
    is_flag=True,
    help="Vary parameters that the publication does not state; print the agreement per value.",
)
@option(
    "runs",
    default=None,
    help="Number of runs of each congestion control, each with a seed of its own.  "
    "[default: that of the publication, which the list shows]",
)
@options("seed", "jobs", "cluster")
@option("changes", help="Override a field of all scenarios of the experiments; may be repeated.")
@option("dry_run")
@options("out", "overwrite")
@option("json_file", help="Write a row per published figure as JSON to this file; with -, print them.")
@draws
@takes_settings
def papers(
    name: str | None,
    experiments: tuple[str, ...],
    everything: bool,
    scenario: str | None,
    historic_ccas: bool,
    sweep: bool,
    settings: RunSettings,
    dry_run: bool,
    json_file: str | None,
) -> None:
    """Repeat published experiments, and compare the figures.

    Without NAME, lists the publications, their experiments, and the time that each takes. With NAME,
    runs its experiments, or only those that are named.

    Each published value is printed beside ours with their intervals, whether one lies in the interval
    of the other, and how well the ranks of the congestion controls agree.
    """
    from celltcp.present.terminal import Terminal
    from celltcp.publications.paper_run import PaperRun
    from celltcp.publications.publications import publication as find_publication
    from celltcp.publications.publications import publications
    from celltcp.publications.runner import run_tables
    from celltcp.publications.tables import print_outcome

    check_json(json_file)
    if name is None and not everything:
        _print_list(list(publications().values()), settings.runs)
        return
    if name is not None and everything:
        raise click.UsageError(f"--all: {name!r} is named, too; give one of them")
    chosen = list(publications().values()) if name is None else [find_publication(name)]
    tables = {publication.name: publication.selected_tables(experiments) for publication in chosen}
    paper_runs = {
        publication.name: PaperRun(
            **{**vars(settings), "runs": settings.runs or publication.runs},
            historic_ccas=publication.historic_ccas if historic_ccas else None,
        )
        for publication in chosen
    }
    if sweep:
        _check_sweep(chosen, tables)
    if dry_run:
        _print_cost(chosen, tables, scenario, paper_runs, is_swept=sweep)
        return
    folder = settings.prepare_out()
    rows: PapersOutcome = []
    measured_by_ccas: dict[str, dict[str, Measured]] = {}
    for publication in chosen:
        paper_run, selected = paper_runs[publication.name], tables[publication.name]
        if sweep:
            _sweep(publication, selected, scenario, paper_run)
            continue
        scenarios = _chosen_scenarios(publication, selected, scenario)
        measured = measured_by_ccas.setdefault(str(paper_run.historic_ccas), {})
        outcomes = run_tables(selected, scenarios, paper_run, progress_bar, measured)
        rows += [row.to_json() for outcome in outcomes for row in outcome.rows]
        if json_file != "-":
            console = Terminal()
            for outcome in outcomes:
                print_outcome(outcome, console)
        if folder:
            _draw(outcomes, folder, f"published-{publication.name}" if everything else "published")
    if json_file is not None:
        print_result(lambda: rows, json_file, lambda: None)


def _print_list(known: Sequence[Publication], runs: int | None) -> None:
    """Prints publications with their experiments, and the wall time of each on this machine."""
    from celltcp.publications.paper_run import scenarios_of, simulated_s, speed
    from celltcp.scenarios.cca_mix import count_text

    rate = speed()
    for publication in known:
        click.echo(f"{publication.name}  {publication.about}")
        width = max((len(table.experiment) for table in publication.tables), default=0)
        times = runs or publication.runs
        for table in publication.tables:
            seconds = simulated_s([table], times)
            click.echo(
                f"  {table.experiment:<{width}}  {table.title}: "
                f"{count_text(len(scenarios_of([table])), 'scenario')}, "
                f"{count_text(len(table.entries), 'figure')}; {count_text(times, 'run')} some "
                f"{_time_text(seconds / rate)}"
            )
        for parameter in publication.unpublished:
            click.echo(f"  not published: {parameter.description}; plausible: {parameter.plausible}")
    click.echo("Times are estimated from a run of 4 s on this machine.")


def _time_text(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _chosen_scenarios(
    publication: Publication, tables: Sequence[Table], patterns: str | None
) -> list[str]:
    """Returns the scenarios of these tables that match a list of patterns; all without patterns."""
    from celltcp._core import CelltcpError
    from celltcp.publications.paper_run import scenarios_of
    from celltcp.scenarios.scenario_list import split_names

    scenarios = scenarios_of(tables)
    if patterns is None:
        return scenarios
    chosen: list[str] = []
    for pattern in split_names(patterns):
        matches = [pattern] if pattern in scenarios else fnmatch.filter(scenarios, pattern)
        if not matches:
            more = f" and {len(scenarios) - 20} more" if len(scenarios) > 20 else ""
            names = ", ".join(scenarios[:20]) + more
            raise CelltcpError(f"scenario {pattern!r}: {publication.name} has figures of {names} only")
        chosen.extend(matches)
    return list(dict.fromkeys(chosen))


def _draw(outcomes: Sequence[Outcome], folder: Path, name: str) -> None:
    """Draws all experiments with published numbers in one picture, and each in its own."""
    from celltcp.publications.plots import draw_outcomes

    if numbered := [outcome for outcome in outcomes if outcome.agreements] or list(outcomes):
        draw(draw_outcomes(numbered), folder, name)
    pictures: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.groups:
            picture = f"{outcome.table.publication}-{outcome.table.experiment}"
            pictures.setdefault(picture, []).append(outcome)
    for picture, parts in pictures.items():
        draw(draw_outcomes(parts), folder, picture)


def _print_cost(
    chosen: Sequence[Publication],
    tables: Mapping[str, Sequence[Table]],
    scenario: str | None,
    paper_runs: Mapping[str, PaperRun],
    *,
    is_swept: bool,
) -> None:
    """Prints the estimated cost of all scenarios, without runs that depend on their outcome."""
    from celltcp.campaign.cost_estimate import estimate_cost

    planned = {}
    for publication in chosen:
        selected, paper_run = tables[publication.name], paper_runs[publication.name]
        parts = _varied(publication, selected, paper_run) if is_swept else [(selected, paper_run)]
        for part, paper_run in parts:
            for name in _chosen_scenarios(publication, part, scenario):
                planned[name, str(paper_run.historic_ccas), tuple(paper_run.stored_overrides)] = (
                    paper_run,
                    name,
                )
    click.echo(estimate_cost(paper_run.planned(name) for paper_run, name in planned.values()))


def _varied(
    publication: Publication, tables: Sequence[Table], paper_run: PaperRun
) -> Iterator[tuple[list[Table], PaperRun]]:
    """Yields dependent tables and settings for each value of the unpublished parameters."""
    for parameter in publication.unpublished:
        dependent = [table for table in tables if table.experiment in parameter.experiments]
        for value in parameter.values if dependent else ():
            yield dependent, paper_run.changed(f"{parameter.field}={value}")


def _check_sweep(chosen: Sequence[Publication], tables: Mapping[str, Sequence[Table]]) -> None:
    """Rejects a sweep if the selected experiments have no unpublished parameter."""
    from celltcp._core import CelltcpError

    requested = {
        (publication.name, table.experiment)
        for publication in chosen
        for table in tables[publication.name]
    }
    known = {
        (publication.name, experiment): None
        for publication in chosen
        for parameter in publication.unpublished
        for experiment in parameter.experiments
    }
    if not requested & known.keys():
        names = ", ".join(sorted(experiment for _, experiment in requested))
        allowed = ", ".join(experiment for _, experiment in known) or "none of this publication"
        raise CelltcpError(f"sweep: {names}: no condition is varied for it; allowed: {allowed}")


def _sweep(
    publication: Publication, tables: Sequence[Table], scenario: str | None, paper_run: PaperRun
) -> None:
    """Runs the experiments for each value of the unpublished parameters that they depend on."""
    from celltcp.present.terminal import Terminal
    from celltcp.publications.runner import run_tables
    from celltcp.publications.tables import print_sweep

    console = Terminal()
    for parameter in publication.unpublished:
        dependent = [table for table in tables if table.experiment in parameter.experiments]
        if not dependent:
            continue
        scenarios = _chosen_scenarios(publication, dependent, scenario)
        outcomes_by_value = {}
        for value in parameter.values:
            changed = paper_run.changed(f"{parameter.field}={value}")
            outcomes_by_value[value] = run_tables(dependent, scenarios, changed, progress_bar)
        console.print(f"not published: {parameter.description}; plausible: {parameter.plausible}")
        for index in range(len(dependent)):
            by_value = [(value, outcomes[index]) for value, outcomes in outcomes_by_value.items()]
            print_sweep(parameter.field, by_value, console)
