"""Runs of the places of tables, and their cost."""

from __future__ import annotations

import fnmatch
import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from celltcp._core import CelltcpError, available_threads
from celltcp.campaign.jobs import Jobs
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.run import compare, comparison_request
from celltcp.publications.conditions import Condition
from celltcp.publications.measurements import Measured
from celltcp.publications.published import published_tables
from celltcp.publications.published_table import SELECTION, Published, Table
from celltcp.publications.quantities import QUANTITIES
from celltcp.scenarios.ccas import select_ccas
from celltcp.scenarios.scenarios import scenario_names

#: Scenario and length of the run that measures the speed of the machine.
_TRIAL = ("mobility/forward-60-4g", 4.0)


@dataclass(frozen=True)
class PaperRun(RunSettings):
    """Settings with which the places of tables are run again."""

    #: CCAs of the experiments' kernel, by today's names.
    era: Mapping[str, str] | None = None

    def measure(self, name: str, progress: Progress | None = None) -> Measured:
        """Runs a place with the CCAs of all its tables; with `out`, only the missing runs.

        All tables share the runs of a place, whichever of them is asked for.
        """
        comparison = self._request(name).run(progress)
        return Measured(comparison, self._ran(name)).without_log()

    def planned(self, name: str) -> Jobs:
        """Returns the runs of a place, without those of combinations of its CCAs."""
        return replace(self, out=None)._request(name).campaigns[0].jobs

    def _request(self, name: str) -> CampaignRequest[Comparison]:
        """Plans the runs of a place."""
        place = place_named(name)
        # An error about the place itself names its file.
        _ = place.loaded
        settings = replace(
            self,
            cca=list(dict.fromkeys(self._ran(name).values())),
            changes=[*place.changes, *self.stored_overrides],
            radio_log=needs_log(name),
            out=self.folder_of(place.folder),
        )
        return comparison_request(settings.source(place.scenario), settings)

    def _ran(self, name: str) -> dict[str, str]:
        """Returns the simulated CCA on a place for each CCA of the tables."""
        place, era = place_named(name), self.era or {}
        return {cca: select_ccas(place.lineup(era.get(cca, cca)), ())[0] for cca in ccas_of(name)}

    def changed(self, change: str) -> PaperRun:
        """Returns the settings with another override of all places, `field=value`."""
        return replace(self, changes=[*self.stored_overrides, change])

    def folder_of(self, name: str) -> Path | None:
        """Returns the folder of the runs of a place."""
        if self.out is None:
            return None
        parts = (*self.stored_overrides, *(("era",) if self.era else ()), name)
        return Path(self.out, *parts)


@functools.cache
def _entries() -> dict[str, list[Published]]:
    """Returns the entries of all tables, by place."""
    result: dict[str, list[Published]] = {}
    for table in published_tables():
        for entry in table.entries:
            result.setdefault(entry.scenario, []).append(entry)
    return result


@functools.cache
def _named_places() -> dict[str, set[Condition]]:
    """Returns the places with names in tables."""
    result: dict[str, set[Condition]] = {}
    for table in published_tables():
        for place in table.named_places:
            result.setdefault(place.name, set()).add(place)
    return result


@functools.cache
def _referred() -> dict[str, list[str]]:
    """Returns the CCAs that claims refer to, by place."""
    result: dict[str, list[str]] = {}
    for table in published_tables():
        for entry in table.entries:
            if entry.claim and entry.claim.refers:
                place = entry.claim.place or entry.scenario
                result.setdefault(place, []).append(entry.claim.cca or entry.cca)
    return result


def place_named(name: str) -> Condition:
    """Returns the place with a name, which must be the same in all tables.

    Raises:
        CelltcpError: if two tables have different places of that name.
    """
    places = _named_places().get(name, set())
    if len(places) > 1:
        raise CelltcpError(f"place {name!r}: two tables have different ones")
    return next(iter(places)) if places else Condition(name, name)


def ccas_of(name: str) -> list[str]:
    """Returns the CCAs that run on a place.

    These are those for which some table has a value there, those that a claim compares there, and those
    that a quantity of another CCA is relative to.
    """
    mine = _entries().get(name, [])
    result = {published.cca: None for published in mine if published.cca != SELECTION}
    bases = [QUANTITIES[published.quantity].base for published in mine]
    result |= {base(published.cca): None for base, published in zip(bases, mine, strict=True) if base}
    return list(result | dict.fromkeys(_referred().get(name, [])))


def needs_log(name: str) -> bool:
    """Returns whether a table needs the log of the radio."""
    return any(QUANTITIES[published.quantity].log for published in _entries().get(name, []))


def scenarios_of(tables: Sequence[Table]) -> list[str]:
    """Returns the places of these tables, each once; patterns are expanded to built-in scenarios."""
    names = (name for table in tables for scenario in table.scenarios for name in group(scenario))
    return list(dict.fromkeys(names))


def group(pattern: str) -> list[str]:
    """Returns the built-in scenarios that match a pattern; a name without one as it is."""
    if "*" not in pattern:
        return [pattern]
    return [
        scenario_name for scenario_name in scenario_names() if fnmatch.fnmatch(scenario_name, pattern)
    ]


def simulated_s(tables: Sequence[Table], runs: int) -> float:
    """Returns the simulated time of the runs of these tables, s."""
    typical = {
        name: table.grid.typical_s for table in tables if table.grid for name in table.grid.cells
    }
    lengths = {name: typical.get(name) or place_named(name).duration_s for name in scenarios_of(tables)}
    return sum(length * len(ccas_of(name)) * runs for name, length in lengths.items())


def speed() -> float:
    """Returns the simulated seconds that this machine, if idle, runs per second, from a short run."""
    scenario, length_s = _TRIAL
    cpu_start_s = time.process_time()
    compare(scenario, cca="cubic", runs=1, duration=f"{length_s}s", jobs=1)
    taken = max(time.process_time() - cpu_start_s, 1e-3)
    return length_s / taken * available_threads()
