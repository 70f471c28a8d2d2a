"""Many runs at once: every congestion control over the same channel realisations."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp import __version__
from celltcp._core import CelltcpError, Scenario
from celltcp.engines import Engine
from celltcp.results import OPTIONAL, TABLES, part_of_file_name, prepare_folder
from celltcp.sample_file import SampleFile, number_rows

#: Called with the share of the campaign that is done, from 0 to 1.
Progress = Callable[[float], None]

#: A run is advanced in so many pieces, between which it can be interrupted.
_PIECES = 300


@dataclass(frozen=True)
class Job:
    """One run of a campaign."""

    number: int
    cca: str
    seed: int
    scenario: Scenario
    engine: Engine

    @property
    def key(self) -> str:
        """Name of its folder among the finished parts: the same for the same run only."""
        # Words of `auto` name files, whose paths have slashes.
        cca = part_of_file_name(quote(self.cca, safe=":,=+"))
        return f"{cca}-{self.seed}-{self.scenario.hash}-{self.engine.key}-{__version__}"


def jobs_for(
    scenario: Scenario,
    ccas: Sequence[str],
    runs: int,
    seed: int,
    engine: Engine,
) -> list[Job]:
    """The runs of a campaign, congestion control by congestion control; run i has seed + i."""
    cases = [(scenario.with_cca(cca), cca, seed + i) for cca in ccas for i in range(runs)]
    for each, cca, _ in cases[::runs]:
        engine.require(sorted(set(each.ccas)), cca)
    return [Job(number, cca, s, each, engine) for number, (each, cca, s) in enumerate(cases)]


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    pcap: str | None = None,
    samples: SampleFile | None = None,
) -> dict[str, pa.Table]:
    """Runs all jobs in parallel and joins their tables in the order of the jobs.

    With a folder, each finished run is kept there until all are done, so that an interrupted campaign
    goes on where it stopped.
    """
    workers = workers or os.cpu_count() or 1
    if workers < 1:
        raise CelltcpError(f"jobs: {workers} is not a number from 1 on")
    parts = prepare_folder(Path(folder) / "parts") if folder else None
    done = _Meter(len(jobs), progress)
    stop = threading.Event()

    def work(job: Job) -> dict[str, pa.Table]:
        kept = _read_part(parts, job)
        if kept is None:
            kept = _run(job, stop, done, pcap, samples)
            _keep_part(parts, job, kept)
        done.finish(job.number)
        return kept

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, job) for job in jobs]
        try:
            outcomes = [future.result() for future in futures]
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
    tables = {
        name: pa.concat_tables(
            [
                number_rows(outcome[name], job.number, job.cca)
                for outcome, job in zip(outcomes, jobs, strict=True)
            ]
        )
        for name in TABLES
    }
    for name in OPTIONAL:
        if not len(tables[name]):
            del tables[name]
    if parts:
        shutil.rmtree(parts, ignore_errors=True)
    return tables


def _run(
    job: Job,
    stop: threading.Event,
    done: _Meter,
    pcap: str | None,
    file: SampleFile | None,
) -> dict[str, pa.Table]:
    run = job.engine.start(job.scenario, job.seed, pcap=pcap)
    samples: list[pa.RecordBatch] = []
    keep = file.write if file else samples.append
    for piece in range(1, _PIECES + 1):
        while not run.advance(job.scenario.duration_s * piece / _PIECES):
            _leave_if(stop)
        keep(pa.record_batch(run.take_samples()))
        done.reach(job.number, piece / _PIECES)
        _leave_if(stop)
    batches = {name: [pa.record_batch(batch)] for name, batch in run.finish().items()}
    batches["samples"] = samples + batches["samples"]
    tables = {name: pa.Table.from_batches(batches[name]) for name in TABLES}
    if file:
        tables["samples"] = file.close()
    return tables


def _leave_if(stop: threading.Event) -> None:
    if stop.is_set():
        raise KeyboardInterrupt


def _keep_part(parts: Path | None, job: Job, tables: dict[str, pa.Table]) -> None:
    if parts is None:
        return
    partial = parts / f".{job.key}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name, table in tables.items():
        pq.write_table(table, partial / f"{name}.parquet", compression="zstd")
    partial.rename(parts / job.key)


def _read_part(parts: Path | None, job: Job) -> dict[str, pa.Table] | None:
    if parts is None or not (parts / job.key).is_dir():
        return None
    try:
        return {name: pq.read_table(parts / job.key / f"{name}.parquet") for name in TABLES}
    except (pa.ArrowInvalid, OSError):
        shutil.rmtree(parts / job.key, ignore_errors=True)
        return None


class _Meter:
    """Adds up how far each run is."""

    def __init__(self, jobs: int, progress: Progress | None) -> None:
        self._shares = [0.0] * jobs
        self._progress = progress
        self._lock = threading.Lock()

    def reach(self, number: int, share: float) -> None:
        with self._lock:
            self._shares[number] = share
            if self._progress:
                self._progress(sum(self._shares) / len(self._shares))

    def finish(self, number: int) -> None:
        self.reach(number, 1.0)
