"""Cost estimate of a campaign: its runs, their CPU time and the size of their tables."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp.campaign.jobs import Job, Jobs
from celltcp.scenarios.quantity_texts import digits_text, three_digits

#: Maximum number of trial runs of an estimate.
_MAX_TRIALS = 8

#: CPU time after which a trial run is stopped, s.
_MAX_TRIAL_S = 0.4

#: Simulated time between two readings of the clock, s.
_STEP_S = 0.25


@dataclass(frozen=True)
class CostEstimate:
    """Cost of a campaign, estimated from the first part of a few of its runs."""

    runs: int
    #: Simulated time of all runs, h.
    simulated_h: float
    #: CPU time of all runs, h.
    cpu_h: float
    #: Size of the tables, GB.
    size_gb: float

    def __add__(self, other: CostEstimate) -> CostEstimate:
        return CostEstimate(
            self.runs + other.runs,
            self.simulated_h + other.simulated_h,
            self.cpu_h + other.cpu_h,
            self.size_gb + other.size_gb,
        )

    def __str__(self) -> str:
        return (
            f"{self.runs} runs, {three_digits(self.simulated_h)} h simulated, some "
            f"{digits_text(self.cpu_h, 2)} h of CPU time and "
            f"{digits_text(self.size_gb, 2)} GB of tables"
        )


def estimate_cost(groups: Iterable[Jobs]) -> CostEstimate:
    """Returns the estimated cost of the jobs of these groups, by short trials of some of them."""
    runs, simulated_s = 0, 0.0
    candidates: list[Job] = []
    step = 1
    lineups = (lineup for jobs in groups for lineup in jobs.lineups)
    for index, lineup in enumerate(lineups):
        first = lineup[0]
        runs += len(lineup)
        simulated_s += len(lineup) * first.scenario.duration_s
        # The number of candidates is bounded; they stay equally spaced.
        if index % step == 0:
            candidates.append(first)
            if len(candidates) == 2 * _MAX_TRIALS:
                candidates = candidates[::2]
                step *= 2
    count = min(_MAX_TRIALS, len(candidates))
    trials = [_trial(candidates[index * len(candidates) // count]) for index in range(count)]
    cpu_share = sum(cpu for cpu, _ in trials) / len(trials)
    bytes_per_s = sum(size for _, size in trials) / len(trials)
    cpu_h = cpu_share * simulated_s / 3600
    return CostEstimate(runs, simulated_s / 3600, cpu_h, bytes_per_s * simulated_s / 1e9)


def _trial(job: Job) -> tuple[float, float]:
    """Returns CPU seconds and bytes of tables per simulated second, from the start of a run."""
    # CPU time excludes other work on the machine, but also a kernel, which is a process of its own.
    clock = time.process_time if job.engine.kernel is None else time.perf_counter
    run = job.engine.start(job.scenario, job.seed)
    start = clock()
    simulated_s = 0.0
    while simulated_s < job.scenario.duration_s and clock() - start < _MAX_TRIAL_S:
        simulated_s = min(job.scenario.duration_s, simulated_s + _STEP_S)
        while not run.advance(simulated_s):
            pass
    cpu_s = clock() - start
    tables = [pa.Table.from_batches([batch]) for batch in run.finish().values()]
    # The header and footer of a file are not proportional to the simulated time.
    size = sum(_file_size(table) - _file_size(table.slice(0, 0)) for table in tables)
    return cpu_s / simulated_s, size / simulated_s


def _file_size(table: pa.Table) -> int:
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.tell()
