"""Cluster: Dask workers that run the tasks of campaigns, on other machines or on this one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from celltcp.campaign.cluster_session import Session, connect
from celltcp.campaign.run import Chunk, RunState
from celltcp.campaign.worker import Task, WorkerRequirement, chunks_task, unpack

#: Maximum number of chunks of a task.
MAX_CHUNKS_PER_TASK = 8
#: Minimum number of tasks per thread, unless each task has a single chunk.
_MIN_TASKS_PER_THREAD = 4


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster."""

    #: Address of its scheduler.
    address: str

    def results(
        self, tasks: Iterable[Task], needed: Sequence[WorkerRequirement]
    ) -> Iterator[tuple[int, Any]]:
        """Yields the index and the result of each task, as they come.

        Few tasks are submitted at a time, and none far ahead of the first unfinished one, which bounds
        the memory of scheduler and client. Other workers repeat the tasks of a lost worker.

        Raises:
            CelltcpError: if there is no such cluster, all its workers have another build, or a task
                failed.
            ClusterLostError: if the scheduler is lost.
        """
        with connect(self.address) as client:
            session = Session(client, self.address, tuple(needed))
            try:
                yield from session.results(enumerate(tasks))
            finally:
                session.cancel()

    def threads(self) -> int:
        """Returns the number of threads of all workers."""
        with connect(self.address) as client:
            workers = client.scheduler_info(n_workers=-1)["workers"]
            return sum(int(worker["nthreads"]) for worker in workers.values())

    def cpu_s(self) -> float:
        """Returns the CPU time of scheduler and workers, s."""
        with connect(self.address) as client:
            workers = client.run(time.process_time).values()
            return float(sum(workers) + client.run_on_scheduler(time.process_time))

    def run(self, state: RunState) -> None:
        """Runs the missing jobs of a campaign, some chunks per task."""
        submitted: dict[int, list[Chunk]] = {}
        chunks_per_task = _chunks_per_task(state.chunks, self.threads())

        def tasks() -> Iterator[Task]:
            chunks = state.pending_chunks()
            for index in itertools.count():
                task_chunks = list(itertools.islice(chunks, chunks_per_task))
                if not task_chunks:
                    return
                submitted[index] = task_chunks
                yield chunks_task([chunk.missing for chunk in task_chunks])

        engines = {job.engine for jobs, _ in state.groups for job in jobs[:1]}
        needed = [WorkerRequirement.of(engine) for engine in engines]
        for index, packed_chunks in self.results(tasks(), needed):
            for chunk, packed in zip(submitted.pop(index), packed_chunks, strict=True):
                tables = unpack(packed)
                state.save(chunk.missing, tables)
                state.finished += len(chunk.missing)
                state.add_tables(chunk, tables)
            state.report_progress(0.0, 0)


def _chunks_per_task(chunks: float, threads: int) -> int:
    """Returns the number of chunks of a task: as many as leave each thread several tasks."""
    return min(max(int(chunks / (_MIN_TASKS_PER_THREAD * max(threads, 1))), 1), MAX_CHUNKS_PER_TASK)
