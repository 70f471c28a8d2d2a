"""Our means of a comparison beside published ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from celltcp.comparison import Comparison
from celltcp.papers.measured import Measured
from celltcp.papers.outcome import Outcome, outcome
from celltcp.papers.published import published_tables
from celltcp.scenarios import load_scenario


@dataclass(frozen=True)
class Beside:
    """Goodputs of a scenario, published and measured here."""

    scenario: str
    outcomes: list[Outcome]
    #: Whether the scenario was run as it is built in.
    unchanged: bool


def beside(comparison: Comparison) -> Beside | None:
    """Returns the published mean goodputs of the scenario and ours; None without a common CCA."""
    name = str(comparison.results.about["name"])
    ccas = comparison.ccas
    here = {name: Measured(comparison, {cca: cca for cca in ccas})}
    tables = []
    for table in published_tables():
        entries = tuple(
            each
            for each in table.entries
            if each.scenario == name
            and each.cca in ccas
            and each.quantity == "goodput"
            and not each.part
            and table.place(name).scenario == name
            and each.value is not None
        )
        if entries:
            tables.append(replace(table, entries=entries))
    if not tables:
        return None
    built_in = load_scenario(name)
    same = {built_in.hash}
    if built_in.has_radio:
        same.add(built_in.with_radio_log().hash)
    outcomes = [outcome(table, here) for table in tables]
    return Beside(name, outcomes, comparison.results.about["hash"] in same)
