"""Dry run of a training: jobs for the estimate of its cost."""

from __future__ import annotations

from collections.abc import Iterator

from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Jobs
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.slot_measures import HORIZON_S
from celltcp.selection.training.counterfactual import (
    SHORT_FLOW_S,
    flight_points,
)
from celltcp.selection.training.families import Network, draw_networks
from celltcp.selection.training.knn_weights import GAIN_ERRORS
from celltcp.selection.training.moment_features import (
    RUN_S,
    UNTIL_DECIDED_S,
    fixed_flow_toml,
)
from celltcp.selection.training.plan import BEST_CCAS, FROM_FULL_RUNS, START_EVERY, Plan
from celltcp.selection.training.tuning import MARGINS

#: Length of a run after its horizon, s.
_AFTER_S = 1.0


def dry_run_jobs(plan: Plan, engine: Engine) -> Iterator[Jobs]:
    """Yields as many runs as the training needs, with the same lengths.

    They have a fixed CCA instead of policies, which do not exist yet.
    """
    training_networks = list(draw_networks(plan.families, plan.networks, plan.seed))
    ccas = len(plan.ccas)

    def runs(network: Network, length_s: float, count: int) -> Jobs:
        scenario = network.scenario(fixed_flow_toml(DEFAULT), length_s)
        return Jobs([(DEFAULT, scenario)], count, network.seed, engine)

    for network in training_networks:
        yield runs(network, RUN_S, ccas)
    requirements = len(plan.requirements)
    for point in flight_points(training_networks, plan.ccas, plan.samples, plan.seed):
        if set(plan.requirements) & set(FROM_FULL_RUNS):
            yield runs(point.network, point.at_s + UNTIL_DECIDED_S + _AFTER_S, min(ccas, BEST_CCAS))
        if set(plan.requirements) - set(FROM_FULL_RUNS):
            yield runs(point.network, point.at_s + HORIZON_S + _AFTER_S, ccas)
    for network in training_networks[::START_EVERY]:
        for horizon_s in (HORIZON_S, SHORT_FLOW_S):
            yield runs(network, horizon_s + _AFTER_S, ccas * requirements)
    from_full_runs = len(set(plan.requirements) & set(FROM_FULL_RUNS))
    from_switches = requirements - from_full_runs
    variants = len(MARGINS) * (from_full_runs + len(GAIN_ERRORS) * from_switches)
    # Per requirement a start tree, a start with each CCA, and twice the default; then the variants.
    trials = (ccas + 1 + 2) * requirements + variants
    for network in draw_networks(plan.families, plan.full_runs, plan.seed + 1):
        yield runs(network, RUN_S, trials)
    for network in draw_networks(plan.families, plan.full_runs, plan.seed + 2):
        yield runs(network, RUN_S, requirements + len({DEFAULT, *plan.ccas}))
