"""Published mean goodputs next to those of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace

from celltcp.comparison.comparison import Comparison
from celltcp.publications.agreement import Outcome, outcome
from celltcp.publications.goodput_index import goodput_entries, goodput_files
from celltcp.publications.measurements import Measured
from celltcp.publications.published import in_order, table_files, tables_in
from celltcp.publications.published_table import Table
from celltcp.scenarios.scenarios import load_scenario


@dataclass(frozen=True)
class PublishedComparison:
    """Goodputs of a scenario, published and measured."""

    scenario: str
    outcomes: list[Outcome]
    #: Reason why there are no outcomes; empty if there are any.
    reason: str = ""


def compare_published(comparison: Comparison) -> PublishedComparison:
    """Returns the published mean goodputs of the scenario and those of the comparison.

    The scenario must be a built-in one without changes: otherwise a difference from the publication
    could be due to a change.
    """
    about = comparison.results.about
    name = str(about["name"])
    tables = _goodput_tables(name)
    if not tables:
        allowed = ", ".join(goodput_files())
        return PublishedComparison(
            name, [], f"no publication has goodput for {name}; there are figures for {allowed}"
        )
    built_in = load_scenario(name)
    hashes = {built_in.hash}
    if built_in.has_radio:
        hashes.add(built_in.with_radio_log().hash)
    if about["hash"] not in hashes:
        return PublishedComparison(
            name,
            [],
            f"{name} was changed, so that published figures do not apply; leave out --set, --duration "
            "and other changes",
        )
    ccas = comparison.ccas
    common = [
        replace(table, entries=tuple(entry for entry in table.entries if entry.cca in ccas))
        for table in tables
    ]
    common = [table for table in common if table.entries]
    if not common:
        published = dict.fromkeys(entry.cca for table in tables for entry in table.entries)
        return PublishedComparison(name, [], f"figures are published for {', '.join(published)} only")
    measured = {name: Measured(comparison, {cca: cca for cca in ccas})}
    return PublishedComparison(name, [outcome(table, measured) for table in common])


def _goodput_tables(scenario: str) -> list[Table]:
    """Returns the published tables, reduced to the mean goodputs of a scenario."""
    files = [file for file in table_files() if file.name in goodput_files().get(scenario, ())]
    tables = []
    for table in in_order(table for file in files for table in tables_in(file)):
        entries = tuple(entry for entry in goodput_entries(table) if entry.scenario == scenario)
        if entries:
            tables.append(replace(table, entries=entries))
    return tables
