"""Runner of jobs: on threads or a cluster, resumable, with tables in the order of the jobs."""

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

#: Maximum of runs and of simulated seconds of a chunk, whose tables are in memory at a time.
_CHUNK_RUNS = 256
_CHUNK_S = 300.0

#: Minimum of runs passed to the engine at a time: few enough for memory, many enough for few pauses.
_BATCH_RUNS = 8192


class RunsDone(float):
    """Finished share of a campaign, from 0 to 1, with the numbers of finished runs and of all."""

    finished: int
    total: int

    def __new__(cls, share: float, finished: int, total: int) -> Self:
        """Sets the share, which includes parts of running runs, and the numbers of runs."""
        made = super().__new__(cls, share)
        made.finished = finished
        made.total = total
        return made


def sub_progress(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Returns the callback for the progress of one of several equally long parts."""
    if progress is None:
        return None
    return lambda share: progress((number + share) / parts)


class Interrupted(KeyboardInterrupt):
    """Interrupt of a campaign, with the number of stored runs."""

    def __init__(self, stored_runs: int, total: int, folder: str | Path | None) -> None:
        """Describes the stored runs, all runs, and the folder of the stored ones."""
        super().__init__()
        self.stored_runs = stored_runs
        self.total = total
        self.folder = folder


class Collector(Protocol):
    """Receiver of the tables of a campaign, for several runs at a time, in the order of the runs."""

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Appends the rows of some runs."""


class InMemory:
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

    #: Exit code of the command: the same one may succeed later.
    exit_code = os.EX_TEMPFAIL


class RemoteWorkers(Protocol):
    """Workers other than threads of this process, such as those of a cluster."""

    def run(self, going: RunState) -> None:
        """Runs the missing jobs."""


#: Runs at a time on this machine (on all cores that the process may use if None), or other workers.
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
        jobs: what to run, numbered in their order.
        workers: runs at a time, by default one for each core that the process may use; or a cluster.
        folder: where finished runs are kept until all are done, so that an interrupted campaign goes on
            where it stopped.
        progress: called with the share that is done.
        tables: names of those that are returned.
    """
    collected = InMemory(tables)
    run_groups([(jobs, collected)], workers=workers, folder=folder, progress=progress)
    if folder is not None:
        from celltcp.results.working import PARTS, remove_working

        remove_working(Path(folder) / PARTS)
    return collected.finish()


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
        groups: jobs, and what takes their tables.
        workers: runs at a time, by default one for each core that the process may use; or a cluster.
        folder: where finished runs are kept; they stay there until the caller removes them.
        finished: folders with results, whose runs are not run again.
        progress: called with the share that is done.
    """
    if isinstance(workers, int) and workers < 1:
        raise CelltcpError(f"jobs: {workers} is not a number from 1 on")
    shards = None
    if folder:
        from celltcp.campaign.shards import shards_in

        shards = shards_in(folder, finished)
    going = RunState(groups, shards, progress)
    try:
        if workers is None or isinstance(workers, int):
            _run_local(going, workers or available_threads())
        else:
            workers.run(going)
    except KeyboardInterrupt:
        raise Interrupted(going.stored_runs, going.total, folder) from None
    except (ClusterLostError, InternalError, KernelEngineError) as error:
        if not going.stored_runs:
            raise
        stored = f"{going.stored_runs} of {going.total} runs are kept in {folder}"
        raise type(error)(f"{error}; {stored}, and the same command goes on with the others") from None
    going.finish()


def _run_local(going: RunState, threads: int) -> None:
    """Runs the missing jobs on threads of this process, some chunks at a time."""
    chunks = going.waiting()
    while some := _next_chunks(chunks):
        missing = [job for chunk in some for job in chunk.missing]
        turns = iter(some)

        def deliver(
            places: list[int],
            batches: Mapping[str, pa.RecordBatch],
            complete: bool,
            missing: list[Job] = missing,
            turns: Iterator[Chunk] = turns,
        ) -> None:
            tables = {name: pa.Table.from_batches([batch]) for name, batch in batches.items()}
            going.save([missing[place] for place in places], tables)
            if complete:
                going.done(next(turns), tables)

        def report(share: float, finished: int, runs: int = len(missing)) -> None:
            going.report_progress(share * runs, finished)

        described = [[job.as_tuple for job in chunk.missing] for chunk in some]
        run_batch(described, threads, deliver, report if going.is_watched else None)
        going.finished += len(missing)


def _next_chunks(chunks: Iterator[Chunk]) -> list[Chunk]:
    """Returns the next chunks, which the engine runs together."""
    taken: list[Chunk] = []
    runs = 0
    for chunk in chunks:
        taken.append(chunk)
        runs += len(chunk.missing)
        if runs >= _BATCH_RUNS:
            break
    return taken


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
        self._begun_with = self.stored_runs
        self._shards = shards
        self._progress = progress
        #: Chunks that are not collected yet, in their order.
        self._turns: deque[Chunk] = deque()

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
            count += max(len(jobs) / _CHUNK_RUNS, len(jobs) * length_s / _CHUNK_S)
        return count

    def waiting(self) -> Iterator[Chunk]:
        """Yields the chunks with missing runs, and queues all chunks for collection."""
        for jobs, collector in self.groups:
            for chunk in chunks_of(jobs):
                has = self._shards
                missing = [job for job in chunk if job not in has] if has else chunk
                made = Chunk(chunk, missing, collector)
                self._turns.append(made)
                if missing:
                    yield made
                else:
                    self._collect()

    def save(self, jobs: Sequence[Job], tables: Mapping[str, pa.Table]) -> None:
        """Writes finished runs to the folder, if there is one."""
        if self._shards is not None:
            self._shards.write(jobs, tables)
            self.stored_runs += len(jobs)

    def done(self, chunk: Chunk, tables: dict[str, pa.Table]) -> None:
        """Accepts the tables of the missing runs of a chunk."""
        chunk.fresh = tables
        self._collect()

    def report_progress(self, runs: float, finished: int) -> None:
        """Calls for progress.

        Args:
            runs: of those that are going on, the number that is done, which counts begun parts.
            finished: those of them that are finished.
        """
        if self._progress:
            done = self._begun_with + self.finished
            share = (done + runs) / self.total
            self._progress(RunsDone(share, done + finished, self.total))

    def finish(self) -> None:
        """Collects all remaining chunks."""
        self._collect()

    def _collect(self) -> None:
        """Collects finished chunks in order, up to the first unfinished one."""
        while self._turns and not (self._turns[0].missing and self._turns[0].fresh is None):
            self._turns.popleft().collect(self._shards)


@dataclass
class Chunk:
    """Consecutive jobs of a group, whose tables are collected together."""

    jobs: Sequence[Job]
    #: Those that are not among the shards.
    missing: Sequence[Job]
    collector: Collector
    #: Tables of these, once they are done.
    fresh: dict[str, pa.Table] | None = None

    def collect(self, shards: Shards | None) -> None:
        """Passes new tables, and those of finished runs from the shards, to the collector."""
        fresh_numbers = {job.number for job in self.missing}
        stored = [job for job in self.jobs if job.number not in fresh_numbers]
        tables = self.fresh or {}
        if shards is not None and stored:
            # Tables without rows have lost their labels in a shard.
            labels = list(dict.fromkeys(job.cca for job in self.jobs))
            tables = shards.joined(stored, tables, labels)
        self.collector.add(tables)


def chunks_of(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Cuts jobs into chunks, the same ones each time."""
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
