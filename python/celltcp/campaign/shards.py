"""Shards: folders with finished runs; a folder is complete or absent."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celltcp._core import CelltcpError
from celltcp.campaign.jobs import Job
from celltcp.results.checked import read_checked
from celltcp.results.columns import array_of, numbers, text_array_of
from celltcp.results.folder import LOG, about_in, prepare_folder
from celltcp.results.keys import Keys
from celltcp.results.manifest import Manifest, manifest_of, read_manifest
from celltcp.results.parquet_writer import write_table
from celltcp.results.tables import TABLES
from celltcp.results.working import (
    INDEX,
    PARTS,
    checked_name,
    leftovers,
    remove_checked,
    staging,
    working_folder,
)

#: Kind of the index of a shard. Its `about` has the number of each run in the tables, by the job's key.
_KIND = "shard"

#: Field of the index with these numbers.
_RUNS = "runs"


def shards_in(folder: str | Path, finished: Sequence[Path] = ()) -> Shards:
    """Returns the shards of unfinished results in a folder, which is made unless it exists.

    Args:
        folder: folder of the results.
        finished: folders with results, whose runs count as those of shards.
    """
    return Shards(working_folder(prepare_folder(folder) / PARTS), finished)


class NumberedRun(Protocol):
    """Run with its key, and its number in the tables."""

    @property
    def key(self) -> str:
        """Key that only identical runs share."""

    @property
    def number(self) -> int:
        """Number in the tables."""


class Shards:
    """Folder of shards; each holds all tables of some runs."""

    def __init__(self, folder: Path, finished: Sequence[Path] = (), *, repairs: bool = True) -> None:
        """Reads the indices of all shards.

        Args:
            folder: working folder.
            finished: folders of results.
            repairs: whether damaged shards are removed from the working folder.
        """
        self._folder = folder
        self._places: dict[str, tuple[Path, int]] = {}
        self._indices: dict[Path, Manifest] = {}
        for results in finished:
            self._add_finished(results)
        self._read: tuple[Path, dict[str, pa.Table]] | None = None
        incomplete = leftovers(folder)
        for each in incomplete if repairs else ():
            remove_checked(each)
        shards = {path for path in folder.iterdir() if path.is_dir()} - set(incomplete)
        for shard in sorted(shards):
            try:
                index = _intact_index(shard)
            except CelltcpError as damage:
                LOG.warning("warning: %s; its runs are done again", damage)
                if repairs:
                    remove_checked(shard)
            else:
                self._indices[shard] = index
                runs = index.about[_RUNS].items()
                self._places.update({key: (shard, number) for key, number in runs})

    def _add_finished(self, folder: Path) -> None:
        """Adds the runs of finished results, if they are complete."""
        try:
            about, manifest = about_in(folder), manifest_of(folder)
        except CelltcpError:
            return
        if about is None or manifest is None or not manifest.is_whole(folder):
            return
        keys = Keys.from_meta(about) or ()
        self._indices[folder] = manifest
        self._places.update({key: (folder, index) for index, key in enumerate(keys)})

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, job: Job) -> bool:
        return job.key in self._places

    @property
    def keys(self) -> Collection[str]:
        """Keys of all runs in shards and finished results."""
        return self._places.keys()

    def write(self, jobs: Sequence[Job], tables: Mapping[str, pa.Table]) -> None:
        """Writes the tables of these jobs as a shard, atomically."""
        runs = {job.key: job.number for job in jobs}
        shard = self._folder / checked_name(hashlib.sha256("\n".join(runs).encode()).hexdigest()[:16])
        # A shard that a full disk leaves incomplete is removed.
        with staging(self._folder) as staged:
            for name, table in tables.items():
                write_table(table, staged / f"{name}.parquet")
            names = [f"{name}.parquet" for name in tables]
            index = Manifest.of_files(_KIND, staged, names, {_RUNS: runs})
            (staged / INDEX).write_bytes(index.to_bytes())
            if shard.exists():
                remove_checked(shard)
            staged.rename(shard)
        self._indices[shard] = index
        self._places.update({job.key: (shard, job.number) for job in jobs})

    def joined(
        self, jobs: Sequence[NumberedRun], fresh: Mapping[str, pa.Table], labels: list[str]
    ) -> dict[str, pa.Table]:
        """Returns the tables of these jobs and of others, in the order of the numbers of the jobs.

        Args:
            jobs: jobs whose tables are in shards.
            fresh: tables of other jobs; may be empty.
            labels: of all of these jobs, in their order.
        """
        parts = [fresh] if fresh else []
        return _merged([*parts, *self._rows(jobs)], labels)

    def _rows(self, jobs: Sequence[NumberedRun]) -> list[dict[str, pa.Table]]:
        """Returns the tables of these jobs, shard by shard, with the numbers that the jobs have."""
        folders: dict[Path, dict[int, int]] = {}
        for job in jobs:
            shard, number = self._places[job.key]
            folders.setdefault(shard, {})[number] = job.number
        return [
            {name: _renumbered(table, changed) for name, table in self._tables(shard).items()}
            for shard, changed in folders.items()
        ]

    def _tables(self, shard: Path) -> dict[str, pa.Table]:
        """Returns the tables of a shard, cached because neighbouring chunks of a campaign share it."""
        if self._read is None or self._read[0] != shard:
            index = self._indices[shard]
            names = [name for name in TABLES if f"{name}.parquet" in index.files]
            read = {name: read_checked(shard / f"{name}.parquet", index) for name in names}
            self._read = shard, read
        return self._read[1]


def _intact_index(shard: Path) -> Manifest:
    """Returns the index of a shard whose files are all unchanged.

    Raises:
        CelltcpError: names the file that is damaged or missing.
    """
    index = read_manifest(shard / INDEX)
    if index is None:
        raise CelltcpError(f"{shard / INDEX}: missing")
    for name in index.files:
        if not index.has(shard / name):
            raise CelltcpError(f"{shard / name}: damaged: its digest is another one")
    return index


def _renumbered(table: pa.Table, changed: Mapping[int, int]) -> pa.Table:
    """Returns the rows of these runs with their new numbers."""
    lookup = np.full(max(changed) + 1, -1, np.int64)
    lookup[list(changed)] = list(changed.values())
    old = numbers(table["run"])
    known = old < len(lookup)
    new = np.where(known, lookup[np.where(known, old, 0)], -1)
    selected = table.take(array_of(np.flatnonzero(new >= 0)))
    runs = array_of(new[new >= 0].astype(np.uint32))
    return selected.set_column(0, selected.schema.field(0), runs)


def _merged(parts: Sequence[Mapping[str, pa.Table]], labels: list[str]) -> dict[str, pa.Table]:
    """Joins tables of different runs into one batch, in the order of the runs' numbers.

    Args:
        parts: tables of some runs.
        labels: of all runs in their order.
    """
    known = text_array_of(labels)
    joined = {}
    for name in TABLES:
        # Optional tables without rows are not among finished results.
        selected = [part[name] for part in parts if name in part]
        if not selected:
            continue
        first = selected[0]
        table = pa.concat_tables([_without_dictionaries(each) for each in selected])
        table = table.take(pc.sort_indices(table["run"]))
        for index in _label_columns(first):
            texts = table.column(index).combine_chunks()
            encoded = pa.DictionaryArray.from_arrays(pc.index_in(texts, value_set=known), known)
            table = table.set_column(index, first.schema.field(index), encoded)
        joined[name] = table
    return joined


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """Returns the table with labels as texts."""
    for index in _label_columns(table):
        name = table.schema.field(index).name
        table = table.set_column(index, name, table.column(index).cast(pa.string()))
    return table


def _label_columns(table: pa.Table) -> list[int]:
    """Returns the indices of columns whose values are labels of runs."""
    return [index for index, each in enumerate(table.schema) if pa.types.is_dictionary(each.type)]
