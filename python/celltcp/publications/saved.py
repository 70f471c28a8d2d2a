"""Saved experiments: outcomes from the runs in a folder of `celltcp papers --out`."""

from __future__ import annotations

from pathlib import Path

from celltcp.comparison.comparison import Comparison
from celltcp.publications.agreement import Outcome, outcome
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import ccas_of, find_condition, scenarios_of
from celltcp.publications.published import published_tables
from celltcp.results.folder import about_in
from celltcp.results.tables import read_results
from celltcp.scenarios.ccas import select_ccas


def load_experiments(folder: Path) -> list[Outcome]:
    """Returns the outcomes of the experiments whose conditions a folder has.

    If the folder has pictures of experiments, only these experiments are returned. Entries that need
    further runs, such as selections, are left out.
    """
    tables = published_tables()
    drawn = [
        table for table in tables if (folder / f"{table.publication}-{table.experiment}.png").is_file()
    ]
    measured: dict[str, Measured] = {}
    for name in scenarios_of(drawn or tables):
        runs = folder / find_condition(name).folder
        if about_in(runs) is not None:
            measured[name] = _measured(runs, name)
    outcomes = [outcome(table, measured) for table in drawn or tables]
    return [outcome for outcome in outcomes if outcome.groups]


def _measured(folder: Path, name: str) -> Measured:
    comparison = Comparison(read_results(folder))
    condition = find_condition(name)
    lineups = {cca: select_ccas(condition.lineup(cca), ())[0] for cca in ccas_of(name)}
    simulated_ccas = {cca: lineup for cca, lineup in lineups.items() if lineup in comparison.ccas}
    return Measured(comparison, simulated_ccas).without_log()
