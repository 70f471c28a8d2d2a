"""Campaigns in folders: unfinished campaigns are resumed, and other results are not replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from celltcp._core import CelltcpError
from celltcp.campaign.jobs import Campaign
from celltcp.campaign.planned import write_plan
from celltcp.campaign.run import Progress, Workers, run_groups
from celltcp.results.folder import META, RUNS, about_in, check_no_link, prepare_folder
from celltcp.results.folder_lock import (
    check_pictures,
    check_replaceable,
    check_runs,
    keys_of_parts,
    locked_folder,
)
from celltcp.results.keys import Keys
from celltcp.results.layout import Layout
from celltcp.results.parquet_writer import GrowingTable
from celltcp.results.publishing import finish_interrupted, list_files, publish, remove_pictures
from celltcp.results.stored_tables import DISPENSABLE_FILES, StoredTables
from celltcp.results.tables import OPTIONAL, TABLES, Results, read_results
from celltcp.results.working import PARTS, check_folder, remove_working, staging

#: Files of the results of a campaign.
_FILES = tuple(f"{name}.parquet" for name in TABLES)


def run_in_folder(
    campaigns: Sequence[Campaign],
    folder: Path,
    *,
    workers: Workers = None,
    overwrite: bool = False,
    layout: Layout | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs campaigns whose folders lack their results, and returns the results of all.

    `folder` is the parent of the campaigns' folders, which `layout` describes. It stores finished runs
    until all have run.

    Raises:
        CelltcpError: if a folder holds other results, or another command writes to it.
    """
    _check_campaign_folders(campaigns, folder)
    with locked_folder(folder):
        check_folders(campaigns, folder, overwrite=overwrite)
        if folder not in [campaign.folder for campaign in campaigns]:
            check_pictures(folder, overwrite=overwrite)
            list_files(folder, layout)
        if overwrite and not any(_continues(campaign) for campaign in campaigns):
            remove_working(folder / PARTS)
        return _run(campaigns, workers, folder, progress)


def check_folders(campaigns: Sequence[Campaign], root: Path, *, overwrite: bool = False) -> None:
    """Checks that no other results in the folders of campaigns would be lost.

    Writes that killed commands began there are completed or undone first.

    Raises:
        CelltcpError: if a folder is a link, or holds other results that may not be replaced.
    """
    _check_campaign_folders(campaigns, root)
    for campaign in campaigns:
        if campaign.folder is not None:
            finish_interrupted(campaign.folder)
            check_replaceable(campaign.folder, campaign.origin, _FILES, overwrite=overwrite)


def _check_campaign_folders(campaigns: Sequence[Campaign], root: Path) -> None:
    """Checks that no campaign's folder is a link or contains a foreign working folder."""
    for campaign in campaigns:
        if campaign.folder is not None:
            check_no_link(root, campaign.folder)
            check_folder(campaign.folder)


def _are_all_in(campaigns: Sequence[Campaign], keys: set[str]) -> bool:
    """Returns whether all runs with these keys belong to the campaigns."""
    planned = [Keys.from_about(campaign.origin) or Keys(()) for campaign in campaigns]
    return all(any(key in campaign_keys for campaign_keys in planned) for key in keys)


def _continues(campaign: Campaign) -> bool:
    """Returns whether the runs in the campaign's folder belong to the campaign."""
    folder = campaign.folder
    if folder is None:
        return False
    try:
        check_runs(folder, campaign.origin)
    except CelltcpError:
        return False
    return True


def _finished(campaign: Campaign) -> Results | None:
    """Returns the results of a campaign if its folder has all of them, otherwise None."""
    folder = campaign.folder
    if folder is None:
        return None
    try:
        if about_in(folder) != campaign.origin:
            return None
        stored = read_results(folder)
    except CelltcpError:
        return None
    return Results(StoredTables(folder, list(stored.tables)), campaign.origin, is_repeat=True)


def _run(
    campaigns: Sequence[Campaign], workers: Workers, folder: Path, progress: Progress | None
) -> list[Results]:
    """Runs the missing jobs, and returns the results of all campaigns."""
    finished = [_finished(campaign) for campaign in campaigns]
    missing = [
        (campaign, campaign.folder)
        for campaign, results in zip(campaigns, finished, strict=True)
        if results is None and campaign.folder is not None
    ]
    if not missing:
        if _are_all_in(campaigns, keys_of_parts(folder)):
            # A command was killed after its last run, before it removed them.
            remove_working(folder / PARTS)
        return [results for results in finished if results is not None]
    folder_paths = [folder_path for _, folder_path in missing]
    for folder_path in (folder, *folder_paths):
        remove_pictures(folder_path)
    write_plan(folder, {folder_path: campaign.origin for campaign, folder_path in missing})
    collectors = [FolderCollector(folder_path, campaign.origin) for campaign, folder_path in missing]
    pairs = [
        (campaign, collector) for (campaign, _), collector in zip(missing, collectors, strict=True)
    ]
    groups = [(campaign.jobs, collector) for campaign, collector in pairs]
    try:
        run_groups(groups, workers=workers, folder=folder, finished=folder_paths, progress=progress)
        new_results = [Results(collector.finish(), campaign.origin) for campaign, collector in pairs]
    except BaseException:
        for collector in collectors:
            collector.abandon()
        raise
    remove_working(folder / PARTS)
    remaining = iter(new_results)
    return [results if results is not None else next(remaining) for results in finished]


class FolderCollector:
    """Tables written to Parquet files as rows arrive; the files appear once all are complete."""

    def __init__(self, folder: Path, origin: Mapping[str, Any]) -> None:
        """Opens a staging folder for results with this origin."""
        self._folder = prepare_folder(folder)
        self._origin = origin
        self._meta = {META: json.dumps(origin, sort_keys=True).encode()}
        self._tables: dict[str, GrowingTable] = {}
        self._held = ExitStack()
        self._staged = self._held.enter_context(staging(self._folder))

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Appends the rows of some runs."""
        for name in TABLES:
            if name not in tables or (name in OPTIONAL and not len(tables[name])):
                continue
            table = tables[name]
            metadata = table.schema.metadata or {}
            table = table.replace_schema_metadata({**metadata, **self._meta})
            if name not in self._tables:
                self._tables[name] = GrowingTable(self._staged / f"{name}.parquet", table.schema)
            self._tables[name].write(table)

    def finish(self) -> StoredTables:
        """Replaces the files of earlier results by the new ones."""
        for table in self._tables.values():
            table.close()
        publish(self._staged, self._folder, RUNS, self._origin, DISPENSABLE_FILES)
        self._held.close()
        return StoredTables(self._folder, [name for name in TABLES if name in self._tables])

    def abandon(self) -> None:
        """Removes unfinished files."""
        for table in self._tables.values():
            table.abandon()
        self._held.close()
