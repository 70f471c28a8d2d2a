"""Agreement of the engines: whether the best CCAs of each case overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from celltcp._core import KERNEL, CelltcpError, __version__
from celltcp.campaign.cost_estimate import CostEstimate, estimate_cost
from celltcp.campaign.engines import ENGINES, engine
from celltcp.campaign.run import Progress, sub_progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.results.rows import json_rows
from celltcp.scenarios.requirements import REQUIREMENTS
from celltcp.scenarios.scenario_list import expand_scenarios, split_names
from celltcp.scenarios.scenarios import ScenarioSource
from celltcp.selection.candidates import fixed_ccas
from celltcp.selection.checkpoint import Checkpoint, Frames, run_resumed, save_frames
from celltcp.selection.engine_best_sets import differences_of, means_of, overlaps_of, summary_of
from celltcp.selection.outcomes.engines import OverlapOrigin, OverlapOutcome
from celltcp.selection.scenario_runs import Plan, run_scenarios


class Overlap:
    """The best CCAs of each case (scenario and requirement) under both engines."""

    def __init__(self, runs: pd.DataFrame, about: OverlapOrigin) -> None:
        #: Origin: scenarios with their hashes, congestion controls, seeds, kernel.
        self.about: OverlapOrigin = {**about}
        #: A row per run, with its `engine`.
        self.runs = runs

    @cached_property
    def standings(self) -> pd.DataFrame:
        """Mean of every CCA in every case under each engine, and whether it is best."""
        return means_of(self.runs, self.about["requirements"])

    @cached_property
    def cases(self) -> pd.DataFrame:
        """A row per case: the sets of best CCAs, and whether they overlap."""
        return overlaps_of(self.standings)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """CCAs in the set of a single engine, and their differences to the best, largest first."""
        return differences_of(self.standings)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Counts of cases and means over them, per requirement."""
        return summary_of(self.cases)

    def to_json(self) -> OverlapOutcome:
        """Returns all tables as JSON."""
        return {
            **self.about,
            "summary": json_rows(self.summary, dict),
            "cases": json_rows(self.cases, dict),
            "differences": json_rows(self.differences, dict),
            "standings": json_rows(self.standings, dict),
            "runs_table": json_rows(self.runs, dict),
        }

    def save(self, folder: str | Path) -> Path:
        """Writes each table as a Parquet file into `folder`."""
        tables = {
            "runs": self.runs,
            "standings": self.standings,
            "cases": self.cases,
            "differences": self.differences,
            "summary": self.summary,
        }
        return save_frames(tables, self.about, folder, "engines")

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(float_format="{:.3g}".format))


@dataclass(frozen=True)
class OverlapRequest:
    """Planned runs of fixed CCAs on both engines over the same channel realisations."""

    #: A plan per engine.
    plans: Sequence[Plan]
    sources: Sequence[ScenarioSource]
    settings: RunSettings
    #: Origin of the outcome.
    origin: OverlapOrigin

    def estimate(self) -> CostEstimate:
        """Returns the estimated cost of all runs."""
        return estimate_cost(
            jobs for plan in self.plans for source in self.sources for jobs in plan.planned_jobs(source)
        )

    def run(self, progress: Progress | None = None) -> Overlap:
        """Runs the jobs that the folder lacks, and returns the outcome of all runs."""

        def run(existing_runs: int, checkpoint: Checkpoint) -> Frames:
            plans = [replace(plan, existing_runs=existing_runs) for plan in self.plans]
            return {"runs": _run_plans(plans, self.sources, checkpoint, progress)}

        def outcome(frames: Frames) -> Overlap:
            return Overlap(frames["runs"], self.origin)

        return run_resumed(self.settings, "engines", self.origin, ("runs",), run, outcome)


def overlap_request(
    scenarios: str | Sequence[str], requirement: str | Sequence[str], settings: RunSettings
) -> OverlapRequest:
    """Plans the runs of fixed CCAs on both engines, over the same channel realisations.

    Args:
        scenarios: as for `celltcp.scenarios.scenario_list.expand_scenarios`.
        requirement: requirements that rank the CCAs: goodput, balanced, delay.
        settings: settings of the runs. Run i has the first seed plus i on both engines. At least two
            CCAs; `"all"` stands for those of both engines.

    Raises:
        CelltcpError: if an argument is invalid.
    """
    settings.check()
    requirements = split_names(requirement)
    if not requirements:
        raise CelltcpError("requirement: give one at least")
    for name in requirements:
        if name not in REQUIREMENTS:
            raise CelltcpError(
                f"requirement: {name!r} is not evaluated; allowed: {', '.join(REQUIREMENTS)}"
            )
    native, linux = engine(), engine(KERNEL, settings.kernel)
    ccas = fixed_ccas(settings.cca, [name for name in native.ccas if name in linux.ccas])
    if len(ccas) < 2:
        raise CelltcpError(f"cca: {ccas[0]!r} alone is always best; give two at least")
    scenario_list = expand_scenarios(scenarios, settings.source)
    sources = scenario_list.sources
    plans = [Plan(tuple(ccas), (), settings, run_engine) for run_engine in (native, linux)]
    # Plans that cannot run are rejected before the first run.
    digests = {source.name: [plan.check(source) for plan in plans] for source in sources}
    origin: OverlapOrigin = {
        "version": __version__,
        "build": linux.build,
        "kernel_version": linux.kernel.version if linux.kernel else "",
        "requirements": requirements,
        "cca": ccas,
        "scenarios": {source.name: source.scenario.hash for source in sources},
        "digests": digests,
        "left_out": list(scenario_list.left_out),
        "runs": settings.runs,
        "seed": settings.seed,
    }
    if overrides := settings.stored_overrides:
        origin["set"] = overrides
    return OverlapRequest(plans, sources, settings, origin)


def _run_plans(
    plans: Sequence[Plan],
    sources: Sequence[ScenarioSource],
    checkpoint: Checkpoint,
    progress: Progress | None,
) -> pd.DataFrame:
    """Runs the plan of each engine, and returns the runs with their `engine`."""
    runs_by_engine = []
    for index, plan in enumerate(plans):
        frames = run_scenarios(sources, plan, checkpoint, sub_progress(progress, index, len(plans)))
        runs = frames["runs"].drop(columns=["policy", "requirement", "switches", "returns"])
        runs.insert(0, "engine", ENGINES[index])
        runs_by_engine.append(runs)
    return pd.concat(runs_by_engine, ignore_index=True)
