"""Jobs: descriptions of single runs, which any process can carry out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from celltcp._core import Scenario, __version__
from celltcp.engines import Described, Engine
from celltcp.own_cca import sources_of
from celltcp.results import part_of_file_name


@dataclass(frozen=True)
class Job:
    """One run of a campaign, which can be pickled. Its outcome depends on nothing else."""

    number: int
    cca: str
    seed: int
    scenario: Scenario
    engine: Engine

    @property
    def key(self) -> str:
        """Name that two jobs share only if they are the same run."""
        # Words of `auto` name files, whose paths have slashes.
        cca = part_of_file_name(quote(self.cca, safe=":,=+"))
        engine = f"{self.engine.key}-{__version__}-{self.engine.build}"
        return f"{cca}-{self.seed}-{self.scenario.hash}-{engine}{sources_of(self.scenario.ccas)}"

    @property
    def described(self) -> Described:
        """Job in the form that `celltcp._core.run_batch` takes."""
        return self.engine.describe(self.number, self.cca, self.scenario, self.seed)


def jobs_for(
    scenario: Scenario,
    ccas: Sequence[str],
    runs: int,
    seed: int,
    engine: Engine,
) -> list[Job]:
    """Returns the runs of a campaign, CCA by CCA; run i has seed + i."""
    jobs: list[Job] = []
    for cca in ccas:
        changed = scenario.with_cca(cca)
        engine.require(sorted(set(changed.ccas)), cca)
        jobs += [Job(len(jobs) + run, cca, seed + run, changed, engine) for run in range(runs)]
    return jobs
