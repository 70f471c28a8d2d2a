"""Plans: the jobs of one set of results, and the description of how the results are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp._core import Scenario
from celltcp.campaign.collectors import InFolder, InMemory
from celltcp.campaign.jobs import Job, jobs_for
from celltcp.campaign.run import Progress, run_groups
from celltcp.engines import Engine
from celltcp.results import Results
from celltcp.results.origin import origin_of


@dataclass(frozen=True)
class Campaign:
    """Runs that make up one set of results."""

    jobs: list[Job]
    #: Origin that the results keep: scenario, engine, seeds.
    origin: dict[str, Any]
    #: Folder that the tables are written to while the campaign runs; without one they stay in memory.
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
        """Plans this many runs of each CCA; run i has seed + i."""
        jobs = jobs_for(scenario, ccas, runs, seed, engine)
        return cls(jobs, origin_of(scenario, ccas, runs, seed, engine), folder)


def run_campaigns(
    campaigns: Sequence[Campaign],
    *,
    workers: int | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs the campaigns together and returns the results of each.

    Args:
        campaigns: what to run.
        workers: runs at a time; all cores unless given.
        folder: where finished runs are kept until all are done.
        progress: called with the share that is done.
    """
    collectors = [
        InMemory() if each.folder is None else InFolder(each.folder, each.origin) for each in campaigns
    ]
    groups = [(each.jobs, collector) for each, collector in zip(campaigns, collectors, strict=True)]
    try:
        run_groups(groups, workers=workers, folder=folder, progress=progress)
    except BaseException:
        for collector in collectors:
            if isinstance(collector, InFolder):
                collector.abandon()
        raise
    return [
        Results(collector.finish(), each.origin)
        for each, collector in zip(campaigns, collectors, strict=True)
    ]
