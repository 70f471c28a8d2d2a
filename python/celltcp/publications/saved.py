"""Saved outcomes: experiments loaded from the runs of `celltcp papers --out`."""

from __future__ import annotations

from pathlib import Path

from celltcp.comparison.comparison import Comparison
from celltcp.publications.agreement import Outcome, outcome
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import ccas_of, place_named, scenarios_of
from celltcp.publications.published import published_tables
from celltcp.results.folder import about_in
from celltcp.results.tables import read_results
from celltcp.scenarios.ccas import select_ccas


def load_experiments(folder: Path) -> list[Outcome]:
    """Returns the outcomes of the experiments whose places a folder has.

    Where pictures of experiments are there, only these experiments are returned. What needs further
    runs, such as the best CCAs by phase one after another, is left out.
    """
    tables = published_tables()
    drawn = [
        table for table in tables if (folder / f"{table.publication}-{table.experiment}.png").is_file()
    ]
    measured: dict[str, Measured] = {}
    for name in scenarios_of(drawn or tables):
        runs = folder / place_named(name).folder
        if about_in(runs) is not None:
            measured[name] = _measured(runs, name)
    result = [outcome(table, measured) for table in drawn or tables]
    return [each for each in result if each.groups]


def _measured(folder: Path, name: str) -> Measured:
    comparison = Comparison(read_results(folder))
    place = place_named(name)
    lineups = {cca: select_ccas(place.lineup(cca), ())[0] for cca in ccas_of(name)}
    present = {cca: text for cca, text in lineups.items() if text in comparison.ccas}
    return Measured(comparison, present).without_log()
