"""Shards: folders with finished runs; a folder is complete or absent."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from celltcp.campaign.jobs import Job
from celltcp.results import OPTIONAL, TABLES, about_in
from celltcp.results.keys import Keys

#: Index of a shard: the number of each run in its tables, by the key of the job.
_INDEX = "index.json"


class Shards:
    """Folder of shards; each holds all tables of some runs."""

    def __init__(self, folder: Path, finished: Sequence[Path] = ()) -> None:
        """Takes the folder, where it removes what is damaged, and folders with finished results."""
        self._folder = folder
        self._places: dict[str, tuple[Path, int]] = {}
        for results in finished:
            self._add_finished(results)
        self._read: tuple[Path, dict[str, pa.Table]] | None = None
        for shard in sorted(folder.iterdir()):
            try:
                index = json.loads((shard / _INDEX).read_text("utf-8"))
                for name in TABLES:
                    pq.read_metadata(shard / f"{name}.parquet")
            except (pa.ArrowInvalid, OSError, ValueError):
                shutil.rmtree(shard, ignore_errors=True)
            else:
                self._places.update({key: (shard, number) for key, number in index.items()})

    def _add_finished(self, folder: Path) -> None:
        """Adds the runs of finished results, if they are whole."""
        about = about_in(folder)
        if about is None or not _is_whole(folder):
            return
        keys = Keys.told_by(about) or ()
        self._places.update({key: (folder, number) for number, key in enumerate(keys)})

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, job: Job) -> bool:
        return job.key in self._places

    def write(self, jobs: Sequence[Job], tables: Mapping[str, pa.Table]) -> None:
        """Keeps the tables of these jobs: all of them or none."""
        index = {job.key: job.number for job in jobs}
        digest = hashlib.sha256("\n".join(index).encode()).hexdigest()[:16]
        partial = self._folder / f".{digest}-{os.getpid()}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            for name, table in tables.items():
                pq.write_table(table, partial / f"{name}.parquet", compression="zstd")
            (partial / _INDEX).write_text(json.dumps(index), "utf-8")
            shutil.rmtree(self._folder / digest, ignore_errors=True)
            partial.rename(self._folder / digest)
        except OSError:
            # On a full disk, half a shard would only take the room of whole ones.
            shutil.rmtree(partial, ignore_errors=True)
            raise
        self._places.update({job.key: (self._folder / digest, job.number) for job in jobs})

    def rows(self, jobs: Sequence[Job]) -> list[dict[str, pa.Table]]:
        """Returns the tables of these jobs, shard by shard, with the numbers that the jobs have."""
        wanted: dict[Path, dict[int, int]] = {}
        for job in jobs:
            shard, number = self._places[job.key]
            wanted.setdefault(shard, {})[number] = job.number
        return [
            {name: _renumbered(table, numbers) for name, table in self._tables(shard).items()}
            for shard, numbers in wanted.items()
        ]

    def _tables(self, shard: Path) -> dict[str, pa.Table]:
        """Returns the tables of a shard, cached because neighbouring chunks of a campaign share it."""
        if self._read is None or self._read[0] != shard:
            names = [name for name in TABLES if (shard / f"{name}.parquet").is_file()]
            self._read = shard, {name: pq.read_table(shard / f"{name}.parquet") for name in names}
        return self._read[1]


def _is_whole(folder: Path) -> bool:
    """Returns whether a folder has all necessary tables, undamaged."""
    try:
        for name in TABLES:
            if name not in OPTIONAL or (folder / f"{name}.parquet").is_file():
                pq.read_metadata(folder / f"{name}.parquet")
    except (pa.ArrowInvalid, OSError):
        return False
    return True


def _renumbered(table: pa.Table, numbers: Mapping[int, int]) -> pa.Table:
    """Returns the rows of these runs under new numbers."""
    lookup = np.full(max(numbers) + 1, -1, np.int64)
    lookup[list(numbers)] = list(numbers.values())
    old = table["run"].to_numpy()
    known = old < len(lookup)
    new = np.where(known, lookup[np.where(known, old, 0)], -1)
    mine = table.filter(pa.array(new >= 0))
    runs = pa.array(new[new >= 0].astype(np.uint32), pa.uint32())
    return mine.set_column(0, mine.schema.field(0), runs)
