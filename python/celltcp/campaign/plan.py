"""Plans: the jobs of a set of results, and the description of its origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError, Scenario
from celltcp.campaign.cluster import Workers
from celltcp.campaign.cost_estimate import DryRunExit, estimate_cost
from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Jobs, jobs_for
from celltcp.campaign.provenance import origin_of
from celltcp.campaign.run import Progress, run_groups
from celltcp.campaign.sinks import InFolder, InMemory
from celltcp.results.folder import about_in, check_no_link
from celltcp.results.folder_lock import (
    check_pictures,
    check_replaceable,
    check_runs,
    keys_of_parts,
    locked_folder,
)
from celltcp.results.keys import Keys
from celltcp.results.publishing import finish_interrupted, list_files, remove_pictures
from celltcp.results.stored_tables import StoredTables
from celltcp.results.tables import TABLES, Results, read_results
from celltcp.results.working import PARTS, check_folder, remove_working

#: Files that the results of a campaign consist of.
_FILES = tuple(f"{name}.parquet" for name in TABLES)


@dataclass(frozen=True)
class Campaign:
    """Runs that make up one set of results."""

    jobs: Jobs
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
        origin = origin_of(scenario, ccas, runs, seed, engine)
        return cls(jobs, {**origin, "keys": jobs.keys.to_json()}, folder)

    def finished(self) -> Results | None:
        """Returns the very results that the folder has already."""
        if self.folder is None:
            return None
        try:
            if about_in(self.folder) != self.origin:
                return None
            result = read_results(self.folder)
        except CelltcpError:
            return None
        return Results(StoredTables(self.folder, list(result.tables)), self.origin, is_repeat=True)


def run_campaigns(
    campaigns: Sequence[Campaign],
    *,
    workers: Workers = None,
    folder: Path | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs the campaigns together and returns the results of each.

    Runs that the folder of a campaign has already are not run again.

    Args:
        campaigns: what to run.
        workers: runs at a time, all cores unless given; or a cluster.
        folder: where finished runs are kept until all are done.
        overwrite: whether other results in the folders may be replaced.
        dry_run: whether to run nothing and raise what it would take.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if a folder holds other results, or another command writes to it.
        OnlyPlanned: if nothing is to run; says what it would take.
    """
    if dry_run:
        raise DryRunExit(estimate_cost(each.jobs for each in campaigns))
    if folder is None:
        return _run(campaigns, workers, None, progress)
    _check_places(campaigns, folder)
    with locked_folder(folder):
        check_folders(campaigns, folder, overwrite=overwrite)
        if folder not in [each.folder for each in campaigns]:
            check_pictures(folder, overwrite=overwrite)
            list_files(folder)
        if overwrite and not any(_continues(each) for each in campaigns):
            remove_working(folder / PARTS)
        return _run(campaigns, workers, folder, progress)


def check_folders(campaigns: Sequence[Campaign], root: Path, *, overwrite: bool = False) -> None:
    """Makes sure that the folders of campaigns hold nothing that would be lost.

    What killed commands have begun to write there is ended first.

    Args:
        campaigns: campaigns with their folders.
        root: folder that these are in.
        overwrite: whether other results may be replaced.

    Raises:
        CelltcpError: if one holds other results, which may not be replaced, or is a link.
    """
    _check_places(campaigns, root)
    for each in campaigns:
        if each.folder is not None:
            finish_interrupted(each.folder)
            check_replaceable(each.folder, each.origin, _FILES, overwrite=overwrite)


def _check_places(campaigns: Sequence[Campaign], root: Path) -> None:
    """Makes sure that no folder of a campaign is a link or holds a working folder of another origin."""
    for each in campaigns:
        if each.folder is not None:
            check_no_link(root, each.folder)
            check_folder(each.folder)


def _are_of(campaigns: Sequence[Campaign], keys: set[str]) -> bool:
    """Returns whether all runs with these keys are of the campaigns."""
    planned = [Keys.from_meta(each.origin) or Keys(()) for each in campaigns]
    return all(any(key in mine for mine in planned) for key in keys)


def _continues(campaign: Campaign) -> bool:
    """Returns whether kept runs belong to the campaign."""
    folder = campaign.folder
    if folder is None:
        return False
    try:
        check_runs(folder, campaign.origin)
    except CelltcpError:
        return False
    return True


def _run(
    campaigns: Sequence[Campaign],
    workers: Workers,
    folder: Path | None,
    progress: Progress | None,
) -> list[Results]:
    """Runs what is missing, and returns the results of all campaigns."""
    result = [each.finished() for each in campaigns]
    missing = [each for each, there in zip(campaigns, result, strict=True) if there is None]
    if not missing:
        if folder is not None and _are_of(campaigns, keys_of_parts(folder)):
            # Left by a command that was killed when all was done.
            remove_working(folder / PARTS)
        return [there for there in result if there is not None]
    if folder is not None:
        remove_pictures(folder)
    for each in missing:
        if each.folder is not None:
            remove_pictures(each.folder)
    collectors = [
        InMemory() if each.folder is None else InFolder(each.folder, each.origin) for each in missing
    ]
    groups = [(each.jobs, collector) for each, collector in zip(missing, collectors, strict=True)]
    places = [each.folder for each in missing if each.folder is not None]
    try:
        run_groups(groups, workers=workers, folder=folder, finished=places, progress=progress)
        fresh = iter(
            [
                Results(collector.finish(), each.origin)
                for each, collector in zip(missing, collectors, strict=True)
            ]
        )
    except BaseException:
        for collector in collectors:
            if isinstance(collector, InFolder):
                collector.abandon()
        raise
    if folder is not None:
        remove_working(folder / PARTS)
    return [there if there is not None else next(fresh) for there in result]
