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
from celltcp.selection.training.tuning import Model, tune

#: Features that are not fitted. Radio features are known only to some senders. Features of the state of
#: the connection do not describe the path. loss_queue is known sooner than buffer features.
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

#: Label of the policy among fixed CCAs.
POLICY = "policy"

#: Mean regret by requirement, and by label: of the policy and of each fixed CCA.
Regrets = dict[str, dict[str, float]]

#: Callback for the progress: gets the name of a step and its finished share.
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class TrainingResult:
    """Policy file of a training, its models and their regret."""

    #: The text of the policy file.
    text: str
    #: Fitted models: per requirement one for the start and one for running connections.
    models: list[Model]
    #: Number of points (network, CCA, time) in the fits.
    points: int
    #: Mean regret in full runs on held-out networks, relative to the best on each network.
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

    Runs on these networks are branched at sampled times, once per CCA (counterfactual runs). The
    outcomes are the kNN examples of the policy; for goodput a tree is fitted to full runs instead. For
    the start, connections start with each CCA and continue under that policy, and a second tree is
    fitted to the outcomes. Full runs on other networks tune the start, which may become one CCA for
    all networks, and the margins. A third set of networks measures the regret.

    Args:
        name: name of the policy.
        scenarios: families of networks; by default all.
        requirements: goodput, balanced, delay, goodput@, delay@, power. Bounds are drawn for each
            network.
        cca: congestion controls to choose from; by default those of Linux that need no support of the
            receiver.
        networks: number of networks per family.
        samples: number of sampled times per network, in addition to its establishment.
        full_runs: number of networks per family to tune on, and of others to test on.
        max_leaves: maximum number of leaves of a tree.
        min_samples_leaf: minimum number of samples in a leaf.
        seed: seed of all draws.
        jobs: number of parallel runs; by default one per core.
        cluster: address of a Dask scheduler whose workers do the runs, such as `"tcp://host:8786"`.
        outcomes_file: table of outcomes. Outcomes in it are not run again; new ones are added.
        progress: called with the name of a step and its finished share.

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
        """Does the runs that the table of outcomes lacks, and trains the policy."""
        trainer = _Trainer(self.plan, self.engine, self.workers, self.outcomes_file, progress)
        return trainer.train(self.name, self.training_networks)


def training_request(
    name: str, requested: Plan, workers: Workers, outcomes_file: Path | None
) -> TrainingRequest:
    """Plans and checks a training; `requested` has families, requirements and CCAs as for `train`."""
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
    #: All outcomes so far, including those of the table.
    outcomes: Outcomes = field(default_factory=Outcomes)
    #: kNN examples of the policy.
    examples: Outcomes = field(default_factory=Outcomes)

    def __post_init__(self) -> None:
        if self.outcomes_file is not None and self.outcomes_file.exists():
            self.outcomes = read_outcomes(self.outcomes_file, self.plan.ccas)

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
        for requirement in set(FROM_FULL_RUNS).intersection(points):
            self._measure_features(points[requirement], full_runs)
        switch_points = dict.fromkeys(
            point
            for requirement in plan.requirements
            if requirement not in FROM_FULL_RUNS
            for point in points[requirement]
        )
        self._run_counterfactuals(switch_points, "in flight")
        self.examples = with_bound_features(self.outcomes.select(switch_points))
        models: list[Model] = []
        fitted_points = 0
        tuning_networks = list(draw_networks(plan.families, plan.full_runs, plan.seed + 1))
        for requirement in plan.requirements:
            baseline = best[requirement][0]
            flight_outcomes = self.outcomes.select(points[requirement])
            fitted_points += len(flight_outcomes.points)
            flight = self._fit_flight(flight_outcomes, requirement, baseline)
            constant_trees = {cca: constant_tree(requirement, cca, full_runs) for cca in plan.ccas}
            successor = Successor(requirement, self._policy_by_start(constant_trees, flight))
            start_outcomes = self._start_outcomes(training_networks, requirement, successor)
            fitted_points += len(start_outcomes.points)
            start = self._fit_tree(start_outcomes, requirement, "start", baseline)
            models += tune(
                [start, *constant_trees.values()],
                flight,
                self._candidate,
                tuning_networks,
                self.engine,
                self.workers,
                self._report(f"{requirement}, trials"),
            )
        regrets = self._regrets(models)
        unsealed = policy_text(
            name,
            _DESCRIPTION,
            plan.command,
            _features(),
            sorted(plan.families),
            models,
            self._examples_csv(models),
            {requirement: _remark(by_label) for requirement, by_label in regrets.items()},
            _kernel_substitutes(full_runs, plan.requirements, plan.ccas),
        )
        text = sealed_text(unsealed)
        describe_policy(name, text)
        return TrainingResult(text, models, fitted_points, regrets)

    def _missing(self, points: Iterable[Point]) -> list[Point]:
        """Returns the points without outcomes."""
        known = set(self.outcomes.points)
        return [point for point in points if point not in known]

    def _full_runs(self, training_networks: Sequence[Network]) -> Outcomes:
        """Returns the outcomes of full runs of each fixed CCA."""
        points = [full_run_point(network) for network in training_networks]
        networks = [point.network for point in self._missing(points)]
        ccas, progress = self.plan.ccas, self._report("fixed CCAs")
        self._store(
            full_run_outcomes(networks, ccas, self.engine, workers=self.workers, progress=progress)
        )
        return self.outcomes.select(points)

    def _flight_points(
        self,
        training_networks: Sequence[Network],
        requirement: str,
        best: Mapping[str, Sequence[str]],
    ) -> list[Point]:
        """Returns sampled points of each network, under the best fixed CCAs.

        Requirements learnt from switches share one list of points. Each point has a requirement with a
        bound, so that the bound features have values.
        """
        plan = self.plan
        if requirement not in FROM_FULL_RUNS:
            ccas = [cca for name in best if name not in FROM_FULL_RUNS for cca in best[name]]
            points = flight_points(training_networks, ccas, plan.samples, plan.seed)
            return [_bounded(point, "delay@") for point in points]
        return [
            replace(_bounded(point, "goodput@"), variant=OF_FULL_RUN)
            for rank, cca in enumerate(best[requirement])
            for point in flight_points(training_networks, [cca], plan.samples, plan.seed + 7 * rank)
        ]

    def _measure_features(self, points: Iterable[Point], full_runs: Outcomes) -> None:
        """Measures the features at each point; its outcomes are those of the full runs."""
        parts = dict(zip((point.network for point in full_runs.points), full_runs.parts, strict=True))
        progress = self._report("paths in flight")
        self._store(
            measure_features(
                self._missing(points), parts, self.engine, workers=self.workers, progress=progress
            )
        )

    def _run_counterfactuals(
        self, points: Iterable[Point], step: str, successor: Successor | None = None
    ) -> None:
        """Measures the outcome of a switch to each CCA at each point."""
        self._store(
            counterfactual_outcomes(
                self._missing(points),
                self.plan.ccas,
                self.engine,
                successor=successor,
                workers=self.workers,
                progress=self._report(step),
            )
        )

    def _start_outcomes(
        self, training_networks: Sequence[Network], requirement: str, successor: Successor
    ) -> Outcomes:
        """Returns the outcomes of a start with each CCA, on some of the networks."""
        points = start_points(training_networks[::START_EVERY], successor, self.plan.seed)
        self._run_counterfactuals(points, f"{requirement}, start", successor)
        return self.outcomes.select(points)

    def _store(self, batches: Iterable[Outcomes]) -> None:
        """Adds outcomes to those so far, and to the table."""
        for batch in batches:
            self.outcomes.extend(batch)
            if self.outcomes_file is not None:
                write_outcomes(self.outcomes, self.plan.ccas, self.outcomes_file)

    def _fit_flight(self, outcomes: Outcomes, requirement: str, baseline: str) -> Model:
        if requirement in FROM_FULL_RUNS:
            return self._fit_tree(outcomes, requirement, "flight", baseline)
        plan = self.plan
        return fit_knn(self.examples, requirement, plan.ccas, _features_for(requirement), plan.seed)

    def _examples_csv(self, models: Sequence[Model]) -> str:
        """Returns the kNN examples with the features that have weights; empty without kNN models."""
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
            # With a bound, the best CCA differs too much between networks for a baseline.
            baseline=None if requirement in BOUND_FEATURES else baseline,
        )

    def _policy_by_start(
        self, constant_trees: Mapping[str, FittedTree], flight: Model
    ) -> Callable[[str], str]:
        """Returns a function that returns the policy with a fixed CCA at the start."""
        return lambda cca: self._candidate([constant_trees[cca or self.plan.ccas[0]], flight])

    def _candidate(self, models: Sequence[Model]) -> str:
        """Returns the text of a policy with these models."""
        table = self._examples_csv(models)
        return policy_text("candidate", _DESCRIPTION, "", _features(), (), models, table)

    def _regrets(self, models: Sequence[Model]) -> Regrets:
        """Returns the mean regrets of the policy and of each fixed CCA on held-out networks."""
        plan = self.plan
        text = self._candidate(models)
        fixed_flows = {cca: fixed_cca_flow(cca) for cca in [DEFAULT, *plan.ccas]}
        flows = {
            f"auto {requirement}": selector_flow(text, requirement) for requirement in plan.requirements
        }
        measures = full_run_measures(
            list(draw_networks(plan.families, plan.full_runs, plan.seed + 2)),
            flows | fixed_flows,
            plan.requirements,
            self.engine,
            workers=self.workers,
            progress=self._report("full runs"),
        )
        regrets = {}
        for requirement in plan.requirements:
            label = f"auto {requirement}"
            selected = measures[requirement][[label, *fixed_flows]]
            regrets[requirement] = regret(selected.rename(columns={label: POLICY}))
        return regrets

    def _report(self, step: str) -> Callable[[float], None] | None:
        progress = self.progress
        return (lambda share: progress(step, share)) if progress else None


def _bounded(point: Point, kind: str) -> Point:
    """Returns the point with a requirement of a kind, with the bound of the network."""
    return replace(point, requirement=point.network.requirement(kind))


def _best_fixed_ccas(full_runs: Outcomes, requirement: str, ccas: Sequence[str]) -> list[str]:
    """Returns the `BEST_CCAS` fixed CCAs with the lowest mean regrets, best first."""
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
    measured = np.concatenate(
        [relative_to_best(scores(full_runs, requirement, ccas)) for requirement in requirements]
    )
    columns = dict(zip(ccas, measured.T, strict=True))

    def distance(cca: str, substitute: str) -> float:
        return float(np.abs(columns[cca] - columns[substitute]).mean())

    return {
        cca: min(linux, key=lambda substitute: (distance(cca, substitute), substitute))
        for cca in ccas
        if cca not in linux
    }


def _features() -> list[str]:
    return [name for name, _ in selection_features() if name not in EXCLUDED_FEATURES]


def _features_for(requirement: str) -> list[str]:
    """Returns the features for a requirement, without the bound features of other requirements."""
    excluded = {name for kind, names in BOUND_FEATURES.items() if kind != requirement for name in names}
    return [name for name in _features() if name not in excluded]


def _remark(regrets: Mapping[str, float]) -> str:
    """Returns a sentence about the regrets in full runs."""
    best = min((label for label in regrets if label != POLICY), key=lambda label: regrets[label])
    return (
        f"Held-out networks: mean regret {regrets[POLICY]:.2%}; of {best}, the best fixed CCA, "
        f"{regrets[best]:.2%}."
    )
