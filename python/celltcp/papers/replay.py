"""Runs of the scenarios that tables are about, and what they cost."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from celltcp.campaign import Progress
from celltcp.ccas import chosen
from celltcp.comparison import compare
from celltcp.papers.measured import Measured
from celltcp.papers.published import Table, published_tables
from celltcp.scenarios import load_scenario

#: Scenario and length of the run by which the speed of the machine is measured.
_TRIAL = ("mobility/forward-60-4g", "4s")


@dataclass(frozen=True)
class Replay:
    """How the scenarios of tables are run again."""

    runs: int = 10
    seed: int = 1
    jobs: int | None = None
    #: CCAs as the kernel of the experiments had them, by today's names.
    era: Mapping[str, str] | None = None
    #: Overrides of the scenarios, as `field=value`.
    changes: Sequence[str] = ()
    out: Path | None = None

    def measure(self, scenario: str, progress: Progress | None = None) -> Measured:
        """Runs a scenario with the CCAs of all tables about it; with `out`, only what is missing.

        All tables share the runs of a scenario, whichever of them is asked for.
        """
        era = self.era or {}
        ran = {cca: chosen(era.get(cca, cca), ())[0] for cca in ccas_of(scenario)}
        comparison = compare(
            scenario,
            cca=list(ran.values()),
            runs=self.runs,
            seed=self.seed,
            jobs=self.jobs,
            set=self.changes,
            out=self._folder(scenario),
            progress=progress,
        )
        return Measured(comparison, ran)

    def _folder(self, scenario: str) -> Path | None:
        if self.out is None:
            return None
        parts = (*self.changes, *(("era",) if self.era else ()), scenario)
        return self.out.joinpath(*parts)


def ccas_of(scenario: str) -> list[str]:
    """Returns the CCAs of which some table has a figure on a scenario."""
    entries = [each for table in published_tables() for each in table.entries]
    return list(dict.fromkeys(each.cca for each in entries if each.scenario == scenario))


def scenarios_of(tables: Sequence[Table]) -> list[str]:
    """Returns the scenarios of these tables, each once."""
    return list(dict.fromkeys(scenario for table in tables for scenario in table.scenarios))


def simulated_s(tables: Sequence[Table], runs: int) -> float:
    """Returns the simulated time of the runs of these tables, s."""
    return sum(
        load_scenario(scenario).duration_s * len(ccas_of(scenario)) * runs
        for scenario in scenarios_of(tables)
    )


def speed() -> float:
    """Returns the simulated seconds that this machine runs per second, from a short run."""
    scenario, length = _TRIAL
    begun = time.perf_counter()
    compare(scenario, cca="cubic", runs=1, duration=length, jobs=1)
    taken = max(time.perf_counter() - begun, 1e-3)
    return float(length.removesuffix("s")) / taken * (os.cpu_count() or 1)
