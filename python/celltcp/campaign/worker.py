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

#: A run of a chunk: its number and label, the place of its scenario in those that come along, its seed.
SentRun = tuple[int, str, int, int]


@dataclass(frozen=True)
class Task:
    """Work for one thread of a worker: a function of a module, with its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    #: Calls whose results follow the arguments: each is evaluated once on the cluster, by its name.
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
    def of(cls, known: Engine) -> WorkerRequirement:
        """Returns the requirement for workers that replace this engine."""
        return cls(known.name, known.kernel.version if known.kernel else None, known.build)

    def local_engine(self) -> Engine:
        """Returns the engine of this process.

        Raises:
            OtherBuildError: if it is not here, or its programs are others.
        """
        try:
            on_this_machine = _native() if self.kernel is None else engine(self.name, self.kernel)
        except CelltcpError as missing:
            raise OtherBuildError(str(missing), _address()) from None
        if on_this_machine.build != self.build:
            what = f"{on_this_machine.key}, build {on_this_machine.build}"
            raise OtherBuildError(f"has {what}; allowed: build {self.build}", _address())
        return on_this_machine


@functools.cache
def _native() -> Engine:
    """Returns the native engine with the build that this process has loaded."""
    on_this_machine = engine()
    # Computed at the first use: what is installed later is another build.
    assert on_this_machine.build
    return on_this_machine


def check(needed: Sequence[WorkerRequirement], dask_worker: Worker | None = None) -> int:
    """Checks that a worker has all engines; returns the number of its threads.

    Args:
        needed: engines with their builds.
        dask_worker: the worker, which Dask itself gives.
    """
    for worker_requirement in needed:
        worker_requirement.local_engine()
    return int(dask_worker.state.nthreads) if dask_worker else 1


def chunks_task(chunks: Sequence[Sequence[Job]]) -> Task:
    """Returns the task that does these chunks of one engine; each scenario goes to the cluster once.

    Raises:
        CelltcpError: if one has a congestion control that was registered in this process alone.
    """
    places: dict[Scenario, int] = {}
    for job in itertools.chain(*chunks):
        if source_digests(job.scenario.ccas):
            raise CelltcpError(
                f"cca: {job.cca!r} is defined in this process only; "
                "allowed with --cluster: built-in CCAs"
            )
        places.setdefault(job.scenario, len(places))
    needed = WorkerRequirement.of(chunks[0][0].engine)
    runs = [[(job.number, job.cca, places[job.scenario], job.seed) for job in jobs] for jobs in chunks]
    shared = []
    for scenario in places:
        pickled = _pickled(scenario)
        digest = hashlib.sha256(pickled).hexdigest()[:32]
        shared.append((f"{digest}-{needed.build}", loaded, (pickled, needed)))
    return Task(run_chunks, (runs, needed), tuple(shared))


@functools.lru_cache(maxsize=64)
def _pickled(scenario: Scenario) -> bytes:
    return pickle.dumps(scenario)


def loaded(pickled: bytes, needed: WorkerRequirement) -> Scenario:
    """Returns a scenario that was pickled, on a worker that has the engine."""
    needed.local_engine()
    scenario: Scenario = pickle.loads(pickled)
    return scenario


def run_chunks(
    chunks: Sequence[Sequence[SentRun]], needed: WorkerRequirement, *scenarios: Scenario
) -> list[dict[str, bytes]]:
    """Runs some chunks one after the other, and returns the packed tables of each."""
    on_this_machine = needed.local_engine()
    packed: list[dict[str, bytes]] = []

    def deliver(_: list[int], batches: Mapping[str, pa.RecordBatch], complete: bool) -> None:
        if complete:
            packed.append({name: pack(batch) for name, batch in batches.items()})

    described = [
        [
            on_this_machine.describe(number, label, scenarios[at], seed)
            for number, label, at, seed in runs
        ]
        for runs in chunks
    ]
    run_batch(described, 1, deliver)
    return packed


def pack(batch: pa.RecordBatch) -> bytes:
    """Returns a batch as compressed bytes, from which the very same batch is read."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def unpacked(packed: Mapping[str, bytes]) -> dict[str, pa.Table]:
    """Returns the tables of a chunk."""
    return {name: pa.ipc.open_stream(each).read_all() for name, each in packed.items()}


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return "this process"
