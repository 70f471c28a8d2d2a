"""Cluster worker: checks its build, runs chunks of jobs, packs their tables."""

from __future__ import annotations

import functools
import hashlib
import itertools
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from celltcp._core import CelltcpError, Scenario, run_batch
from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.jobs import Job
from celltcp.scenarios.ccas import source_digests

if TYPE_CHECKING:
    from distributed import Worker

#: Run of a chunk: number, label, index of its scenario among those of the task, seed.
TaskRun = tuple[int, str, int, int]


@dataclass(frozen=True)
class Task:
    """Work for one thread of a worker: a function of a module, with its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    #: Calls (name, function, arguments), each evaluated once on the cluster; their results are further
    #: arguments.
    shared: tuple[tuple[str, Callable[..., Any], tuple[Any, ...]], ...] = ()


class OtherBuildError(CelltcpError):
    """Error about a worker with another build of celltcp or kernel."""

    @property
    def address(self) -> str:
        """Address of the worker."""
        return str(self.args[1])


@dataclass(frozen=True)
class WorkerRequirement:
    """Engine and build that a worker must have, so that its results are those of this machine."""

    name: str
    kernel: str | None
    build: str

    @classmethod
    def of(cls, required: Engine) -> WorkerRequirement:
        """Returns the requirement for workers to have the same engine."""
        return cls(required.name, required.kernel.version if required.kernel else None, required.build)

    def local_engine(self) -> Engine:
        """Returns the engine of this process.

        Raises:
            OtherBuildError: if it is missing, or has another build.
        """
        try:
            local_engine = _native() if self.kernel is None else engine(self.name, self.kernel)
        except CelltcpError as error:
            raise OtherBuildError(str(error), _address()) from None
        if local_engine.build != self.build:
            what = f"{local_engine.key}, build {local_engine.build}"
            raise OtherBuildError(f"has {what}; allowed: build {self.build}", _address())
        return local_engine


@functools.cache
def _native() -> Engine:
    """Returns the native engine with the build that this process has unpickle_scenario."""
    local_engine = engine()
    # Computes and caches the build, because a later installation changes the files.
    assert local_engine.build
    return local_engine


def check_worker(needed: Sequence[WorkerRequirement], dask_worker: Worker | None = None) -> int:
    """Checks that a worker has all engines; returns the number of its threads."""
    for requirement in needed:
        requirement.local_engine()
    return int(dask_worker.state.nthreads) if dask_worker else 1


def chunks_task(chunks: Sequence[Sequence[Job]]) -> Task:
    """Returns the task that runs these chunks of one engine; each scenario is sent to the cluster once.

    Raises:
        CelltcpError: if a congestion control is registered in this process only.
    """
    indices: dict[Scenario, int] = {}
    for job in itertools.chain(*chunks):
        if source_digests(job.scenario.ccas):
            raise CelltcpError(
                f"cca: {job.cca!r} is defined in this process only; "
                "allowed with --cluster: built-in CCAs"
            )
        indices.setdefault(job.scenario, len(indices))
    needed = WorkerRequirement.of(chunks[0][0].engine)
    runs = [[(job.number, job.cca, indices[job.scenario], job.seed) for job in jobs] for jobs in chunks]
    shared = []
    for scenario in indices:
        pickled = _pickled(scenario)
        digest = hashlib.sha256(pickled).hexdigest()[:32]
        shared.append((f"{digest}-{needed.build}", unpickle_scenario, (pickled, needed)))
    return Task(run_chunks, (runs, needed), tuple(shared))


@functools.lru_cache(maxsize=64)
def _pickled(scenario: Scenario) -> bytes:
    return pickle.dumps(scenario)


def unpickle_scenario(pickled: bytes, needed: WorkerRequirement) -> Scenario:
    """Returns a pickled scenario, on a worker that has the engine."""
    needed.local_engine()
    scenario: Scenario = pickle.loads(pickled)
    return scenario


def run_chunks(
    chunks: Sequence[Sequence[TaskRun]], needed: WorkerRequirement, *scenarios: Scenario
) -> list[dict[str, bytes]]:
    """Runs some chunks one after the other, and returns the packed tables of each."""
    local_engine = needed.local_engine()
    packed: list[dict[str, bytes]] = []

    def deliver(_: list[int], batches: Mapping[str, pa.RecordBatch], is_complete: bool) -> None:
        if is_complete:
            packed.append({name: pack(batch) for name, batch in batches.items()})

    arguments = [
        [
            local_engine.run_arguments(number, label, scenarios[index], seed)
            for number, label, index, seed in runs
        ]
        for runs in chunks
    ]
    run_batch(arguments, 1, deliver)
    return packed


def pack(batch: pa.RecordBatch) -> bytes:
    """Returns a batch as compressed bytes (Arrow IPC), which preserve it exactly."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def unpack(packed: Mapping[str, bytes]) -> dict[str, pa.Table]:
    """Returns the tables of a packed chunk."""
    return {name: pa.ipc.open_stream(data).read_all() for name, data in packed.items()}


def _address() -> str:
    """Returns the address of the worker that calls this, for errors."""
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return "this process"
