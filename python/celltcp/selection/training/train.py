"""Training: from networks to a policy file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from celltcp._core import describe_cca, describe_policy, sealed_text, selection_features
from celltcp.campaign.cost_estimate import CostEstimate, estimate_cost
from celltcp.campaign.engines import Engine, engine
from celltcp.campaign.run import Workers
from celltcp.campaign.run_settings import workers_of
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.training.counterfactual import (
    Outcomes,
    Point,
    Successor,
    flight_points,
    outcomes,
    start_points,
)
from celltcp.selection.training.dry_run import dry_run_jobs
from celltcp.selection.training.families import Network, networks
from celltcp.selection.training.fit import FittedTree, constant_tree, fit_tree, relative_to_best, scores
from celltcp.selection.training.full_runs import regret, selecting, staying, whole_runs
from celltcp.selection.training.knn_examples import examples_csv, with_bound_features
from celltcp.selection.training.knn_weights import KnnModel, fit_knn
from celltcp.selection.training.moment_features import (
    PATH,
    features_on,
    full_run_outcomes,
    full_run_point,
)
from celltcp.selection.training.plan import BEST_CCAS, FROM_FULL_RUNS, LEARNABLE, START_EVERY, Plan
from celltcp.selection.training.policy_file import policy_text
from celltcp.selection.training.table import read_outcomes, write_outcomes
from celltcp.selection.training.tuning import TuningBench, tune

#: Features that are not learnt from: of the radio, which only some senders know; of the moment,
#: which say nothing about the path; and of the buffer, where loss_queue is known sooner.
LEFT_OUT = (
    *("sinr", "speed"),
    *("age", "trend", "movement", "slow_start", "window_limited"),
    *("buffer", "buffer_ratio"),
)

#: Features that depend on the bound of a requirement.
OF_BOUND = {
    "goodput@": ("base_over_bound", "high_over_bound", "full_over_bound"),
    "delay@": ("capacity_over_floor", "rate_over_floor"),
}

_DESCRIPTION = "What each CCA made of the moments most alike, on networks drawn at random, decides."

#: Name of the policy among fixed CCAs.
POLICY = "policy"

#: By requirement: of the policy and of each congestion control that stays.
Losses = dict[str, dict[str, float]]

#: Called with what is being done, and the share of it that is done.
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Training:
    """Outcome of a training."""

    #: The text of the policy file.
    text: str
    #: What decides for each requirement, at the start and in flight.
    trees: list[FittedTree | KnnModel]
    #: Moments that were used.
    cases: int
    #: Mean loss in whole runs on networks that nothing was learnt from, against the best of each, by
    #: requirement, in parts of the best.
    losses: Losses


def train(
    name: str,
    scenarios: Sequence[str] = (),
    requirements: Sequence[str] = LEARNABLE,
    cca: Sequence[str] | str = (),
    *,
    each: int = 12,
    moments_each: int = 5,
    whole_each: int = 4,
    leaves: int = 8,
    least: int = 20,
    seed: int = 1,
    jobs: int | None = None,
    cluster: str | None = None,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> Training:
    """Trains a policy on networks drawn at random.

    At moments of runs on these networks every CCA takes over in a run of its own. These moments become
    part of the policy, which decides by those most alike. For goodput a tree learns from whole runs
    instead. Then every CCA starts a connection that continues so, and a tree learns with which CCA to
    start. Whole
    runs on other networks set the start, which may be one CCA for all, and the margins. Whole runs on a
    holdout of networks measure the result.

    Args:
        name: of the policy.
        scenarios: families of networks; all if none is given.
        requirements: goodput, balanced, delay, goodput@, delay@, power. Bounds are drawn for each
            network.
        cca: congestion controls to choose from; if none is given, those of Linux that need nothing of
            the receiver.
        each: networks of each family.
        moments_each: later moments of each network, beside its establishment.
        whole_each: networks of each family for whole runs, twice.
        leaves: most leaves of a tree.
        least: fewest moments in a leaf.
        seed: of the draws.
        jobs: runs at a time; all cores unless given.
        cluster: address of a Dask scheduler whose workers do the runs, such as `"tcp://host:8786"`.
        kept: table of outcomes; what is in it is not run again, and what is measured is added.
        progress: called with what is being done and the share of it that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    wanted = Plan(scenarios, requirements, cca, each, moments_each, whole_each, leaves, least, seed)
    return training_request(name, wanted, workers_of(jobs, cluster), kept).run(progress)


@dataclass(frozen=True)
class TrainingRequest:
    """Training of a policy, planned and checked."""

    #: Name of the policy.
    name: str
    plan: Plan
    engine: Engine
    workers: Workers
    #: Table of outcomes.
    kept: Path | None
    #: Networks to grow trees of.
    drawn: Sequence[Network]

    def estimate(self) -> CostEstimate:
        """Returns what all runs would take."""
        return estimate_cost(dry_run_jobs(self.plan, self.engine))

    def run(self, progress: Progress | None = None) -> Training:
        """Does the runs that the table of outcomes has not, and trains the policy."""
        trainer = _Trainer(self.plan, self.engine, self.workers, self.kept, progress)
        return trainer.train(self.name, self.drawn)


def training_request(name: str, wanted: Plan, workers: Workers, kept: Path | None) -> TrainingRequest:
    """Plans a training.

    Args:
        name: of the policy.
        wanted: families, requirements and CCAs as `train` takes them.
        workers: runs at a time, or a cluster.
        kept: table of outcomes.
    """
    native = engine()
    plan = wanted.resolved(native.ccas)
    drawn = list(networks(plan.families, plan.each, plan.seed))
    plan.check()
    return TrainingRequest(name, plan, native, workers, kept, drawn)


@dataclass
class _Trainer:
    plan: Plan
    engine: Engine
    workers: Workers
    kept: Path | None
    progress: Progress | None
    known: Outcomes = field(default_factory=Outcomes)
    #: Moments that are part of the policy.
    moments: Outcomes = field(default_factory=Outcomes)

    def __post_init__(self) -> None:
        if self.kept is not None and self.kept.exists():
            self.known = read_outcomes(self.kept, self.plan.ccas)

    def train(self, name: str, drawn: Sequence[Network]) -> Training:
        plan = self.plan
        paths = self._paths(drawn)
        best = {each: _best_constants(paths, each, plan.ccas) for each in plan.requirements}
        points = {each: self._moments(drawn, each, best) for each in plan.requirements}
        by_path = [point for each in points if each in FROM_FULL_RUNS for point in points[each]]
        self._see(by_path, paths)
        taken = [point for each in points if each not in FROM_FULL_RUNS for point in points[each]]
        self._take_over(taken)
        self.moments = with_bound_features(self.known.of(dict.fromkeys(taken)))
        trees: list[FittedTree | KnnModel] = []
        cases = 0
        others = list(networks(plan.families, plan.whole_each, plan.seed + 1))
        for requirement in plan.requirements:
            baseline = best[requirement][0]
            result = self.known.of(points[requirement])
            cases += len(result.points)
            flight = self._flight(result, requirement, baseline)
            leaves = {cca: constant_tree(requirement, cca, paths) for cca in plan.ccas}
            successor = Successor(requirement, self._starting_with(leaves, flight))
            begun = self._start_outcomes(drawn, requirement, successor)
            cases += len(begun.points)
            start = self._grow(begun, requirement, "start", baseline)
            bench = TuningBench(
                others, self.engine, self.workers, self._report(f"{requirement}, trials")
            )
            trees += tune([start, *leaves.values()], flight, self._candidate, bench)
        losses = self._losses(trees)
        remarks = {requirement: _remark(lost) for requirement, lost in losses.items()}
        families = sorted(plan.families)
        unsealed = policy_text(
            name,
            _DESCRIPTION,
            plan.command,
            _features(),
            families,
            trees,
            self._examples(trees),
            remarks,
            _instead(paths, plan.requirements, plan.ccas),
        )
        text = sealed_text(unsealed)
        describe_policy(name, text)
        return Training(text, trees, cases, losses)

    def _paths(self, drawn: Sequence[Network]) -> Outcomes:
        """Returns the outcomes of whole runs of each fixed CCA."""
        known = set(self.known.points)
        missing = [each for each in drawn if full_run_point(each) not in known]
        ccas, on_progress = self.plan.ccas, self._report("fixed CCAs")
        self._keep(
            full_run_outcomes(missing, ccas, self.engine, workers=self.workers, progress=on_progress)
        )
        return self.known.of(map(full_run_point, drawn))

    def _moments(
        self, drawn: Sequence[Network], requirement: str, best: Mapping[str, Sequence[str]]
    ) -> list[Point]:
        """Returns moments of each network, under CCAs that are among the best for requirements.

        All requirements that are learnt from switches share theirs. The selector at a moment has a
        requirement with a bound, so that the features of the bound are known.
        """
        plan = self.plan
        if requirement not in FROM_FULL_RUNS:
            under = [cca for each in best if each not in FROM_FULL_RUNS for cca in best[each]]
            points = flight_points(drawn, under, plan.moments_each, plan.seed)
            return [_bounded(point, "delay@") for point in points]
        return [
            replace(_bounded(point, "goodput@"), then=PATH)
            for number, cca in enumerate(best[requirement])
            for point in flight_points(drawn, [cca], plan.moments_each, plan.seed + 7 * number)
        ]

    def _see(self, points: Sequence[Point], paths: Outcomes) -> None:
        known = set(self.known.points)
        missing = [point for point in points if point not in known]
        parts = {point.network: each for point, each in zip(paths.points, paths.parts, strict=True)}
        on_progress = self._report("paths in flight")
        self._keep(features_on(missing, parts, self.engine, workers=self.workers, progress=on_progress))

    def _take_over(self, points: Sequence[Point]) -> None:
        """Measures what every CCA makes of each moment."""
        known = set(self.known.points)
        missing = [point for point in dict.fromkeys(points) if point not in known]
        ccas, on_progress = self.plan.ccas, self._report("in flight")
        self._keep(outcomes(missing, ccas, self.engine, workers=self.workers, progress=on_progress))

    def _start_outcomes(
        self, drawn: Sequence[Network], requirement: str, successor: Successor
    ) -> Outcomes:
        """Returns the outcomes of every start, on some of the networks."""
        plan = self.plan
        points = start_points(drawn[::START_EVERY], successor, plan.seed)
        known = set(self.known.points)
        missing = [point for point in points if point not in known]
        ccas, on_progress = plan.ccas, self._report(f"{requirement}, start")
        self._keep(
            outcomes(
                missing,
                ccas,
                self.engine,
                successor=successor,
                workers=self.workers,
                progress=on_progress,
            )
        )
        return self.known.of(points)

    def _keep(self, batches: Iterable[Outcomes]) -> None:
        """Adds outcomes to those that are known, and to the table."""
        for batch in batches:
            self.known.extend(batch)
            if self.kept is not None:
                write_outcomes(self.known, self.plan.ccas, self.kept)

    def _flight(self, result: Outcomes, requirement: str, baseline: str) -> FittedTree | KnnModel:
        if requirement in FROM_FULL_RUNS:
            return self._grow(result, requirement, "flight", baseline)
        plan = self.plan
        return fit_knn(self.moments, requirement, plan.ccas, _features_for(requirement), plan.seed)

    def _examples(self, trees: Sequence[FittedTree | KnnModel]) -> str:
        """Returns the table of the moments, with the features that count; empty if none are asked."""
        counting = {name for each in trees if isinstance(each, KnnModel) for name in each.weights}
        features = [name for name in _features() if name in counting]
        return examples_csv(self.moments, self.plan.ccas, features) if counting else ""

    def _grow(self, result: Outcomes, requirement: str, moment: str, baseline: str) -> FittedTree:
        plan = self.plan
        return fit_tree(
            result,
            requirement,
            moment,
            plan.ccas,
            _features_for(requirement),
            leaves=plan.leaves,
            least=plan.least,
            # With a bound the best CCA differs so much between networks that there is no baseline.
            baseline=None if requirement in OF_BOUND else baseline,
        )

    def _starting_with(
        self, leaves: Mapping[str, FittedTree], flight: FittedTree | KnnModel
    ) -> Callable[[str], str]:
        return lambda cca: self._candidate([leaves[cca or self.plan.ccas[0]], flight])

    def _candidate(self, trees: Sequence[FittedTree | KnnModel]) -> str:
        table = self._examples(trees)
        return policy_text("candidate", _DESCRIPTION, "", _features(), (), trees, table)

    def _losses(self, trees: Sequence[FittedTree | KnnModel]) -> Losses:
        """Returns the losses of the policy and of each fixed CCA on held-out networks."""
        plan, on_progress = self.plan, self._report("whole runs")
        drawn = list(networks(plan.families, plan.whole_each, plan.seed + 2))
        text = self._candidate(trees)
        single = dict.fromkeys([DEFAULT, *plan.ccas])
        measures = whole_runs(
            drawn,
            {f"auto {each}": selecting(text, each) for each in plan.requirements}
            | {cca: staying(cca) for cca in single},
            plan.requirements,
            self.engine,
            workers=self.workers,
            progress=on_progress,
        )
        losses = {}
        for requirement in plan.requirements:
            columns = {f"auto {requirement}": POLICY, **{cca: cca for cca in single}}
            selected = measures[requirement][list(columns)].rename(columns=columns)
            losses[requirement] = regret(selected)
        return losses

    def _report(self, doing: str) -> Callable[[float], None] | None:
        progress = self.progress
        return (lambda share: progress(doing, share)) if progress else None


def _bounded(point: Point, requirement: str) -> Point:
    """Returns the moment as a selector for this requirement sees it, whose features know its bound."""
    return replace(point, requirement=point.network.required(requirement))


def _best_constants(paths: Outcomes, requirement: str, ccas: Sequence[str]) -> list[str]:
    """Returns the fixed CCAs with the lowest mean regrets, the best first."""
    means = relative_to_best(scores(paths, requirement, ccas)).mean(axis=0)
    order = sorted(range(len(ccas)), key=lambda column: (-means[column], ccas[column]))
    return [ccas[column] for column in order[:BEST_CCAS]]


def _instead(paths: Outcomes, requirements: Sequence[str], ccas: Sequence[str]) -> dict[str, str]:
    """Returns for each CCA that Linux lacks the one of Linux whose outcomes are nearest."""
    linux = [cca for cca in ccas if describe_cca(cca)["linux"]]
    if not linux:
        return {}
    measured = [relative_to_best(scores(paths, requirement, ccas)) for requirement in requirements]
    column = {
        cca: np.concatenate([each[:, place] for each in measured]) for place, cca in enumerate(ccas)
    }

    def distance(cca: str, other: str) -> float:
        return float(np.abs(column[cca] - column[other]).mean())

    lacking = [cca for cca in ccas if cca not in linux]
    return {cca: min(linux, key=lambda other: (distance(cca, other), other)) for cca in lacking}


def _features() -> list[str]:
    return [each for each, _ in selection_features() if each not in LEFT_OUT]


def _features_for(requirement: str) -> list[str]:
    """Returns the features to learn a requirement from: those of the bounds of others are left out."""
    others = {name for kind, names in OF_BOUND.items() if kind != requirement for name in names}
    return [each for each in _features() if each not in others]


def _remark(losses: dict[str, float]) -> str:
    """Returns the losses of whole runs in a sentence."""
    best = min((label for label in losses if label != POLICY), key=lambda label: losses[label])
    return (
        "Whole runs on networks that nothing was learnt from: "
        f"{losses[POLICY]:.2%} below the best of each; {best}, the best single one, {losses[best]:.2%}."
    )
