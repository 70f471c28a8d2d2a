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
    from celltcp.publications.paper_run import PaperRun
    from celltcp.publications.publications import publication, publications

    check_json(json_file)
    if name is None and not everything:
        _print_list(list(publications().values()), settings.runs)
        return
    if name is not None and everything:
        raise click.UsageError(f"--all: {name!r} is named, too; give one of them")
    chosen = list(publications().values()) if name is None else [publication(name)]
    tables = {each.name: each.selected_tables(experiments) for each in chosen}
    replays = {
        each.name: PaperRun(
            **{**vars(settings), "runs": settings.runs or each.runs},
            era=each.era if historic_ccas else None,
        )
        for each in chosen
    }
    if sweep:
        _check_sweep(chosen, tables)
    if dry_run:
        _print_outline(chosen, tables, scenario, replays, is_swept=sweep)
        return
    folder = settings.prepare_out()
    rows: PapersOutcome = []
    measured_by_era: dict[str, dict[str, Measured]] = {}
    for each in chosen:
        replay = replays[each.name]
        if sweep:
            _sweep(each, tables[each.name], scenario, replay)
            continue
        tables_to_run = _wanted(each, tables[each.name], scenario)
        measured_places = measured_by_era.setdefault(str(replay.era), {})
        outcomes = _run(tables[each.name], tables_to_run, replay, measured_places)
        rows += [row.to_json() for outcome in outcomes for row in outcome.rows]
        if json_file != "-":
            _print(outcomes)
        if folder:
            _draw(outcomes, folder, f"published-{each.name}" if everything else "published")
    if json_file is not None:
        print_result(lambda: rows, json_file, lambda: None)


def _print_list(known: Sequence[Publication], runs: int | None) -> None:
    """Prints publications with their experiments, and the cost of each on this machine."""
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
        for condition in publication.unpublished:
            click.echo(f"  not published: {condition.condition}; plausible: {condition.plausible}")
    click.echo("Times are estimated from a run of 4 s on this machine.")


def _time_text(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _wanted(each: Publication, tables: Sequence[Table], scenario: str | None) -> list[str]:
    """Returns the scenarios of these tables that were requested."""
    from celltcp._core import CelltcpError
    from celltcp.publications.paper_run import scenarios_of
    from celltcp.scenarios.scenario_list import split_names

    known_scenarios = scenarios_of(tables)
    if scenario is None:
        return known_scenarios
    chosen: list[str] = []
    for pattern in split_names(scenario):
        meant = [pattern] if pattern in known_scenarios else fnmatch.filter(known_scenarios, pattern)
        if not meant:
            some = ", ".join(known_scenarios[:20]) + (
                f" and {len(known_scenarios) - 20} more" if len(known_scenarios) > 20 else ""
            )
            raise CelltcpError(f"scenario {pattern!r}: {each.name} has figures of {some} only")
        chosen.extend(meant)
    return list(dict.fromkeys(chosen))


def _run(
    tables: Sequence[Table],
    scenarios: Sequence[str],
    replay: PaperRun,
    measured_before: dict[str, Measured] | None = None,
) -> list[Outcome]:
    """Runs the places once for all tables; those that are kept from before do not run again."""
    from celltcp.publications.runner import run_tables

    return run_tables(tables, scenarios, replay, progress_bar, measured_before)


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


def _print(outcomes: Sequence[Outcome]) -> None:
    from celltcp.present.terminal import Terminal
    from celltcp.publications.tables import print_outcome

    console = Terminal()
    for outcome in outcomes:
        print_outcome(outcome, console)


def _print_outline(
    chosen: Sequence[Publication],
    tables: Mapping[str, Sequence[Table]],
    scenario: str | None,
    replays: Mapping[str, PaperRun],
    *,
    is_swept: bool,
) -> None:
    """Prints what all places will take, each once, without what depends on their outcome."""
    from celltcp.campaign.cost_estimate import estimate_cost

    planned = {}
    for publication in chosen:
        selected = tables[publication.name]
        parts = (
            _varied(publication, selected, replays[publication.name])
            if is_swept
            else [(selected, replays[publication.name])]
        )
        for concerned, replay in parts:
            for name in _wanted(publication, concerned, scenario):
                planned[name, str(replay.era), tuple(replay.stored_overrides)] = (replay, name)
    click.echo(estimate_cost(replay.planned(name) for replay, name in planned.values()))


def _varied(
    each: Publication, tables: Sequence[Table], replay: PaperRun
) -> Iterator[tuple[list[Table], PaperRun]]:
    """Yields the runs of the experiments that a condition concerns, for each of its values."""
    for condition in each.unpublished:
        concerned = [table for table in tables if table.experiment in condition.experiments]
        for value in condition.values if concerned else ():
            yield concerned, replay.changed(f"{condition.field}={value}")


def _check_sweep(chosen: Sequence[Publication], tables: Mapping[str, Sequence[Table]]) -> None:
    """Rejects a sweep if the selected experiments have no condition to vary."""
    from celltcp._core import CelltcpError

    requested = {
        (publication.name, table.experiment)
        for publication in chosen
        for table in tables[publication.name]
    }
    known = {
        (publication.name, experiment): None
        for publication in chosen
        for condition in publication.unpublished
        for experiment in condition.experiments
    }
    if not requested & known.keys():
        names = ", ".join(sorted(experiment for _, experiment in requested))
        allowed = ", ".join(experiment for _, experiment in known) or "none of this publication"
        raise CelltcpError(f"sweep: {names}: no condition is varied for it; allowed: {allowed}")


def _sweep(each: Publication, tables: Sequence[Table], scenario: str | None, replay: PaperRun) -> None:
    """Runs experiments for each value of the conditions that are not published and matter for them."""
    from celltcp.present.terminal import Terminal
    from celltcp.publications.tables import print_sweep

    console = Terminal()
    for condition in each.unpublished:
        concerned = [table for table in tables if table.experiment in condition.experiments]
        if not concerned:
            continue
        scenarios = _wanted(each, concerned, scenario)
        by_condition = {
            value: _run(concerned, scenarios, replay.changed(f"{condition.field}={value}"))
            for value in condition.values
        }
        console.print(f"not published: {condition.condition}; plausible: {condition.plausible}")
        for index in range(len(concerned)):
            by_value = [(value, outcomes[index]) for value, outcomes in by_condition.items()]
            print_sweep(condition.field, by_value, console)
