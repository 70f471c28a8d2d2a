"""Evaluation: policies compared with fixed CCAs, the best of these in hindsight, and each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from celltcp._core import NATIVE, CelltcpError, __version__
from celltcp.campaign.cost_estimate import CostEstimate, estimate_cost
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.results.rows import json_rows, json_value
from celltcp.results.statistics import Estimate
from celltcp.scenarios.changes import Changes
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.requirements import REQUIREMENTS
from celltcp.scenarios.scenario_list import expand_scenarios, split_names
from celltcp.scenarios.scenarios import ScenarioSource
from celltcp.selection.baselines import baselines_of
from celltcp.selection.calibration import COLUMNS, calibration_of, reliability_of
from celltcp.selection.candidates import DEFAULT, REFERENCE_POLICIES, fixed_ccas, policy_uses
from celltcp.selection.cases import cases_of, pairwise_of, summary_of
from celltcp.selection.checkpoint import Checkpoint, Frames, run_resumed, save_frames
from celltcp.selection.mean_switch_cost import SwitchCost, mean_switch_cost
from celltcp.selection.outcomes import evaluation as rows
from celltcp.selection.outcomes.evaluation import EvaluationOutcome, Settings
from celltcp.selection.scenario_runs import Plan, run_scenarios
from celltcp.selection.tally import PUBLISHED, RULE, tally_of
from celltcp.selection.worst_cases import worst_cases_of


class Evaluation:
    """Outcome of policies on scenarios: runs, cases, checks, tally, and the cost of switches."""

    def __init__(self, frames: Frames, about: Settings) -> None:
        #: Origin: policies, scenarios with their hashes, seeds, number of earlier connections.
        self.about: Settings = {**about}
        self._frames = frames

    @property
    def runs(self) -> pd.DataFrame:
        """A row per run; `policy` and `requirement` are empty for fixed CCAs."""
        return self._frames["runs"]

    @property
    def decisions(self) -> pd.DataFrame:
        """A row per decision of a selector."""
        return self._frames["decisions"]

    @property
    def histories(self) -> pd.DataFrame:
        """Memories of policies before the runs: `scenario`, `policy`, `memory` (text)."""
        return self._frames["histories"]

    @property
    def costs(self) -> pd.DataFrame | None:
        """A row per switch (`celltcp.selection.switch_cost.costs_of`); None unless requested."""
        return self._frames.get("costs")

    @cached_property
    def cases(self) -> pd.DataFrame:
        """A row per scenario, requirement and policy: gain, regret and verdicts."""
        return cases_of(self.runs)

    @cached_property
    def duels(self) -> pd.DataFrame:
        """Every policy against every fixed CCA and every other policy, by case."""
        return pairwise_of(self.runs)

    @cached_property
    def checks(self) -> pd.DataFrame:
        """Counts of cases and means over them, per policy and requirement."""
        return summary_of(self.cases)

    @cached_property
    def best_for_all(self) -> pd.DataFrame:
        """The best constant: the fixed CCA with the lowest mean regret, per requirement."""
        return best_constant_of(self.runs)

    @cached_property
    def baselines(self) -> pd.DataFrame:
        """Regrets of choices among fixed CCAs, which a policy must undercut, and of the policies."""
        return baselines_of(self.runs)

    @cached_property
    def worst(self) -> pd.DataFrame:
        """The cases with the highest regret of each policy, with their causes."""
        return worst_cases_of(self.cases, self.runs, self.decisions)

    @property
    def expectations(self) -> pd.DataFrame:
        """A row per decision with an expectation (`celltcp.selection.calibration.expectations_of`)."""
        empty = pd.DataFrame(columns=["scenario", *COLUMNS, "policy", "requirement"])
        expectations = self._frames.get("expectations", empty)
        return empty if expectations.empty else expectations

    @cached_property
    def calibration(self) -> pd.DataFrame:
        """Errors of expectations, per policy, requirement and moment."""
        return calibration_of(self.expectations)

    @cached_property
    def reliability(self) -> pd.DataFrame:
        """The reliability diagram: realised measures by bins of expected ones."""
        return reliability_of(self.expectations)

    @cached_property
    def tally(self) -> pd.DataFrame:
        """Number of cases per policy and outcome, counted as in atxutegi2018-thesis section 6.3.4."""
        return tally_of(self.runs)

    @property
    def prices(self) -> dict[str, SwitchCost]:
        """Mean cost of switches, by policy that made one; empty if it was not measured."""
        costs = self.costs
        if costs is None or costs.empty:
            return {}
        return {
            str(policy): mean_switch_cost(group)
            for policy, group in costs.groupby("policy", sort=False)
        }

    #: `plot()` draws gain over the default and regret to the best in hindsight, case by case.
    plot = LazyAttribute()

    #: `plot_reliability()` draws realised measures over expected ones.
    plot_reliability = LazyAttribute()

    def to_json(self) -> EvaluationOutcome:
        """Returns everything except the decisions as JSON."""
        return {
            **self.about,
            "tally_rule": RULE,
            "tally_published": PUBLISHED,
            "tally": json_rows(self.tally, rows.TallyRow),
            "checks": json_rows(self.checks, rows.CheckRow),
            "best_for_all": json_rows(self.best_for_all, rows.CheckRow),
            "baselines": json_rows(self.baselines, rows.BaselineRow),
            "worst": json_rows(self.worst, rows.WorstRow),
            "calibration": json_rows(self.calibration, rows.CalibrationRow),
            "reliability": json_rows(self.reliability, rows.ReliabilityRow),
            "cases": json_rows(self.cases, rows.CaseRow),
            "duels": json_rows(self.duels, rows.DuelRow),
            "switches": {policy: _cost_json(cost) for policy, cost in self.prices.items()},
            "histories": json_rows(self.histories, rows.HistoryRow),
            "runs_table": json_rows(self.runs, dict),
        }

    def save(self, folder: str | Path) -> Path:
        """Writes each table as a Parquet file into `folder`."""
        tables = {
            **self._frames,
            "cases": self.cases,
            "duels": self.duels,
            "checks": self.checks,
            "best_for_all": self.best_for_all,
            "baselines": self.baselines,
            "worst": self.worst,
            "calibration": self.calibration,
            "reliability": self.reliability,
            "tally": self.tally,
        }
        return save_frames(tables, self.about, folder, "evaluate")

    def _repr_html_(self) -> str:
        return str(self.checks.to_html(float_format="{:.3g}".format))


def evaluate(
    policy: str | Sequence[str],
    scenarios: str | Sequence[str],
    runs: int = 10,
    requirement: str | Sequence[str] = tuple(REQUIREMENTS),
    cca: str | Sequence[str] = "all",
    *,
    against: str | Sequence[str] = REFERENCE_POLICIES,
    hints: bool = False,
    history: int = 4,
    switches: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    cluster: str | None = None,
    engine: str = NATIVE,
    kernel: str | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Runs policies and fixed CCAs over the same channel realisations.

    Args:
        policy: policies: names of built-in ones, or files.
        scenarios: as for `celltcp.scenarios.scenario_list.expand_scenarios`.
        runs: number of runs of each combination; run i has `seed + i`.
        requirement: requirements of policies: goodput, balanced, delay, fct, power, one with a bound
            such as `"delay@2Mbps"`, or weights of PM such as `"1/5/1"`.
        cca: fixed CCAs, among them the best in hindsight; CUBIC is always included.
        against: other policies to compare with.
        hints: whether all policies get SINR and speed from the radio; table policies always do.
        history: number of earlier connections to the destination for policies with a memory. They use
            the candidates in turn, and seeds that are not evaluated.
        switches: whether to measure the cost of switches, which takes one more run per switch.
        seed: seed of the first run.
        jobs: number of parallel runs; by default one per core.
        cluster: address of a Dask scheduler whose workers do the runs, such as `"tcp://host:8786"`.
        engine: `"native"` or `"kernel"`.
        kernel: version of the kernel.
        set: scenario fields to override in all scenarios.
        out: folder for checkpoints and results.
        overwrite: whether other results in that folder may be replaced.
        progress: called with the finished share.

    Raises:
        CelltcpError: if an argument is invalid.
    """
    policies = PolicySettings(policy, requirement, against, hints, history, switches)
    settings = RunSettings(
        cca=cca,
        runs=runs,
        seed=seed,
        jobs=jobs,
        cluster=cluster,
        engine=engine,
        kernel=kernel,
        changes=set,
        out=out,
        overwrite=overwrite,
    )
    return evaluation_request(policies, scenarios, settings).run(progress)


@dataclass(frozen=True)
class PolicySettings:
    """Settings of an evaluation other than those of its runs; `evaluate` describes them."""

    policy: str | Sequence[str]
    requirement: str | Sequence[str] = tuple(REQUIREMENTS)
    against: str | Sequence[str] = REFERENCE_POLICIES
    hints: bool = False
    history: int = 4
    switches: bool = False


@dataclass(frozen=True)
class EvaluationRequest:
    """Planned runs of policies and fixed CCAs over the same channel realisations."""

    plan: Plan
    sources: Sequence[ScenarioSource]
    #: Origin of the outcome.
    origin: Settings

    def estimate(self) -> CostEstimate:
        """Returns the estimated cost of all runs without the replays that measure switches."""
        return estimate_cost(jobs for source in self.sources for jobs in self.plan.planned_jobs(source))

    def run(self, progress: Progress | None = None) -> Evaluation:
        """Runs the jobs that the folder lacks, and returns the outcome of all."""

        def run(existing_runs: int, checkpoint: Checkpoint) -> Frames:
            plan = replace(self.plan, existing_runs=existing_runs)
            return run_scenarios(self.sources, plan, checkpoint, progress)

        def outcome(frames: Frames) -> Evaluation:
            return Evaluation(frames, self.origin)

        names = ("runs", "decisions", "expectations", "histories", "costs")
        return run_resumed(self.plan.settings, "evaluate", self.origin, names, run, outcome)


def evaluation_request(
    policies: PolicySettings, scenarios: str | Sequence[str], settings: RunSettings
) -> EvaluationRequest:
    """Plans the runs of policies and fixed CCAs on each scenario."""
    settings.check()
    history = policies.history
    if history < 0:
        raise CelltcpError(f"history: {history} is not a number from 0 on")
    evaluated = split_names(policies.policy)
    all_policies = list(dict.fromkeys([*evaluated, *split_names(policies.against)]))
    requirements = split_names(policies.requirement)
    for name, values in (("policy", evaluated), ("requirement", requirements)):
        if not values:
            raise CelltcpError(f"{name}: give one at least")
    uses = policy_uses(all_policies, requirements, policies.hints, has_memory=history > 0)
    engine = settings.find_engine()
    fixed = tuple(dict.fromkeys([DEFAULT, *fixed_ccas(settings.cca, engine.ccas)]))
    scenario_list = expand_scenarios(scenarios, settings.source)
    sources = scenario_list.sources
    plan = Plan(fixed, tuple(uses), settings, engine, history, policies.switches)
    # Plans that cannot run are rejected before the first run.
    digests = {source.name: plan.check(source) for source in sources}
    origin: Settings = {
        "version": __version__,
        "build": engine.build,
        "engine": engine.key,
        "policies": evaluated,
        "against": all_policies[len(evaluated) :],
        "requirements": list(dict.fromkeys(use.requirement for use in uses)),
        "cca": list(fixed),
        "hints": {use.policy: use.gets_hints for use in uses},
        "history": {use.policy: history for use in uses if use.learned_ccas},
        "scenarios": {source.name: source.scenario.hash for source in sources},
        "digests": digests,
        "left_out": list(scenario_list.left_out),
        "switches": policies.switches,
        "runs": settings.runs,
        "seed": settings.seed,
    }
    if overrides := settings.stored_overrides:
        origin["set"] = overrides
    return EvaluationRequest(plan, sources, origin)


def _cost_json(cost: SwitchCost) -> dict[str, Any]:
    return {
        name: {"mean": json_value(value.mean), "ci95": value.ci95}
        if isinstance(value, Estimate)
        else value
        for name, value in vars(cost).items()
    }


def best_constant_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the fixed CCA with the lowest mean regret over all cases, per requirement and for all.

    It is evaluated like a policy that never switches. `policy` is the name of the CCA; other columns
    are those of `summary_of`. CCAs without a value in some case are left out.

    Args:
        runs: as for `cases_of`.
    """
    fixed = runs[runs["policy"] == ""]
    case_keys = runs.loc[runs["policy"] != "", ["scenario", "requirement"]].drop_duplicates()
    as_policies = fixed.drop(columns=["policy", "requirement"]).merge(case_keys, on="scenario")
    as_policies["policy"] = as_policies["label"]
    cases = cases_of(pd.concat([fixed, as_policies], ignore_index=True))
    is_complete = cases.groupby("policy")["regret"].transform(lambda regrets: regrets.notna().all())
    summary = summary_of(cases[is_complete])
    if summary.empty:
        return summary
    lowest = summary.groupby("requirement", sort=False)["regret"].idxmin()
    best: pd.DataFrame = summary.loc[lowest].reset_index(drop=True)
    return best
