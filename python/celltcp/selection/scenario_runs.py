"""Runs of an evaluation on its scenarios, and their data frames."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from celltcp._core import memory_text
from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job, Jobs, jobs_for
from celltcp.campaign.provenance import origin_of
from celltcp.campaign.run import Progress, run_jobs
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.results.tables import Results, frame
from celltcp.scenarios.scenarios import ScenarioSource
from celltcp.selection.calibration import expectations_of
from celltcp.selection.candidates import PolicyUse
from celltcp.selection.checkpoint import Checkpoint, Frames
from celltcp.selection.prior_connections import (
    destination_of,
    prior_connections,
    prior_jobs,
    with_memory,
)
from celltcp.selection.switch_cost import costs_of, replay_jobs, switches_in

#: Columns of runs that an evaluation stores in addition to the metrics.
_STORED_COLUMNS = ("rtt_mean_ms", "rtt_p95_ms", "retransmissions", "duration_s")

#: Tables from which the frames are computed.
_TABLES = ("runs", "flows", "slots", "decisions")

#: Share of the progress that replays of switches count for.
_REPLAY_SHARE = 0.3


@dataclass(frozen=True)
class Plan:
    """Plan of the runs on each scenario."""

    #: Fixed CCAs.
    fixed: tuple[str, ...]
    uses: tuple[PolicyUse, ...]
    settings: RunSettings
    engine: Engine
    #: Number of prior connections for policies with a memory.
    history: int = 0
    #: Whether the cost of switches is measured.
    switches: bool = False
    #: Number of runs of each CCA that earlier results have; they are not run again.
    existing_runs: int = 0

    @property
    def ccas(self) -> list[str]:
        """All CCAs: fixed ones and selectors."""
        return [*self.fixed, *(use.cca for use in self.uses)]

    def check(self, source: ScenarioSource) -> str:
        """Checks that all CCAs can run on this scenario, and returns a digest of the settings.

        The digest depends neither on the number of runs nor on memories.

        Raises:
            CelltcpError: if a policy or a congestion control cannot run.
        """
        jobs = _jobs(source, self.fixed, self)
        jobs += _jobs(with_memory(source, ""), [use.cca for use in self.uses], self)
        first_seed = self.settings.seed + self.existing_runs
        return _digest(job.key for job in jobs if job.seed == first_seed)

    def planned_jobs(self, source: ScenarioSource) -> list[Jobs]:
        """Returns the runs on a scenario with empty memories, and without replays of switches."""
        settings = self.settings
        scenario = with_memory(source, "").scenario
        runs = [jobs_for(scenario, self.ccas, settings.runs, settings.seed, self.engine)]
        for learned_ccas in {use.learned_ccas for use in self.uses if use.learned_ccas}:
            (job,) = prior_jobs(source, learned_ccas, 1, settings.seed, self.engine)
            runs.append(Jobs([(job.cca, job.scenario)], self.history, settings.seed, self.engine))
        return runs


def _run_scenario(
    source: ScenarioSource, plan: Plan, checkpoint: Checkpoint, progress: Progress | None
) -> Frames:
    """Returns the frames of a scenario: `runs`, `decisions`, `expectations`, `histories`, `costs`."""
    memories = {
        learned_ccas: _memory(source, learned_ccas, plan)
        for learned_ccas in dict.fromkeys(use.learned_ccas for use in plan.uses)
        if learned_ccas
    }
    jobs = _jobs(source, plan.fixed, plan)
    for use in plan.uses:
        memory = memories.get(use.learned_ccas)
        use_source = source if memory is None else with_memory(source, memory)
        jobs += _jobs(use_source, [use.cca], plan, len(jobs))
    key = _digest([source.name, str(plan.switches), *(job.key for job in jobs)])
    frames = checkpoint.read(key)
    if frames is None:
        frames = _run(source, plan, jobs, checkpoint, progress)
        histories = [
            {"policy": use.policy, "memory": memories[use.learned_ccas]}
            for use in plan.uses
            if use.learned_ccas and use.requirement == plan.uses[0].requirement
        ]
        frames["histories"] = pd.DataFrame(histories, columns=["policy", "memory"])
        for rows in frames.values():
            rows.insert(0, "scenario", source.name)
        checkpoint.write(key, frames)
    if progress:
        progress(1.0)
    return frames


def run_scenarios(
    sources: Sequence[ScenarioSource], plan: Plan, checkpoint: Checkpoint, progress: Progress | None
) -> Frames:
    """Does the runs on all scenarios, and returns their joined frames."""
    total_s = sum(source.scenario.duration_s for source in sources)
    by_scenario: list[Frames] = []
    done_s = 0.0
    for source in sources:
        duration_s = source.scenario.duration_s

        def report(share: float, done_s: float = done_s, duration_s: float = duration_s) -> None:
            if progress:
                progress((done_s + share * duration_s) / total_s)

        by_scenario.append(_run_scenario(source, plan, checkpoint, report))
        done_s += duration_s
    joined: Frames = {}
    for name, first in by_scenario[0].items():
        parts = [frames[name] for frames in by_scenario if not frames[name].empty]
        joined[name] = pd.concat(parts, ignore_index=True) if parts else first
    return joined


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _jobs(source: ScenarioSource, ccas: Iterable[str], plan: Plan, first: int = 0) -> list[Job]:
    """Returns the runs of these CCAs on a scenario, numbered from `first`."""
    jobs: list[Job] = []
    for cca in ccas:
        scenario = source.scenario.with_cca(cca)
        plan.engine.require(sorted(set(scenario.ccas)), cca)
        for run in range(plan.existing_runs, plan.settings.runs):
            number = first + len(jobs)
            jobs.append(Job(number, cca, plan.settings.seed + run, scenario, plan.engine))
    return jobs


def _memory(source: ScenarioSource, candidates: Sequence[str], plan: Plan) -> str:
    jobs = prior_jobs(source, candidates, plan.history, plan.settings.seed, plan.engine)
    tables = run_jobs(jobs, workers=plan.settings.workers)
    return memory_text(destination_of(source), prior_connections(tables, jobs))


def _run(
    source: ScenarioSource,
    plan: Plan,
    jobs: Sequence[Job],
    checkpoint: Checkpoint,
    progress: Progress | None,
) -> Frames:
    replay_share = _REPLAY_SHARE if plan.switches else 0.0

    def run(jobs: Sequence[Job], folder: str, start: float, share: float) -> dict[str, pa.Table]:
        def report(done: float) -> None:
            if progress:
                progress(start + share * done)

        return run_jobs(
            jobs,
            workers=plan.settings.workers,
            folder=checkpoint.runs_folder(folder),
            progress=report,
            tables=_TABLES,
        )

    tables = run(jobs, "runs", 0.0, 1 - replay_share)
    requirement_of = {use.cca: use.requirement for use in plan.uses}
    frames = {
        "runs": _runs(source, plan, tables),
        "decisions": _decisions(plan, tables),
        "expectations": _with_use(expectations_of(tables, jobs, requirement_of), plan, "label"),
    }
    if plan.switches:
        switches = switches_in(tables, jobs)
        del tables
        replays = replay_jobs(source, switches, plan.engine)
        replayed = run(replays, "replays", 1 - replay_share, replay_share) if replays else None
        frames["costs"] = _with_use(costs_of(switches, replayed, replays), plan, "label")
    return frames


def _runs(source: ScenarioSource, plan: Plan, tables: dict[str, pa.Table]) -> pd.DataFrame:
    """Returns a row per run: metrics, and numbers of switches and of returns among them."""
    settings = plan.settings
    origin = origin_of(source.scenario, plan.ccas, settings.runs, settings.seed, plan.engine)
    comparison = Comparison(Results(tables, origin), [use.requirement for use in plan.uses])
    runs = comparison.runs
    rows = runs[["seed", *comparison.requirements.values(), *_STORED_COLUMNS]].copy()
    counts: Counter[tuple[int, str]] = Counter()
    if "decisions" in tables:
        decisions = tables["decisions"].select(["run", "cause"]).to_pylist()
        counts.update((row["run"], row["cause"]) for row in decisions)
    rows["switches"] = [counts[run, "change"] + counts[run, "return"] for run in runs["run"]]
    rows["returns"] = [counts[run, "return"] for run in runs["run"]]
    rows.insert(0, "label", runs["cca"].astype(str))
    return _with_use(rows, plan, "label")


def _decisions(plan: Plan, tables: dict[str, pa.Table]) -> pd.DataFrame:
    """Returns a row per decision, with the seed of its run."""
    columns = ["seed", "flow", "t_ns", "cause", "from_cca", "to_cca", "reason", "measures"]
    columns = ["policy", "requirement", *columns]
    if "decisions" not in tables:
        return pd.DataFrame(columns=columns)
    rows = frame(tables["decisions"])
    rows["seed"] = rows["run"].map(frame(tables["runs"]).set_index("run")["seed"])
    return _with_use(rows, plan, "cca")[columns]


def _with_use(rows: pd.DataFrame, plan: Plan, cca_column: str) -> pd.DataFrame:
    """Adds `policy` and `requirement` by a column of CCAs; both are empty for fixed ones."""
    if rows.empty:
        return rows
    uses = {use.cca: (use.policy, use.requirement) for use in plan.uses}
    pairs = [uses.get(cca, ("", "")) for cca in rows[cca_column].astype(str)]
    policies, requirements = zip(*pairs, strict=True)
    return rows.assign(policy=policies, requirement=requirements)
