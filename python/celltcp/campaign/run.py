"""Runner of jobs: on several threads, resumable, with the tables in the order of the jobs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from celltcp._core import CelltcpError, run_batch
from celltcp.campaign.collectors import Collector, InMemory
from celltcp.campaign.jobs import Job
from celltcp.campaign.shards import Shards
from celltcp.results import PARTS, TABLES, prepare_folder

#: Called with the share of the campaign that is done, from 0 to 1; a `RunsDone` where runs are counted.
Progress = Callable[[float], None]

#: Most runs and most simulated seconds of a chunk, whose tables are in memory at a time.
_CHUNK_RUNS = 256
_CHUNK_S = 300.0


class RunsDone(float):
    """Share of a campaign that is done, from 0 to 1, with the numbers of finished runs and of all."""

    finished: int
    total: int

    def __new__(cls, share: float, finished: int, total: int) -> Self:
        """Takes the share, which counts the begun parts of runs, too, and the numbers of runs."""
        made = super().__new__(cls, share)
        made.finished = finished
        made.total = total
        return made


def part_of(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Returns what to call with the share of one of several equally long parts that is done."""
    if progress is None:
        return None
    return lambda share: progress((number + share) / parts)


class Interrupted(KeyboardInterrupt):
    """Interrupt of a campaign, with the number of runs that are kept."""

    def __init__(self, kept: int, total: int, folder: str | Path | None) -> None:
        """Takes the numbers of runs that are kept and of all runs, and where they are kept."""
        super().__init__()
        self.kept = kept
        self.total = total
        self.folder = folder


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    tables: Sequence[str] = TABLES,
) -> dict[str, pa.Table]:
    """Runs all jobs in parallel and returns their tables, joined in the order of the jobs.

    Args:
        jobs: what to run, numbered in their order.
        workers: runs at a time; all cores unless given.
        folder: where finished runs are kept until all are done, so that an interrupted campaign goes on
            where it stopped.
        progress: called with the share that is done.
        tables: names of those that are returned.
    """
    collected = InMemory(tables)
    run_groups([(jobs, collected)], workers=workers, folder=folder, progress=progress)
    if folder is not None:
        shutil.rmtree(Path(folder) / PARTS, ignore_errors=True)
    return collected.finish()


def run_groups(
    groups: Sequence[tuple[Sequence[Job], Collector]],
    *,
    workers: int | None = None,
    folder: str | Path | None = None,
    finished: Sequence[Path] = (),
    progress: Progress | None = None,
) -> None:
    """Runs groups of jobs together, as `run_jobs` does; the tables of a group go to its collector.

    Args:
        groups: jobs, and what takes their tables.
        workers: runs at a time; all cores unless given.
        folder: where finished runs are kept; they stay there until the caller removes them.
        finished: folders with results, whose runs are not run again.
        progress: called with the share that is done.
    """
    workers = workers or os.cpu_count() or 1
    if workers < 1:
        raise CelltcpError(f"jobs: {workers} is not a number from 1 on")
    shards = Shards(prepare_folder(Path(folder) / PARTS), finished) if folder else None
    chunks = [
        _Chunk(chunk, [job for job in chunk if shards is None or job not in shards], collector)
        for jobs, collector in groups
        for chunk in _chunks(jobs)
    ]
    waiting = [chunk for chunk in chunks if chunk.missing]
    missing = [job for chunk in waiting for job in chunk.missing]
    total = sum(len(chunk.jobs) for chunk in chunks)
    # Chunks are collected in their order: those without a missing run as soon as it is their turn.
    turns = iter(chunks)

    def deliver(places: list[int], batches: Mapping[str, Any], complete: bool) -> None:
        tables = {name: pa.Table.from_batches([pa.record_batch(b)]) for name, b in batches.items()}
        if shards is not None:
            shards.write([missing[place] for place in places], tables)
        if complete:
            for chunk in turns:
                chunk.collect(shards, tables if chunk.missing else None)
                if chunk.missing:
                    break

    def told(share: float, finished: int) -> None:
        if progress:
            kept = total - len(missing)
            progress(RunsDone(1.0 - (1.0 - share) * len(missing) / total, kept + finished, total))

    described = [[job.described for job in chunk.missing] for chunk in waiting]
    try:
        run_batch(described, workers, deliver, told if progress else None)
    except KeyboardInterrupt:
        kept = 0 if shards is None else sum(job in shards for jobs, _ in groups for job in jobs)
        raise Interrupted(kept, sum(len(jobs) for jobs, _ in groups), folder) from None
    for chunk in turns:
        chunk.collect(shards, None)


@dataclass(frozen=True)
class _Chunk:
    """Consecutive jobs of a group, whose tables are collected together."""

    jobs: Sequence[Job]
    #: Those that are not among the shards.
    missing: Sequence[Job]
    collector: Collector

    def collect(self, shards: Shards | None, fresh: dict[str, pa.Table] | None) -> None:
        """Hands over the tables that were just made, and those of finished runs from the shards."""
        fresh_numbers = {job.number for job in self.missing}
        kept = [job for job in self.jobs if job.number not in fresh_numbers]
        parts = [fresh] if fresh else []
        if shards is not None and kept:
            parts += shards.rows(kept)
        # Tables without rows have lost their labels in a shard.
        labels = list(dict.fromkeys(job.cca for job in self.jobs))
        self.collector.add(_merged(parts, labels) if kept else parts[0])


def _chunks(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Cuts jobs into chunks, in the same way each time."""
    chunk: list[Job] = []
    seconds = 0.0
    for job in jobs:
        length = job.scenario.duration_s
        if chunk and (len(chunk) == _CHUNK_RUNS or seconds + length > _CHUNK_S):
            yield chunk
            chunk, seconds = [], 0.0
        chunk.append(job)
        seconds += length
    if chunk:
        yield chunk


def _merged(parts: Sequence[Mapping[str, pa.Table]], labels: list[str]) -> dict[str, pa.Table]:
    """Joins tables of different runs into one batch, in the order of the runs' numbers.

    Args:
        parts: tables of some runs.
        labels: of all runs in their order.
    """
    known = pa.array(labels, pa.string())
    joined = {}
    for name in TABLES:
        # Optional tables without rows are not among finished results.
        mine = [part[name] for part in parts if name in part]
        if not mine:
            continue
        first = mine[0]
        table = pa.concat_tables([_plain(each) for each in mine])
        table = table.take(pc.sort_indices(table["run"]))
        for place in _labelled(first):
            texts = table.column(place).combine_chunks()
            coded = pa.DictionaryArray.from_arrays(pc.index_in(texts, value_set=known), known)
            table = table.set_column(place, first.schema.field(place), coded)
        joined[name] = table
    return joined


def _plain(table: pa.Table) -> pa.Table:
    """Returns the table with labels as texts."""
    for place in _labelled(table):
        name = table.schema.field(place).name
        table = table.set_column(place, name, table.column(place).cast(pa.string()))
    return table


def _labelled(table: pa.Table) -> list[int]:
    """Returns the indices of columns whose values are labels of runs."""
    return [place for place, each in enumerate(table.schema) if pa.types.is_dictionary(each.type)]
