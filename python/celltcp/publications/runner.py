"""Runner: runs the conditions of some tables once, then selections from their outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from celltcp.campaign.run import Progress
from celltcp.publications.agreement import Outcome, outcome
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import PaperRun, find_condition, group
from celltcp.publications.published_table import SELECTION, Published, Table
from celltcp.publications.quantities.selections import CRITERIA, TALLY
from celltcp.publications.switching import Combination, gain, run_combination

#: Context that shows the progress of a condition while it runs.
ProgressOf = Callable[[str], AbstractContextManager[Progress | None]]


def run_tables(
    tables: Sequence[Table],
    scenarios: Sequence[str],
    paper_run: PaperRun,
    show_progress: ProgressOf,
    measured_before: dict[str, Measured] | None = None,
) -> list[Outcome]:
    """Runs these conditions of the tables, each once, and returns the outcomes of the tables.

    `measured_before` has conditions that ran with the same settings; new ones are added.
    """
    known = {} if measured_before is None else measured_before
    for number, name in enumerate(scenarios, 1):
        if name not in known:
            with show_progress(f"{name} ({number} of {len(scenarios)})") as progress:
                known[name] = paper_run.measure(name, progress)
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
    combinations: dict[str, Combination] = {}
    cases_to_run = [*selections.values(), *(case for tally in tallies for case in _cases(tally))]
    for entry in {case.source: case for case in cases_to_run}.values():
        with show_progress(entry.source):
            single = measured[entry.scenario]
            combined = run_combination(
                paper_run, find_condition(entry.scenario), entry.criterion, single
            )
        combinations[entry.source] = combined
        gains = {f"gain_{entry.criterion}": gain(combined, single)}
        measured[entry.source] = replace(combined.measured, derived=gains)
    for tally in tallies:
        sources = [case.source for case in _cases(tally)]
        counts = _counts([(combinations[name], measured[name]) for name in sources])
        measured[tally.source] = replace(combinations[sources[0]].measured, derived=counts)
    return [outcome(table, measured) for table in tables]


def _cases(tally: Published) -> list[Published]:
    """Returns the selections that a tally counts."""
    return [
        replace(tally, scenario=name, quantity=criterion)
        for name in group(tally.scenario)
        for criterion in CRITERIA
    ]


def _counts(cases: Sequence[tuple[Combination, Measured]]) -> dict[str, float]:
    """Returns the number of cases by quantity of the tally."""
    gains = [
        next(iter(measured.derived.values())) for combined, measured in cases if combined.has_switches
    ]
    return {
        quantity: float(
            len(cases) - len(gains)
            if bounds is None
            else sum(bounds[0] <= percent < bounds[1] for percent in gains)
        )
        for quantity, bounds in TALLY.items()
    }
