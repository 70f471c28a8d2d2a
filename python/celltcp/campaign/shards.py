"""Shards: folders with the tables of finished runs; each is complete or absent."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from celltcp._core import CelltcpError
from celltcp.campaign.jobs import Job
from celltcp.results.checked import read_checked
from celltcp.results.folder import LOG, about_in, prepare_folder
from celltcp.results.keys import Keys
from celltcp.results.manifest import Manifest, manifest_of, read_manifest
from celltcp.results.merged_tables import merged, renumbered
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

#: Kind of the index of a shard.
_KIND = "shard"

#: Field of the index with the number of each run in the tables, by the key of its job.
_RUNS = "runs"


def shards_in(folder: str | Path, finished: Sequence[Path] = ()) -> Shards:
    """Returns the shards in a folder, which is created, and the runs of finished results."""
    return Shards(working_folder(prepare_folder(folder) / PARTS), finished)


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
        #: Folder and number in its tables of each run, by its key.
        self._locations: dict[str, tuple[Path, int]] = {}
        self._indices: dict[Path, Manifest] = {}
        for results in finished:
            self._add_finished(results)
        #: The shard that was read last, with its tables.
        self._cached: tuple[Path, dict[str, pa.Table]] | None = None
        incomplete = leftovers(folder)
        for leftover in incomplete if repairs else ():
            remove_checked(leftover)
        shards = {path for path in folder.iterdir() if path.is_dir()} - set(incomplete)
        for shard in sorted(shards):
            try:
                index = _intact_index(shard)
            except CelltcpError as error:
                LOG.warning("warning: %s; its runs are done again", error)
                if repairs:
                    remove_checked(shard)
            else:
                self._indices[shard] = index
                runs = index.about[_RUNS].items()
                self._locations.update({key: (shard, number) for key, number in runs})

    def _add_finished(self, folder: Path) -> None:
        """Adds the runs of finished results, if they are complete."""
        try:
            about, manifest = about_in(folder), manifest_of(folder)
        except CelltcpError:
            return
        if about is None or manifest is None or not manifest.is_whole(folder):
            return
        keys = Keys.from_about(about) or ()
        self._indices[folder] = manifest
        self._locations.update({key: (folder, index) for index, key in enumerate(keys)})

    def __len__(self) -> int:
        return len(self._locations)

    def __contains__(self, job: Job) -> bool:
        return job.key in self._locations

    @property
    def keys(self) -> Collection[str]:
        """Keys of all runs in shards and finished results."""
        return self._locations.keys()

    def write(self, jobs: Sequence[Job], tables: Mapping[str, pa.Table]) -> None:
        """Writes the tables of these jobs as a shard, atomically."""
        runs = {job.key: job.number for job in jobs}
        shard = self._folder / checked_name(hashlib.sha256("\n".join(runs).encode()).hexdigest()[:16])
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
        self._locations.update({job.key: (shard, job.number) for job in jobs})

    def joined(
        self, numbers: Mapping[str, int], new_tables: Mapping[str, pa.Table], labels: list[str]
    ) -> dict[str, pa.Table]:
        """Returns the tables of stored runs and of others, in the order of their numbers.

        Args:
            numbers: new numbers of the stored runs, by their keys.
            new_tables: tables of other runs; may be empty.
            labels: CCAs and line-ups of all of these runs, in their order.
        """
        numbers_by_shard: dict[Path, dict[int, int]] = {}
        for key, new_number in numbers.items():
            shard, number = self._locations[key]
            numbers_by_shard.setdefault(shard, {})[number] = new_number
        stored = [
            {name: renumbered(table, new_numbers) for name, table in self._tables(shard).items()}
            for shard, new_numbers in numbers_by_shard.items()
        ]
        return merged([new_tables, *stored], labels)

    def _tables(self, shard: Path) -> dict[str, pa.Table]:
        """Returns the tables of a shard, cached because neighbouring chunks of a campaign share it."""
        if self._cached is None or self._cached[0] != shard:
            index = self._indices[shard]
            names = [name for name in TABLES if f"{name}.parquet" in index.files]
            tables = {name: read_checked(shard / f"{name}.parquet", index) for name in names}
            self._cached = shard, tables
        return self._cached[1]


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
