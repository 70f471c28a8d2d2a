"""Runs of the conditions of tables, and their cost."""

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

#: Scenario of the run that measures the speed of the machine.
_TRIAL_SCENARIO = "mobility/forward-60-4g"
#: Length of this run, s.
_TRIAL_S = 4.0


@dataclass(frozen=True)
class PaperRun(RunSettings):
    """Settings of the runs that repeat the experiments of publications."""

    #: Versions of CCAs in the kernel of the experiments, by CCA.
    historic_ccas: Mapping[str, str] | None = None

    def measure(self, name: str, progress: Progress | None = None) -> Measured:
        """Runs a condition with the CCAs of all its tables; with `out`, only the missing runs.

        All tables share the runs of a condition, so the requested tables do not matter.
        """
        comparison = self._request(name).run(progress)
        return Measured(comparison, self._simulated_ccas(name)).without_log()

    def planned(self, name: str) -> Jobs:
        """Returns the jobs of a condition, without those of combinations of its CCAs."""
        return replace(self, out=None)._request(name).campaigns[0].jobs

    def _request(self, name: str) -> CampaignRequest[Comparison]:
        """Plans the runs of a condition."""
        condition = find_condition(name)
        # Loaded first, so that an error about the condition names its file.
        _ = condition.loaded
        settings = replace(
            self,
            cca=list(dict.fromkeys(self._simulated_ccas(name).values())),
            changes=[*condition.changes, *self.stored_overrides],
            radio_log=any(
                QUANTITIES[entry.quantity].needs_radio_log for entry in _entries().get(name, [])
            ),
            out=self.folder_of(condition.folder),
        )
        return comparison_request(settings.source(condition.scenario), settings)

    def _simulated_ccas(self, name: str) -> dict[str, str]:
        """Returns the simulated CCA or line-up of a condition for each CCA of the tables."""
        condition, historic = find_condition(name), self.historic_ccas or {}
        return {
            cca: select_ccas(condition.lineup(historic.get(cca, cca)), ())[0] for cca in ccas_of(name)
        }

    def changed(self, change: str) -> PaperRun:
        """Returns the settings with another override of all conditions, `field=value`."""
        return replace(self, changes=[*self.stored_overrides, change])

    def folder_of(self, name: str) -> Path | None:
        """Returns the folder of the runs of a condition."""
        if self.out is None:
            return None
        parts = (*self.stored_overrides, *(("era",) if self.historic_ccas else ()), name)
        return Path(self.out, *parts)


@functools.cache
def _entries() -> dict[str, list[Published]]:
    """Returns the entries of all tables, by condition."""
    result: dict[str, list[Published]] = {}
    for table in published_tables():
        for entry in table.entries:
            result.setdefault(entry.scenario, []).append(entry)
    return result


@functools.cache
def _named_conditions() -> dict[str, set[Condition]]:
    """Returns the conditions with names in tables."""
    result: dict[str, set[Condition]] = {}
    for table in published_tables():
        for condition in table.named_conditions:
            result.setdefault(condition.name, set()).add(condition)
    return result


@functools.cache
def _claimed_ccas() -> dict[str, list[str]]:
    """Returns the CCAs that claims refer to, by condition."""
    result: dict[str, list[str]] = {}
    for table in published_tables():
        for entry in table.entries:
            if entry.claim and entry.claim.is_relative:
                condition = entry.claim.condition or entry.scenario
                result.setdefault(condition, []).append(entry.claim.cca or entry.cca)
    return result


def find_condition(name: str) -> Condition:
    """Returns the condition of a name, which must be the same in all tables.

    Raises:
        CelltcpError: if two tables have different conditions of this name.
    """
    conditions = _named_conditions().get(name, set())
    if len(conditions) > 1:
        raise CelltcpError(f"place {name!r}: two tables have different ones")
    return next(iter(conditions)) if conditions else Condition(name, name)


def ccas_of(name: str) -> list[str]:
    """Returns the CCAs that run under a condition.

    These are the CCAs of the entries of all tables, the reference CCAs of their quantities, and those
    that claims refer to.
    """
    entries = _entries().get(name, [])
    ccas = {entry.cca: None for entry in entries if entry.cca != SELECTION}
    for entry in entries:
        if base := QUANTITIES[entry.quantity].base:
            ccas[base(entry.cca)] = None
    return list(ccas | dict.fromkeys(_claimed_ccas().get(name, [])))


def scenarios_of(tables: Sequence[Table]) -> list[str]:
    """Returns the names of the conditions of some tables; patterns expand to built-in scenarios."""
    names = (name for table in tables for scenario in table.scenarios for name in group(scenario))
    return list(dict.fromkeys(names))


def group(pattern: str) -> list[str]:
    """Returns the built-in scenarios that match a pattern; a name without one as it is."""
    if "*" not in pattern:
        return [pattern]
    return fnmatch.filter(scenario_names(), pattern)


def simulated_s(tables: Sequence[Table], runs: int) -> float:
    """Returns the simulated time of the runs of these tables, s."""
    typical_s = {
        name: table.grid.typical_s for table in tables if table.grid for name in table.grid.cells
    }
    return sum(
        (typical_s.get(name) or find_condition(name).duration_s) * len(ccas_of(name)) * runs
        for name in scenarios_of(tables)
    )


def speed() -> float:
    """Returns the simulated time per wall time of this machine if idle, from a short run."""
    cpu_start_s = time.process_time()
    compare(_TRIAL_SCENARIO, cca="cubic", runs=1, duration=_TRIAL_S, jobs=1)
    cpu_s = max(time.process_time() - cpu_start_s, 1e-3)
    return _TRIAL_S / cpu_s * available_threads()
