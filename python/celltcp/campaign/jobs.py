"""Jobs: picklable descriptions of single runs, and campaigns of many."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload
from urllib.parse import quote

from celltcp._core import Scenario, __version__
from celltcp.campaign.engines import Engine
from celltcp.campaign.provenance import origin_of
from celltcp.results.keys import KeyRange, Keys, part_of_file_name
from celltcp.scenarios.ccas import source_digests


@dataclass(frozen=True)
class Job:
    """One run of a campaign, which can be pickled. Its outcome depends on nothing else."""

    #: Number of the run in the tables.
    number: int
    #: CCA or line-up, which labels the run in the tables.
    cca: str
    seed: int
    scenario: Scenario
    engine: Engine

    @property
    def keys(self) -> Keys:
        """Key of this run alone."""
        # Parameters of `auto` may be files, whose paths have slashes.
        cca = part_of_file_name(quote(self.cca, safe=":,=+"))
        engine = f"{self.engine.key}-{__version__}-{self.engine.build}"
        scenario = f"{self.scenario.hash}{self.scenario.files_digest}"
        suffix = f"{scenario}-{engine}{source_digests(self.scenario.ccas)}"
        return Keys([KeyRange(cca, self.seed, 1, suffix)])

    @property
    def key(self) -> str:
        """Identifier, equal only for identical runs."""
        (key,) = self.keys
        return key


class Jobs(Sequence[Job]):
    """Jobs of a campaign, CCA by CCA; each is created on demand, so that a plan is small."""

    def __init__(
        self, lineups: Sequence[tuple[str, Scenario]], runs: int, seed: int, engine: Engine
    ) -> None:
        """Sets the runs of each CCA or line-up with its scenario; run i has `seed + i`."""
        self._lineups = list(lineups)
        self._runs = runs
        self._seed = seed
        self._engine = engine

    def __len__(self) -> int:
        return len(self._lineups) * self._runs

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        if isinstance(index, slice):
            return [self._job(number) for number in range(len(self))[index]]
        return self._job(range(len(self))[index])

    def __iter__(self) -> Iterator[Job]:
        return map(self._job, range(len(self)))

    def _job(self, number: int) -> Job:
        lineup, run = divmod(number, self._runs)
        label, scenario = self._lineups[lineup]
        return Job(number, label, self._seed + run, scenario, self._engine)

    @property
    def lineups(self) -> list[Jobs]:
        """Jobs of each CCA or line-up, numbered from 0."""
        return [Jobs([lineup], self._runs, self._seed, self._engine) for lineup in self._lineups]

    @property
    def keys(self) -> Keys:
        """Keys of all runs."""
        ranges = (lineup[0].keys.ranges[0] for lineup in self.lineups)
        return Keys(dataclasses.replace(key_range, count=self._runs) for key_range in ranges)


def jobs_for(
    scenario: Scenario,
    ccas: Sequence[str],
    runs: int,
    seed: int,
    engine: Engine,
) -> Jobs:
    """Returns the jobs of a campaign, CCA by CCA; run i has `seed + i`."""
    lineups = []
    for cca in ccas:
        changed = scenario.with_cca(cca)
        engine.require(sorted(set(changed.ccas)), cca)
        lineups.append((cca, changed))
    return Jobs(lineups, runs, seed, engine)


@dataclass(frozen=True)
class Campaign:
    """Runs that make up one set of results."""

    jobs: Jobs
    #: Origin of the results: scenario, engine, seeds.
    origin: dict[str, Any]
    #: Folder of the tables; None keeps them in memory.
    folder: Path | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        ccas: Sequence[str],
        runs: int,
        seed: int,
        engine: Engine,
        folder: Path | None = None,
    ) -> Campaign:
        """Plans `runs` runs of each CCA; run i has `seed + i`."""
        jobs = jobs_for(scenario, ccas, runs, seed, engine)
        origin = origin_of(scenario, ccas, runs, seed, engine)
        return cls(jobs, {**origin, "keys": jobs.keys.to_json()}, folder)
