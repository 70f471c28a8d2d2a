"""Benchmark of the native engine: its speed, and the overhead of a campaign."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from celltcp._core import Run, Scenario
from celltcp.campaign.cluster import MAX_CHUNKS_PER_TASK, Cluster
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import Job, jobs_for
from celltcp.campaign.run import Workers, chunks_of, run_jobs
from celltcp.campaign.worker import WorkerRequirement, chunks_task, unpacked
from celltcp.comparison.run import compare
from celltcp.scenarios.scenarios import load_scenario

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

#: Runs of the measured campaign: many short ones, so that their overhead shows.
CAMPAIGN_RUNS = 3000
#: Runs of the campaign that is measured on a cluster, of a minute each.
CLUSTER_RUNS = 120
#: Number of tasks with a tiny run, for the overhead of a task.
_MEASURED_TASKS = 300
_CAMPAIGN = ("steady-5-18", "cubic", ("duration=1s",))


@dataclass(frozen=True)
class Case:
    """A scenario to time."""

    name: str
    scenario: str
    cca: str
    changes: Sequence[str] = field(default_factory=tuple)


CASES = (
    Case("wired_50mbit", "steady-20-68", "cubic", ("path.down.rate=50Mbit/s", "duration=600s")),
    Case("wired_samples", "steady-20-68", "bbr", ("path.down.rate=50Mbit/s", "duration=600s")),
    Case("split_host", "steady-20-68", "cubic@es", ("path.down.rate=50Mbit/s", "duration=600s")),
    Case("drive", "drive", "cubic", ("duration=600s",)),
    Case("four_flows", "steady-100-18", "cubic", ("flows.0.count=4", "duration=120s")),
    Case("random_loss", "steady-20-68", "reno", ("path.loss=0.001", "duration=600s")),
)


#: Maximum cost of a run with a split host, as a multiple of one without.
MAX_SPLIT_COST = 2.2


def split_cost(results: dict[str, dict[str, float]]) -> float:
    """Returns the cost of a run with a split host as a multiple of the same run without."""
    without, split = (results[name]["sim_s_per_cpu_s"] for name in ("wired_50mbit", "split_host"))
    return without / split


def measure(case: Case) -> dict[str, float]:
    """Returns simulated seconds and data packets per CPU second, with samples if the name says so."""
    scenario = load_scenario(case.scenario, changes=case.changes).with_cca(case.cca)
    sampled = case.name.endswith("samples")
    run = Run(scenario.with_samples("every-ack" if sampled else "off"), 1)
    start = time.process_time()
    seconds = 0.0
    while seconds < scenario.duration_s:
        seconds += 10.0
        run.advance(seconds)
        run.take_samples()
    spent = time.process_time() - start
    flows = run.finish()["flows"]
    packets = sum(int(row["segments"]) for row in flows.to_pylist())
    return {
        "sim_s_per_cpu_s": scenario.duration_s / spent,
        "data_packets_per_cpu_s": packets / spent,
    }


def measure_campaign() -> dict[str, float]:
    """Returns the overhead of a comparison per run, without the engine and the rows of its tables.

    `campaign_overhead_ms_per_run` is the CPU time of the comparison less that of the same runs one by
    one in the engine. `campaign_kb_per_run` is the growth of the peak memory less the size of the
    tables.
    """
    return in_fresh_process(_campaign, CAMPAIGN_RUNS)


def measure_cluster(address: str) -> dict[str, float]:
    """Returns the cost of a campaign on a cluster, and on as many threads of this process.

    `wall_efficiency` is the quotient of the times. It means something where the workers are on this
    machine and it does nothing else. `cpu_efficiency` depends less on that: it is the share of the
    engine in the CPU time of a task of a large campaign. The rest is what scheduler, worker and this
    process spend on a task with a tiny run.
    """
    cluster = Cluster(address)
    threads = cluster.threads()
    jobs = jobs_for(load_scenario("drive"), ["cubic"], CLUSTER_RUNS, 1, engine())
    tasks = sum(1 for _ in chunks_of(jobs)) / MAX_CHUNKS_PER_TASK
    # Imports at the first use do not count.
    for workers in (1, cluster):
        run_jobs(jobs[:threads], workers=workers)
    overhead_s = _overhead_s(cluster)
    here_s, here_cpu_s = _durations_s(jobs, threads)
    there_s, _ = _durations_s(jobs, cluster)
    engine_s = here_cpu_s / tasks
    return {
        "threads": threads,
        "runs": CLUSTER_RUNS,
        "here_s": here_s,
        "cluster_s": there_s,
        "wall_efficiency": here_s / there_s,
        "engine_cpu_ms_per_task": 1e3 * engine_s,
        "other_cpu_ms_per_task": 1e3 * overhead_s,
        "cpu_efficiency": engine_s / (engine_s + overhead_s),
    }


def _overhead_s(cluster: Cluster) -> float:
    """Returns the CPU time of scheduler, workers and this process for a task with a tiny run, s."""
    scenario = load_scenario("steady-5-18", duration="100ms")
    jobs = jobs_for(scenario, ["cubic"], _MEASURED_TASKS, 1, engine())
    needed = [WorkerRequirement.of(jobs[0].engine)]
    before_s, own_s = cluster.cpu_s(), time.process_time()
    for _, (packed,) in cluster.results((chunks_task([[job]]) for job in jobs), needed):
        unpacked(packed)
    return (cluster.cpu_s() - before_s + time.process_time() - own_s) / len(jobs)


def _durations_s(jobs: Sequence[Job], workers: Workers) -> tuple[float, float]:
    """Returns wall time and CPU time of this process for some jobs, s."""
    begun, cpu = time.perf_counter(), time.process_time()
    run_jobs(jobs, workers=workers)
    return time.perf_counter() - begun, time.process_time() - cpu


def peak_memory_mb() -> float:
    """Returns the largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_fresh_process(
    function: Callable[_Parameters, _Result], *args: _Parameters.args, **kwargs: _Parameters.kwargs
) -> _Result:
    """Runs a function in a fresh process, for its memory, and returns its result."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *args, **kwargs).result()


def _campaign(runs: int) -> dict[str, float]:
    name, cca, changes = _CAMPAIGN
    scenario = load_scenario(name, changes=changes)
    # Imports at the first use do not count.
    compare(scenario, cca=cca, runs=8)
    engine_s = _engine_s(scenario.with_cca(cca), runs)
    peak = peak_memory_mb()
    start = time.process_time()
    result = compare(scenario, cca=cca, runs=runs)
    spent = time.process_time() - start
    rows_mb = sum(table.nbytes for table in result.results.tables.values()) / 2**20
    return {
        "campaign_overhead_ms_per_run": 1e3 * (spent - engine_s) / runs,
        "campaign_kb_per_run": 1024 * (peak_memory_mb() - peak - rows_mb) / runs,
    }


def _engine_s(scenario: Scenario, runs: int) -> float:
    """Returns the CPU time of the runs in the engine alone."""
    start = time.process_time()
    for seed in range(1, runs + 1):
        run = Run(scenario, seed)
        run.advance(scenario.duration_s)
    return time.process_time() - start
