"""Runner of jobs on threads or a cluster: resumable, with tables in the order of the jobs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

import pyarrow as pa

from celltcp._core import CelltcpError, InternalError, KernelEngineError, available_threads, run_batch
from celltcp.campaign.jobs import Job
from celltcp.results.tables import OPTIONAL, TABLES

if TYPE_CHECKING:
    from celltcp.campaign.shards import Shards

#: Called with the finished share of the campaign, from 0 to 1; a `RunsDone` where runs are counted.
Progress = Callable[[float], None]

#: Maximum number of runs of a chunk, whose tables are in memory at the same time.
_MAX_CHUNK_RUNS = 256
#: Maximum simulated time of a chunk, s.
_MAX_CHUNK_S = 300.0

#: Minimum number of runs passed to the engine at a time; its threads are idle between two batches.
_MIN_BATCH_RUNS = 8192


class RunsDone(float):
    """Finished share of a campaign, from 0 to 1, with the numbers of finished runs and of all."""

    finished: int
    total: int

    def __new__(cls, share: float, finished: int, total: int) -> Self:
        """Sets the share, which includes parts of running runs, and the numbers of runs."""
        instance = super().__new__(cls, share)
        instance.finished = finished
        instance.total = total
        return instance


def sub_progress(progress: Progress | None, index: int, parts: int) -> Progress | None:
    """Returns the callback for the progress of one of several equally long parts."""
    if progress is None:
        return None
    return lambda share: progress((index + share) / parts)


class Interrupted(KeyboardInterrupt):
    """Interrupt of a campaign, with the number of stored runs."""

    def __init__(self, stored_runs: int, total: int, folder: str | Path | None) -> None:
        """Sets the numbers of stored and of all runs, and the folder of the stored ones."""
        super().__init__()
        self.stored_runs = stored_runs
        self.total = total
        self.folder = folder


class Collector(Protocol):
    """Receiver of the tables of a campaign, for several runs at a time, in the order of the runs."""

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Appends the rows of some runs."""


class MemoryCollector:
    """Collector in memory."""

    def __init__(self, tables: Sequence[str] = TABLES) -> None:
        """Sets the names of the collected tables."""
        self._parts: dict[str, list[pa.Table]] = {name: [] for name in tables}

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Appends the rows of some runs."""
        for name, parts in self._parts.items():
            if name in tables:
                parts.append(tables[name])

    def finish(self) -> dict[str, pa.Table]:
        """Returns the joined tables; optional ones without rows are left out."""
        tables = {name: pa.concat_tables(parts) for name, parts in self._parts.items() if parts}
        return {name: table for name, table in tables.items() if name not in OPTIONAL or len(table)}


class ClusterLostError(CelltcpError):
    """Loss of the scheduler; finished runs are stored, and the same command continues."""

    #: Exit code: the same command may succeed later.
    exit_code = os.EX_TEMPFAIL


class RemoteWorkers(Protocol):
    """Workers other than threads of this process, such as those of a cluster."""

    def run(self, state: RunState) -> None:
        """Runs the missing jobs."""


#: Number of runs at a time on this machine, None for one per available core; or other workers.
Workers = int | RemoteWorkers | None


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: Workers = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    tables: Sequence[str] = TABLES,
) -> dict[str, pa.Table]:
    """Runs all jobs in parallel and returns their tables, joined in the order of the jobs.

    Args:
        jobs: jobs, numbered in their order.
        workers: runs at a time, by default one for each core that the process may use; or a cluster.
        folder: folder that stores finished runs until all have run, so that an interrupted campaign
            can be resumed.
        progress: called with the finished share.
        tables: names of the tables to return.
    """
    collector = MemoryCollector(tables)
    run_groups([(jobs, collector)], workers=workers, folder=folder, progress=progress)
    if folder is not None:
        from celltcp.results.working import PARTS, remove_working

        remove_working(Path(folder) / PARTS)
    return collector.finish()


def run_groups(
    groups: Sequence[tuple[Sequence[Job], Collector]],
    *,
    workers: Workers = None,
    folder: str | Path | None = None,
    finished: Sequence[Path] = (),
    progress: Progress | None = None,
) -> None:
    """Runs groups of jobs together, as `run_jobs` does; the tables of a group go to its collector.

    Args:
        groups: jobs, and the collector of their tables.
        workers: runs at a time, by default one for each core that the process may use; or a cluster.
        folder: folder that stores finished runs until the caller removes them.
        finished: folders with results, whose runs are not repeated.
        progress: called with the finished share.
    """
    if isinstance(workers, int) and workers < 1:
        raise CelltcpError(f"jobs: {workers} is not a number from 1 on")
    shards = None
    if folder:
        from celltcp.campaign.shards import shards_in

        shards = shards_in(folder, finished)
    state = RunState(groups, shards, progress)
    try:
        if workers is None or isinstance(workers, int):
            _run_local(state, workers or available_threads())
        else:
            workers.run(state)
    except KeyboardInterrupt:
        raise Interrupted(state.stored_runs, state.total, folder) from None
    except (ClusterLostError, InternalError, KernelEngineError) as error:
        if not state.stored_runs:
            raise
        stored = f"{state.stored_runs} of {state.total} runs are kept in {folder}"
        raise type(error)(f"{error}; {stored}, and the same command goes on with the others") from None
    state.collect_finished()


def _run_local(state: RunState, threads: int) -> None:
    """Runs the missing jobs on threads of this process, some chunks at a time."""
    chunks = state.pending_chunks()
    while batch := _next_batch(chunks):
        missing = [job for chunk in batch for job in chunk.missing]
        unfinished = iter(batch)

        def deliver(
            indices: list[int],
            batches: Mapping[str, pa.RecordBatch],
            is_complete: bool,
            missing: list[Job] = missing,
            unfinished: Iterator[Chunk] = unfinished,
        ) -> None:
            tables = {name: pa.Table.from_batches([batch]) for name, batch in batches.items()}
            state.save([missing[index] for index in indices], tables)
            if is_complete:
                state.add_tables(next(unfinished), tables)

        def report(share: float, finished: int, runs: int = len(missing)) -> None:
            state.report_progress(share * runs, finished)

        arguments = [
            [
                job.engine.run_arguments(job.number, job.cca, job.scenario, job.seed)
                for job in chunk.missing
            ]
            for chunk in batch
        ]
        run_batch(arguments, threads, deliver, report if state.is_watched else None)
        state.finished += len(missing)


def _next_batch(chunks: Iterator[Chunk]) -> list[Chunk]:
    """Returns the next chunks, which the engine runs together."""
    batch: list[Chunk] = []
    runs = 0
    for chunk in chunks:
        batch.append(chunk)
        runs += len(chunk.missing)
        if runs >= _MIN_BATCH_RUNS:
            break
    return batch


class RunState:
    """State of a campaign in progress: its chunks, and its number of finished runs."""

    def __init__(
        self,
        groups: Sequence[tuple[Sequence[Job], Collector]],
        shards: Shards | None,
        progress: Progress | None,
    ) -> None:
        self.groups = groups
        self.total = sum(len(jobs) for jobs, _ in groups)
        #: Number of runs stored in a folder.
        self.stored_runs = 0
        if shards:
            self.stored_runs = sum(job in shards for jobs, _ in groups for job in jobs)
        #: Number of finished runs of earlier batches.
        self.finished = 0
        self._initially_stored = self.stored_runs
        self._shards = shards
        self._progress = progress
        #: Chunks whose tables are not collected yet, in their order.
        self._queue: deque[Chunk] = deque()

    @property
    def is_watched(self) -> bool:
        """Whether there is a progress callback."""
        return self._progress is not None

    @property
    def chunks(self) -> float:
        """Approximate number of chunks."""
        count = 0.0
        for jobs, _ in self.groups:
            length_s = jobs[0].scenario.duration_s if jobs else 0.0
            count += max(len(jobs) / _MAX_CHUNK_RUNS, len(jobs) * length_s / _MAX_CHUNK_S)
        return count

    def pending_chunks(self) -> Iterator[Chunk]:
        """Yields the chunks with missing runs, and queues all chunks for collection."""
        shards = self._shards
        for jobs, collector in self.groups:
            for chunk_jobs in chunks_of(jobs):
                missing = [job for job in chunk_jobs if job not in shards] if shards else chunk_jobs
                chunk = Chunk(chunk_jobs, missing, collector)
                self._queue.append(chunk)
                if missing:
                    yield chunk
                else:
                    self.collect_finished()

    def save(self, jobs: Sequence[Job], tables: Mapping[str, pa.Table]) -> None:
        """Writes finished runs to the folder, if there is one."""
        if self._shards is not None:
            self._shards.write(jobs, tables)
            self.stored_runs += len(jobs)

    def add_tables(self, chunk: Chunk, tables: dict[str, pa.Table]) -> None:
        """Adds the tables of the missing runs of a chunk, and collects finished chunks."""
        chunk.new_tables = tables
        self.collect_finished()

    def report_progress(self, runs: float, finished: int) -> None:
        """Calls the progress callback.

        Args:
            runs: finished runs of the current batch, with the finished parts of running ones.
            finished: number of finished runs of the current batch.
        """
        if self._progress:
            earlier = self._initially_stored + self.finished
            share = (earlier + runs) / self.total
            self._progress(RunsDone(share, earlier + finished, self.total))

    def collect_finished(self) -> None:
        """Collects finished chunks in order, up to the first unfinished one."""
        while self._queue and not (self._queue[0].missing and self._queue[0].new_tables is None):
            self._queue.popleft().collect(self._shards)


@dataclass
class Chunk:
    """Consecutive jobs of a group, whose tables are collected together."""

    jobs: Sequence[Job]
    #: Jobs whose runs are in no shard.
    missing: Sequence[Job]
    collector: Collector
    #: Tables of the missing jobs, once they have run.
    new_tables: dict[str, pa.Table] | None = None

    def collect(self, shards: Shards | None) -> None:
        """Passes the new tables, and those of stored runs in the shards, to the collector."""
        missing_numbers = {job.number for job in self.missing}
        stored = [job for job in self.jobs if job.number not in missing_numbers]
        tables = self.new_tables or {}
        if shards is not None and stored:
            # Tables without rows have no labels in a shard.
            labels = list(dict.fromkeys(job.cca for job in self.jobs))
            tables = shards.joined({job.key: job.number for job in stored}, tables, labels)
        self.collector.add(tables)


def chunks_of(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Cuts jobs into chunks; the same jobs give the same chunks."""
    chunk: list[Job] = []
    chunk_s = 0.0
    for job in jobs:
        duration_s = job.scenario.duration_s
        if chunk and (len(chunk) == _MAX_CHUNK_RUNS or chunk_s + duration_s > _MAX_CHUNK_S):
            yield chunk
            chunk, chunk_s = [], 0.0
        chunk.append(job)
        chunk_s += duration_s
    if chunk:
        yield chunk
