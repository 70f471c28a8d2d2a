"""Runner: runs all places of some tables once, and then the further runs of procedures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from celltcp.campaign.run import Progress
from celltcp.publications.agreement import Outcome, outcome
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import PaperRun, group, place_named
from celltcp.publications.published_table import SELECTION, Published, Table
from celltcp.publications.quantities.selections import CRITERIA, TALLY
from celltcp.publications.switching import Combination, combination, gain

#: Shows the progress of a place while it runs.
Shown = Callable[[str], AbstractContextManager[Progress | None]]


def run_tables(
    tables: Sequence[Table],
    scenarios: Sequence[str],
    replay: PaperRun,
    progress_of: Shown,
    measured_before: dict[str, Measured] | None = None,
) -> list[Outcome]:
    """Runs these places of the tables, each once, and returns the outcomes of the tables.

    Args:
        tables: published tables.
        scenarios: places of the tables.
        replay: settings of the runs.
        progress_of: shows the progress of a place.
        measured_before: places that ran with the same settings; new ones are added.
    """
    known = {} if measured_before is None else measured_before
    for number, name in enumerate(scenarios, 1):
        if name not in known:
            with progress_of(f"{name} ({number} of {len(scenarios)})") as progress:
                known[name] = replay.measure(name, progress)
    measured = {name: known[name] for name in scenarios}
    selections = {
        entry.source: entry
        for table in tables
        for entry in table.entries
        if entry.cca == SELECTION and entry.scenario in measured
    }
    tallies = [
        entry
        for table in tables
        for entry in table.entries
        if entry.quantity in TALLY and all(name in measured for name in group(entry.scenario))
    ]
    combined: dict[str, Combination] = {}
    cases_to_run = [*selections.values(), *(case for tally in tallies for case in _cases(tally))]
    for published in {case.source: case for case in cases_to_run}.values():
        with progress_of(published.source):
            ours = measured[published.scenario]
            result = combination(replay, place_named(published.scenario), published.criterion, ours)
        combined[published.source] = result
        gained = {f"gain_{published.criterion}": gain(result, ours)}
        measured[published.source] = replace(result.measured, known=gained)
    for tally in tallies:
        sources = [case.source for case in _cases(tally)]
        first = combined[sources[0]].measured
        counts = _counts([(combined[name], measured[name]) for name in sources])
        measured[tally.source] = replace(first, known=counts)
    return [outcome(table, measured) for table in tables]


def _cases(tally: Published) -> list[Published]:
    return [
        replace(tally, scenario=name, quantity=criterion)
        for name in group(tally.scenario)
        for criterion in CRITERIA
    ]


def _counts(cases: Sequence[tuple[Combination, Measured]]) -> dict[str, float]:
    """Returns how many cases there are of each kind of the tally."""
    gains = [next(iter(ours.known.values())) for combination, ours in cases if combination.switches]
    return {
        kind: float(
            sum(not combination.switches for combination, _ in cases)
            if bounds is None
            else sum(bounds[0] <= each < bounds[1] for each in gains)
        )
        for kind, bounds in TALLY.items()
    }
