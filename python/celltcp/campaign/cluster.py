"""Cluster: Dask workers that run the tasks of campaigns, on other machines or on this one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from celltcp.campaign.cluster_session import Session, connected
from celltcp.campaign.run import Chunk, RunState
from celltcp.campaign.worker import Task, WorkerRequirement, chunks_task, unpacked

#: Maximum of chunks of a task, and minimum of tasks of a thread unless each has a single chunk.
MAX_CHUNKS_PER_TASK = 8
_TASKS_PER_THREAD = 4


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster by the address of its scheduler."""

    address: str

    def results(
        self, tasks: Iterable[Task], needed: Sequence[WorkerRequirement]
    ) -> Iterator[tuple[int, Any]]:
        """Yields the number and the result of each task, as they come.

        Few tasks are submitted at a time, and none far ahead of the first unfinished
        one, so that scheduler and client hold few of however many. What a lost worker had is done again
        by others.

        Raises:
            CelltcpError: if there is no such cluster, all its workers have another build, or a task
                failed.
            ClusterLostError: if the scheduler is lost.
        """
        with connected(self.address) as client:
            session = Session(client, self.address, tuple(needed))
            try:
                yield from session.results(enumerate(tasks))
            finally:
                session.leave()

    def threads(self) -> int:
        """Returns the number of threads of all workers."""
        with connected(self.address) as client:
            state = client.scheduler_info(n_workers=-1)["workers"]
            return sum(int(worker["nthreads"]) for worker in state.values())

    def cpu_s(self) -> float:
        """Returns the CPU time of scheduler and workers, s."""
        with connected(self.address) as client:
            workers = client.run(time.process_time).values()
            return float(sum(workers) + client.run_on_scheduler(time.process_time))

    def run(self, going: RunState) -> None:
        """Runs the missing jobs of a campaign, one or some chunks per task."""
        sent: dict[int, list[Chunk]] = {}
        together = _chunks_per_task(going.chunks, self.threads())

        def tasks() -> Iterator[Task]:
            chunks = going.waiting()
            for number in itertools.count():
                some = list(itertools.islice(chunks, together))
                if not some:
                    return
                sent[number] = some
                yield chunks_task([chunk.missing for chunk in some])

        engines = {job.engine for jobs, _ in going.groups for job in jobs[:1]}
        for number, done in self.results(tasks(), [WorkerRequirement.of(engine) for engine in engines]):
            for chunk, packed in zip(sent.pop(number), done, strict=True):
                tables = unpacked(packed)
                going.save(chunk.missing, tables)
                going.finished += len(chunk.missing)
                going.done(chunk, tables)
            going.report_progress(0.0, 0)


def _chunks_per_task(chunks: float, threads: int) -> int:
    """Returns the chunks of a task: many make it cheap, and each thread is to get some tasks."""
    return min(max(int(chunks / (_TASKS_PER_THREAD * max(threads, 1))), 1), MAX_CHUNKS_PER_TASK)
