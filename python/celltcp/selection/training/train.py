"""Training of a selection policy from counterfactual runs on random simulated networks."""

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
    counterfactual_outcomes,
    flight_points,
    start_points,
)
from celltcp.selection.training.dry_run import dry_run_jobs
from celltcp.selection.training.families import Network, draw_networks
from celltcp.selection.training.fit import FittedTree, constant_tree, fit_tree, relative_to_best, scores
from celltcp.selection.training.full_runs import (
    fixed_cca_flow,
    full_run_measures,
    regret,
    selector_flow,
)
from celltcp.selection.training.knn_examples import examples_csv, with_bound_features
from celltcp.selection.training.knn_weights import KnnModel, fit_knn
from celltcp.selection.training.moment_features import (
    OF_FULL_RUN,
    full_run_outcomes,
    full_run_point,
    measure_features,
)
from celltcp.selection.training.plan import BEST_CCAS, FROM_FULL_RUNS, LEARNABLE, START_EVERY, Plan
from celltcp.selection.training.policy_file import policy_text
from celltcp.selection.training.table import read_outcomes, write_outcomes
from celltcp.selection.training.tuning import TuningBench, tune

#: Features excluded from fitting: radio features, known to some senders only; state of the connection,
#: which says nothing about the path; buffer features, as loss_queue is known sooner.
EXCLUDED_FEATURES = (
    *("sinr", "speed"),
    *("age", "trend", "movement", "slow_start", "window_limited"),
    *("buffer", "buffer_ratio"),
)

#: Features that depend on the bound of a requirement, by its kind.
BOUND_FEATURES = {
    "goodput@": ("base_over_bound", "high_over_bound", "full_over_bound"),
    "delay@": ("capacity_over_floor", "rate_over_floor"),
}

_DESCRIPTION = (
    "kNN over the measured outcomes of each CCA in similar states of connections on random networks; "
    "for goodput and at the start decision trees."
)

#: Name of the policy among fixed CCAs.
POLICY = "policy"

#: Mean regret by requirement, of the policy and of each fixed CCA.
Regrets = dict[str, dict[str, float]]

#: Called with the name of a step and the share of it that is done.
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class TrainingResult:
    """Policy file of a training, its models and their regret."""

    #: The text of the policy file.
    text: str
    #: Fitted models: per requirement one for the start and one for running connections.
    models: list[FittedTree | KnnModel]
    #: Number of points (network, CCA, time) that were fitted.
    points: int
    #: Mean regret in full runs on held-out networks, relative to the best of them on each network.
    regrets: Regrets


def train(
    name: str,
    scenarios: Sequence[str] = (),
    requirements: Sequence[str] = LEARNABLE,
    cca: Sequence[str] | str = (),
    *,
    networks: int = 12,
    samples: int = 5,
    full_runs: int = 4,
    max_leaves: int = 8,
    min_samples_leaf: int = 20,
    seed: int = 1,
    jobs: int | None = None,
    cluster: str | None = None,
    outcomes_file: Path | None = None,
    progress: Progress | None = None,
) -> TrainingResult:
    """Trains a policy on random networks.

    Runs on these networks are branched at sampled times, once per CCA. The outcomes are the kNN
    examples of the policy; for goodput a tree is fitted to full runs instead. Then connections are
    started with each CCA and continued under that policy, and a second tree is fitted for the start.
    Full runs on other networks tune the start, which may be one CCA for all networks, and the margins.
    A third set of networks measures the regret.

    Args:
        name: of the policy.
        scenarios: families of networks; all if none is given.
        requirements: goodput, balanced, delay, goodput@, delay@, power. Bounds are drawn for each
            network.
        cca: congestion controls to choose from; if none is given, those of Linux that need no support
            of the receiver.
        networks: number of networks of each family.
        samples: number of sampled times on each network, in addition to its establishment.
        full_runs: networks of each family for full runs: as many to tune, and as many to test.
        max_leaves: maximum of leaves of a tree.
        min_samples_leaf: minimum of samples in a leaf.
        seed: seed of all draws.
        jobs: number of runs at a time; all cores unless given.
        cluster: address of a Dask scheduler whose workers do the runs, such as `"tcp://host:8786"`.
        outcomes_file: table of outcomes. Outcomes in it are not run again; new ones are added.
        progress: called with the name of a step and the share of it that is done.

    Raises:
        CelltcpError: if an argument is invalid.
    """
    requested = Plan(
        families=scenarios,
        requirements=requirements,
        ccas=cca,
        networks=networks,
        samples=samples,
        full_runs=full_runs,
        max_leaves=max_leaves,
        min_samples_leaf=min_samples_leaf,
        seed=seed,
    )
    return training_request(name, requested, workers_of(jobs, cluster), outcomes_file).run(progress)


@dataclass(frozen=True)
class TrainingRequest:
    """Training of a policy, planned and checked."""

    #: Name of the policy.
    name: str
    plan: Plan
    engine: Engine
    workers: Workers
    #: Table of outcomes.
    outcomes_file: Path | None
    #: Networks whose runs are fitted.
    training_networks: Sequence[Network]

    def estimate(self) -> CostEstimate:
        """Returns the estimated cost of all runs."""
        return estimate_cost(dry_run_jobs(self.plan, self.engine))

    def run(self, progress: Progress | None = None) -> TrainingResult:
        """Simulates the runs that are missing in the table of outcomes, and trains the policy."""
        trainer = _Trainer(self.plan, self.engine, self.workers, self.outcomes_file, progress)
        return trainer.train(self.name, self.training_networks)


def training_request(
    name: str, requested: Plan, workers: Workers, outcomes_file: Path | None
) -> TrainingRequest:
    """Plans and checks a training.

    Args:
        name: of the policy.
        requested: families, requirements and CCAs as `train` accepts them.
        workers: number of runs at a time, or a cluster.
        outcomes_file: table of outcomes.
    """
    native = engine()
    plan = requested.resolved(native.ccas)
    training_networks = list(draw_networks(plan.families, plan.networks, plan.seed))
    plan.check()
    return TrainingRequest(name, plan, native, workers, outcomes_file, training_networks)


@dataclass
class _Trainer:
    plan: Plan
    engine: Engine
    workers: Workers
    outcomes_file: Path | None
    progress: Progress | None
    known: Outcomes = field(default_factory=Outcomes)
    #: kNN examples of the policy.
    examples: Outcomes = field(default_factory=Outcomes)

    def __post_init__(self) -> None:
        if self.outcomes_file is not None and self.outcomes_file.exists():
            self.known = read_outcomes(self.outcomes_file, self.plan.ccas)

    def train(self, name: str, training_networks: Sequence[Network]) -> TrainingResult:
        plan = self.plan
        full_runs = self._full_runs(training_networks)
        best = {
            requirement: _best_fixed_ccas(full_runs, requirement, plan.ccas)
            for requirement in plan.requirements
        }
        points = {
            requirement: self._flight_points(training_networks, requirement, best)
            for requirement in plan.requirements
        }
        full_run_points = [
            point
            for requirement in points
            if requirement in FROM_FULL_RUNS
            for point in points[requirement]
        ]
        self._measure_features(full_run_points, full_runs)
        switch_points = [
            point
            for requirement in points
            if requirement not in FROM_FULL_RUNS
            for point in points[requirement]
        ]
        self._run_counterfactuals(switch_points)
        self.examples = with_bound_features(self.known.select(dict.fromkeys(switch_points)))
        models: list[FittedTree | KnnModel] = []
        fitted_points = 0
        tuning_networks = list(draw_networks(plan.families, plan.full_runs, plan.seed + 1))
        for requirement in plan.requirements:
            baseline = best[requirement][0]
            flight_outcomes = self.known.select(points[requirement])
            fitted_points += len(flight_outcomes.points)
            flight = self._fit_flight(flight_outcomes, requirement, baseline)
            constant_trees = {cca: constant_tree(requirement, cca, full_runs) for cca in plan.ccas}
            successor = Successor(requirement, self._starting_with(constant_trees, flight))
            start_outcomes = self._start_outcomes(training_networks, requirement, successor)
            fitted_points += len(start_outcomes.points)
            start = self._fit_tree(start_outcomes, requirement, "start", baseline)
            bench = TuningBench(
                tuning_networks, self.engine, self.workers, self._report(f"{requirement}, trials")
            )
            models += tune([start, *constant_trees.values()], flight, self._candidate, bench)
        regrets = self._regrets(models)
        remarks = {requirement: _remark(by_label) for requirement, by_label in regrets.items()}
        families = sorted(plan.families)
        unsealed = policy_text(
            name,
            _DESCRIPTION,
            plan.command,
            _features(),
            families,
            models,
            self._examples_csv(models),
            remarks,
            _kernel_substitutes(full_runs, plan.requirements, plan.ccas),
        )
        text = sealed_text(unsealed)
        describe_policy(name, text)
        return TrainingResult(text, models, fitted_points, regrets)

    def _full_runs(self, training_networks: Sequence[Network]) -> Outcomes:
        """Returns the outcomes of full runs of each fixed CCA."""
        known = set(self.known.points)
        missing = [network for network in training_networks if full_run_point(network) not in known]
        ccas, on_progress = self.plan.ccas, self._report("fixed CCAs")
        self._store(
            full_run_outcomes(missing, ccas, self.engine, workers=self.workers, progress=on_progress)
        )
        return self.known.select(map(full_run_point, training_networks))

    def _flight_points(
        self,
        training_networks: Sequence[Network],
        requirement: str,
        best: Mapping[str, Sequence[str]],
    ) -> list[Point]:
        """Returns sampled points of each network, under the CCAs that are best for requirements.

        Requirements learnt from switches share one list of points. Each point has a requirement with a
        bound, so that the bound features have values.
        """
        plan = self.plan
        if requirement not in FROM_FULL_RUNS:
            ccas = [cca for other in best if other not in FROM_FULL_RUNS for cca in best[other]]
            points = flight_points(training_networks, ccas, plan.samples, plan.seed)
            return [_bounded(point, "delay@") for point in points]
        return [
            replace(_bounded(point, "goodput@"), variant=OF_FULL_RUN)
            for rank, cca in enumerate(best[requirement])
            for point in flight_points(training_networks, [cca], plan.samples, plan.seed + 7 * rank)
        ]

    def _measure_features(self, points: Sequence[Point], full_runs: Outcomes) -> None:
        """Measures the features at each point; its outcomes are those of the full runs."""
        known = set(self.known.points)
        missing = [point for point in points if point not in known]
        parts_by_network = {
            point.network: parts for point, parts in zip(full_runs.points, full_runs.parts, strict=True)
        }
        on_progress = self._report("paths in flight")
        self._store(
            measure_features(
                missing, parts_by_network, self.engine, workers=self.workers, progress=on_progress
            )
        )

    def _run_counterfactuals(self, points: Sequence[Point]) -> None:
        """Measures the outcome of a switch to each CCA at each point."""
        known = set(self.known.points)
        missing = [point for point in dict.fromkeys(points) if point not in known]
        ccas, on_progress = self.plan.ccas, self._report("in flight")
        self._store(
            counterfactual_outcomes(
                missing, ccas, self.engine, workers=self.workers, progress=on_progress
            )
        )

    def _start_outcomes(
        self, training_networks: Sequence[Network], requirement: str, successor: Successor
    ) -> Outcomes:
        """Returns the outcomes of a start with each CCA, on some of the networks."""
        plan = self.plan
        points = start_points(training_networks[::START_EVERY], successor, plan.seed)
        known = set(self.known.points)
        missing = [point for point in points if point not in known]
        ccas, on_progress = plan.ccas, self._report(f"{requirement}, start")
        self._store(
            counterfactual_outcomes(
                missing,
                ccas,
                self.engine,
                successor=successor,
                workers=self.workers,
                progress=on_progress,
            )
        )
        return self.known.select(points)

    def _store(self, batches: Iterable[Outcomes]) -> None:
        """Adds outcomes to the known ones, and to the table."""
        for batch in batches:
            self.known.extend(batch)
            if self.outcomes_file is not None:
                write_outcomes(self.known, self.plan.ccas, self.outcomes_file)

    def _fit_flight(self, outcomes: Outcomes, requirement: str, baseline: str) -> FittedTree | KnnModel:
        if requirement in FROM_FULL_RUNS:
            return self._fit_tree(outcomes, requirement, "flight", baseline)
        plan = self.plan
        return fit_knn(self.examples, requirement, plan.ccas, _features_for(requirement), plan.seed)

    def _examples_csv(self, models: Sequence[FittedTree | KnnModel]) -> str:
        """Returns the table of kNN examples with the weighted features; empty without kNN models."""
        weighted = {name for model in models if isinstance(model, KnnModel) for name in model.weights}
        features = [name for name in _features() if name in weighted]
        return examples_csv(self.examples, self.plan.ccas, features) if weighted else ""

    def _fit_tree(self, outcomes: Outcomes, requirement: str, moment: str, baseline: str) -> FittedTree:
        plan = self.plan
        return fit_tree(
            outcomes,
            requirement,
            moment,
            plan.ccas,
            _features_for(requirement),
            max_leaves=plan.max_leaves,
            min_samples_leaf=plan.min_samples_leaf,
            # With a bound the best CCA differs so much between networks that there is no baseline.
            baseline=None if requirement in BOUND_FEATURES else baseline,
        )

    def _starting_with(
        self, constant_trees: Mapping[str, FittedTree], flight: FittedTree | KnnModel
    ) -> Callable[[str], str]:
        return lambda cca: self._candidate([constant_trees[cca or self.plan.ccas[0]], flight])

    def _candidate(self, models: Sequence[FittedTree | KnnModel]) -> str:
        """Returns the text of a policy with these models."""
        table = self._examples_csv(models)
        return policy_text("candidate", _DESCRIPTION, "", _features(), (), models, table)

    def _regrets(self, models: Sequence[FittedTree | KnnModel]) -> Regrets:
        """Returns the mean regrets of the policy and of each fixed CCA on held-out networks."""
        plan, on_progress = self.plan, self._report("full runs")
        test_networks = list(draw_networks(plan.families, plan.full_runs, plan.seed + 2))
        text = self._candidate(models)
        fixed_ccas = dict.fromkeys([DEFAULT, *plan.ccas])
        measures = full_run_measures(
            test_networks,
            {
                f"auto {requirement}": selector_flow(text, requirement)
                for requirement in plan.requirements
            }
            | {cca: fixed_cca_flow(cca) for cca in fixed_ccas},
            plan.requirements,
            self.engine,
            workers=self.workers,
            progress=on_progress,
        )
        regrets = {}
        for requirement in plan.requirements:
            columns = {f"auto {requirement}": POLICY, **{cca: cca for cca in fixed_ccas}}
            selected = measures[requirement][list(columns)].rename(columns=columns)
            regrets[requirement] = regret(selected)
        return regrets

    def _report(self, step: str) -> Callable[[float], None] | None:
        progress = self.progress
        return (lambda share: progress(step, share)) if progress else None


def _bounded(point: Point, kind: str) -> Point:
    """Returns the point with a requirement of a kind, whose bound is that of the network."""
    return replace(point, requirement=point.network.required(kind))


def _best_fixed_ccas(full_runs: Outcomes, requirement: str, ccas: Sequence[str]) -> list[str]:
    """Returns the fixed CCAs with the lowest mean regrets, the best first."""
    means = relative_to_best(scores(full_runs, requirement, ccas)).mean(axis=0)
    order = sorted(range(len(ccas)), key=lambda column: (-means[column], ccas[column]))
    return [ccas[column] for column in order[:BEST_CCAS]]


def _kernel_substitutes(
    full_runs: Outcomes, requirements: Sequence[str], ccas: Sequence[str]
) -> dict[str, str]:
    """Returns, for each CCA that Linux lacks, the Linux CCA with the nearest outcomes."""
    linux = [cca for cca in ccas if describe_cca(cca)["linux"]]
    if not linux:
        return {}
    measured = [relative_to_best(scores(full_runs, requirement, ccas)) for requirement in requirements]
    columns = {
        cca: np.concatenate([matrix[:, index] for matrix in measured]) for index, cca in enumerate(ccas)
    }

    def distance(cca: str, substitute: str) -> float:
        return float(np.abs(columns[cca] - columns[substitute]).mean())

    not_in_linux = [cca for cca in ccas if cca not in linux]
    return {
        cca: min(linux, key=lambda substitute: (distance(cca, substitute), substitute))
        for cca in not_in_linux
    }


def _features() -> list[str]:
    return [name for name, _ in selection_features() if name not in EXCLUDED_FEATURES]


def _features_for(requirement: str) -> list[str]:
    """Returns the features for a requirement: all but the bound features of other requirements."""
    excluded = {name for kind, names in BOUND_FEATURES.items() if kind != requirement for name in names}
    return [name for name in _features() if name not in excluded]


def _remark(regrets: Mapping[str, float]) -> str:
    """Returns the regrets of full runs in a sentence."""
    best = min((label for label in regrets if label != POLICY), key=lambda label: regrets[label])
    return (
        f"Held-out networks: mean regret {regrets[POLICY]:.2%}; of {best}, the best fixed CCA, "
        f"{regrets[best]:.2%}."
    )
