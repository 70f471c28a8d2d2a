"""Benchmark of the native engine: its speed, and the overhead of a campaign."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from celltcp._core import Run, Scenario
from celltcp.campaign.cluster import MAX_CHUNKS_PER_TASK, Cluster
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import Job, jobs_for
from celltcp.campaign.run import Workers, chunks_of, run_jobs
from celltcp.campaign.worker import WorkerRequirement, chunks_task, unpack
from celltcp.comparison.run import compare
from celltcp.scenarios.scenarios import load_scenario

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

#: Runs of the measured campaign: many short ones, so that the overhead per run is large.
CAMPAIGN_RUNS = 3000
#: Runs of the campaign that is measured on a cluster.
CLUSTER_RUNS = 120
#: Number of tasks with a tiny run, for the overhead of a task.
_MEASURED_TASKS = 300


@dataclass(frozen=True)
class Case:
    """A scenario to time."""

    name: str
    scenario: str
    cca: str
    changes: tuple[str, ...] = ()


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
    """Returns the cost of a run with a split host as a multiple of the same run without one."""
    without, split = (results[name]["sim_s_per_cpu_s"] for name in ("wired_50mbit", "split_host"))
    return without / split


def measure(case: Case) -> dict[str, float]:
    """Returns simulated seconds and data packets per CPU second; `..._samples` records samples."""
    scenario = load_scenario(case.scenario, changes=case.changes).with_cca(case.cca)
    is_sampled = case.name.endswith("samples")
    run = Run(scenario.with_samples("every-ack" if is_sampled else "off"), 1)
    start = time.process_time()
    simulated_s = 0.0
    while simulated_s < scenario.duration_s:
        simulated_s += 10.0
        run.advance(simulated_s)
        run.take_samples()
    cpu_s = time.process_time() - start
    flows = run.finish()["flows"]
    packets = sum(int(row["segments"]) for row in flows.to_pylist())
    return {
        "sim_s_per_cpu_s": scenario.duration_s / cpu_s,
        "data_packets_per_cpu_s": packets / cpu_s,
    }


def measure_campaign() -> dict[str, float]:
    """Returns the overhead per run of a comparison, outside the engine and the rows of its tables.

    `campaign_overhead_ms_per_run` is the CPU time of the comparison less that of the same runs one by
    one in the engine. `campaign_kb_per_run` is the growth of the peak memory less the size of the
    tables.
    """
    return in_fresh_process(_campaign, CAMPAIGN_RUNS)


def measure_cluster(address: str) -> dict[str, float]:
    """Returns the cost of a campaign on a cluster, and on as many threads of this process.

    `wall_efficiency` is the wall time here divided by that on the cluster. It is meaningful if the
    workers are on this machine, which is otherwise idle. `cpu_efficiency` depends less on that: it is
    the share of the engine in the CPU time of a task of a large campaign. The rest is the CPU time of
    scheduler, worker and this process for a task with a tiny run.
    """
    cluster = Cluster(address)
    threads = cluster.threads()
    jobs = jobs_for(load_scenario("drive"), ["cubic"], CLUSTER_RUNS, 1, engine())
    tasks = sum(1 for _ in chunks_of(jobs)) / MAX_CHUNKS_PER_TASK
    # Imports at the first use do not count.
    for workers in (1, cluster):
        run_jobs(jobs[:threads], workers=workers)
    overhead_s = _overhead_s(cluster)
    local_s, local_cpu_s = _durations_s(jobs, threads)
    cluster_s, _ = _durations_s(jobs, cluster)
    engine_s = local_cpu_s / tasks
    return {
        "threads": threads,
        "runs": CLUSTER_RUNS,
        "here_s": local_s,
        "cluster_s": cluster_s,
        "wall_efficiency": local_s / cluster_s,
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
        unpack(packed)
    return (cluster.cpu_s() - before_s + time.process_time() - own_s) / len(jobs)


def _durations_s(jobs: Sequence[Job], workers: Workers) -> tuple[float, float]:
    """Returns wall time and CPU time of this process for some jobs, s."""
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    run_jobs(jobs, workers=workers)
    return time.perf_counter() - wall_start, time.process_time() - cpu_start


def peak_memory_mb() -> float:
    """Returns the peak resident memory of this process, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_fresh_process(
    function: Callable[_Parameters, _Result], *args: _Parameters.args, **kwargs: _Parameters.kwargs
) -> _Result:
    """Runs a function in a fresh process, for its memory, and returns its result."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *args, **kwargs).result()


def _campaign(runs: int) -> dict[str, float]:
    scenario, cca = load_scenario("steady-5-18", duration="1s"), "cubic"
    # Imports at the first use do not count.
    compare(scenario, cca=cca, runs=8)
    engine_s = _engine_s(scenario.with_cca(cca), runs)
    peak = peak_memory_mb()
    start = time.process_time()
    result = compare(scenario, cca=cca, runs=runs)
    cpu_s = time.process_time() - start
    rows_mb = sum(table.nbytes for table in result.results.tables.values()) / 2**20
    return {
        "campaign_overhead_ms_per_run": 1e3 * (cpu_s - engine_s) / runs,
        "campaign_kb_per_run": 1024 * (peak_memory_mb() - peak - rows_mb) / runs,
    }


def _engine_s(scenario: Scenario, runs: int) -> float:
    """Returns the CPU time of the runs in the engine alone, s."""
    start = time.process_time()
    for seed in range(1, runs + 1):
        run = Run(scenario, seed)
        run.advance(scenario.duration_s)
    return time.process_time() - start
