"""Runs of an evaluation on one scenario, and their summary."""

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
    remembering,
)
from celltcp.selection.switch_cost import costs_of, replay_jobs, switches_in

#: Columns of runs that an evaluation stores.
_STORED_COLUMNS = ("rtt_mean_ms", "rtt_p95_ms", "retransmissions", "duration_s")

#: Tables of which the summary is made.
_TABLES = ("runs", "flows", "slots", "decisions")

#: Share of the progress for replays.
_REPLAYS = 0.3


@dataclass(frozen=True)
class Plan:
    """Plan of the runs on each scenario."""

    fixed: tuple[str, ...]
    uses: tuple[PolicyUse, ...]
    settings: RunSettings
    engine: Engine
    #: Earlier connections for policies with a memory.
    history: int = 0
    #: Whether the cost of switches is measured.
    switches: bool = False
    #: Number of runs of each CCA that earlier results have, which are not run again.
    existing_runs: int = 0

    def check(self, source: ScenarioSource) -> str:
        """Checks that everything can run on this scenario, and returns a digest of the settings.

        Neither the number of runs nor what policies remember is in the digest.

        Raises:
            CelltcpError: if a policy or a congestion control cannot.
        """
        forgetful = remembering(source, "")
        jobs = _jobs(source, self.fixed, self)
        jobs += _jobs(forgetful, [use.cca for use in self.uses], self)
        first = [job.key for job in jobs if job.seed == self.settings.seed + self.existing_runs]
        return hashlib.sha256("\n".join(first).encode()).hexdigest()[:16]

    def planned_jobs(self, source: ScenarioSource) -> list[Jobs]:
        """Returns the runs on a scenario, without memories of policies and replays of switches."""
        settings = self.settings
        labels = [*self.fixed, *(use.cca for use in self.uses)]
        forgetful = remembering(source, "").scenario
        runs = [jobs_for(forgetful, labels, settings.runs, settings.seed, self.engine)]
        for learns in {use.learns for use in self.uses if use.learns}:
            first = prior_jobs(source, learns, 1, settings.seed, self.engine)[0]
            runs.append(Jobs([(first.cca, first.scenario)], self.history, settings.seed, self.engine))
        return runs


def on_scenario(
    source: ScenarioSource, plan: Plan, checkpoint: Checkpoint, progress: Progress | None
) -> Frames:
    """Returns the frames of a scenario: `runs`, `decisions`, `expectations`, `histories`, `costs`."""
    memories: dict[tuple[str, ...], str] = {}
    for use in plan.uses:
        if use.learns and use.learns not in memories:
            memories[use.learns] = _memory(source, use.learns, plan)
    jobs = _jobs(source, plan.fixed, plan)
    for use in plan.uses:
        place = remembering(source, memories[use.learns]) if use.learns else source
        jobs += _jobs(place, [use.cca], plan, len(jobs))
    key = checkpoint.key([source.name, str(plan.switches), *(job.key for job in jobs)])
    frames = checkpoint.read(key)
    if frames is None:
        frames = _run(source, plan, jobs, checkpoint, progress)
        histories = [
            {"policy": use.policy, "memory": memories[use.learns]}
            for use in plan.uses
            if use.learns and use.requirement == plan.uses[0].requirement
        ]
        frames["histories"] = pd.DataFrame(histories, columns=["policy", "memory"])
        for each in frames.values():
            each.insert(0, "scenario", source.name)
        checkpoint.write(key, frames)
    if progress:
        progress(1.0)
    return frames


def on_sources(
    sources: Sequence[ScenarioSource], plan: Plan, checkpoint: Checkpoint, progress: Progress | None
) -> Frames:
    """Returns the joined frames of all scenarios."""
    total = sum(source.scenario.duration_s for source in sources)
    frames: list[Frames] = []
    done = 0.0
    for source in sources:
        length = source.scenario.duration_s

        def reach(share: float, done: float = done, length: float = length) -> None:
            if progress:
                progress((done + share * length) / total)

        frames.append(on_scenario(source, plan, checkpoint, reach))
        done += length
    joined: Frames = {}
    for name in frames[0]:
        parts = [each[name] for each in frames if not each[name].empty]
        joined[name] = pd.concat(parts, ignore_index=True) if parts else frames[0][name]
    return joined


def _jobs(source: ScenarioSource, labels: Iterable[str], plan: Plan, first: int = 0) -> list[Job]:
    """Returns all runs of these CCAs, numbered from `first`."""
    jobs: list[Job] = []
    for label in labels:
        changed = source.scenario.with_cca(label)
        plan.engine.require(sorted(set(changed.ccas)), label)
        for run in range(plan.existing_runs, plan.settings.runs):
            number = first + len(jobs)
            jobs.append(Job(number, label, plan.settings.seed + run, changed, plan.engine))
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
    scale = 1 - _REPLAYS if plan.switches else 1.0

    def first(share: float) -> None:
        if progress:
            progress(scale * share)

    def second(share: float) -> None:
        if progress:
            progress(scale + (1 - scale) * share)

    tables = run_jobs(
        jobs,
        workers=plan.settings.workers,
        folder=checkpoint.place("runs"),
        progress=first,
        tables=_TABLES,
    )
    requirement_of_cca = {use.cca: use.requirement for use in plan.uses}
    frames = {
        "runs": _summary(source, plan, tables),
        "decisions": _decisions(plan, tables),
        "expectations": _with_policy_and_requirement(
            expectations_of(tables, jobs, requirement_of_cca), plan, "label"
        ),
    }
    if plan.switches:
        changes = switches_in(tables, jobs)
        del tables
        replays = replay_jobs(source, changes, plan.engine)
        replayed = None
        if replays:
            place = checkpoint.place("replays")
            replayed = run_jobs(
                replays, workers=plan.settings.workers, folder=place, progress=second, tables=_TABLES
            )
        frames["costs"] = _with_policy_and_requirement(
            costs_of(changes, replayed, replays), plan, "label"
        )
    return frames


def _summary(source: ScenarioSource, plan: Plan, tables: dict[str, pa.Table]) -> pd.DataFrame:
    """Returns a row per run."""
    labels = [*plan.fixed, *(use.cca for use in plan.uses)]
    origin = origin_of(source.scenario, labels, plan.settings.runs, plan.settings.seed, plan.engine)
    comparison = Comparison(Results(tables, origin), [use.requirement for use in plan.uses])
    result = comparison.runs
    causes = _causes(tables)
    counted = {
        column: [causes.get((run, cause), 0) for run in result["run"]]
        for column, cause in (("changes", "change"), ("returns", "return"))
    }
    summary = result[["seed", *comparison.requirements.values(), *_STORED_COLUMNS]].assign(
        switches=[a + b for a, b in zip(counted["changes"], counted["returns"], strict=True)],
        returns=counted["returns"],
    )
    summary.insert(0, "label", result["cca"].astype(str))
    return _with_policy_and_requirement(summary, plan, "label")


def _causes(tables: dict[str, pa.Table]) -> dict[tuple[int, str], int]:
    """Returns the number of decisions by run and cause."""
    if "decisions" not in tables:
        return {}
    decisions = tables["decisions"].select(["run", "cause"]).to_pylist()
    return dict(Counter((int(row["run"]), str(row["cause"])) for row in decisions))


def _decisions(plan: Plan, tables: dict[str, pa.Table]) -> pd.DataFrame:
    """Returns a row per decision, with the seed of its run."""
    columns = ["seed", "flow", "t_ns", "cause", "from_cca", "to_cca", "reason", "measures"]
    if "decisions" not in tables:
        return pd.DataFrame(columns=["policy", "requirement", *columns])
    result = frame(tables["decisions"])
    seeds = frame(tables["runs"]).set_index("run")["seed"]
    result["seed"] = result["run"].map(seeds)
    return _with_policy_and_requirement(result, plan, "cca")[["policy", "requirement", *columns]]


def _with_policy_and_requirement(rows: pd.DataFrame, plan: Plan, label: str) -> pd.DataFrame:
    """Adds the policy and the requirement of each label; both are empty for fixed CCAs."""
    names = {use.cca: use for use in plan.uses}
    if rows.empty:
        return rows
    labels = rows[label].astype(str)
    policies = [names[each].policy if each in names else "" for each in labels]
    requirements = [names[each].requirement if each in names else "" for each in labels]
    return rows.assign(policy=policies, requirement=requirements)
