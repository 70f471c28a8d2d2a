"""Dry run: cost estimate of a training."""

from __future__ import annotations

from collections.abc import Iterator

from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Jobs
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.slot_measures import HORIZON_S
from celltcp.selection.training.counterfactual import SHORT_FLOW_S, flight_points
from celltcp.selection.training.families import Network, networks
from celltcp.selection.training.knn_weights import SURE
from celltcp.selection.training.moment_features import RUN_S, UNTIL_DECIDED_S, fixed
from celltcp.selection.training.plan import BEST_CCAS, FROM_FULL_RUNS, START_EVERY, Plan
from celltcp.selection.training.tuning import MARGINS

#: Length of a run beyond its horizon, s.
_AFTER_S = 1.0


def dry_run_jobs(plan: Plan, engine: Engine) -> Iterator[Jobs]:
    """Yields runs of the number and length that the training will need.

    A fixed CCA stands in for the policies, which do not exist yet.
    """
    drawn = list(networks(plan.families, plan.each, plan.seed))
    ccas = len(plan.ccas)

    def runs(network: Network, length_s: float, count: int) -> Jobs:
        scenario = network.scenario(fixed(DEFAULT), length_s)
        return Jobs([(DEFAULT, scenario)], count, network.seed, engine)

    for network in drawn:
        yield runs(network, RUN_S, ccas)
    requirements = len(plan.requirements)
    for point in flight_points(drawn, plan.ccas, plan.moments_each, plan.seed):
        if set(plan.requirements) & set(FROM_FULL_RUNS):
            yield runs(point.network, point.at_s + UNTIL_DECIDED_S + _AFTER_S, min(ccas, BEST_CCAS))
        if set(plan.requirements) - set(FROM_FULL_RUNS):
            yield runs(point.network, point.at_s + HORIZON_S + _AFTER_S, ccas)
    for network in drawn[::START_EVERY]:
        for horizon_s in (HORIZON_S, SHORT_FLOW_S):
            yield runs(network, horizon_s + _AFTER_S, ccas * requirements)
    by_path = len(set(plan.requirements) & set(FROM_FULL_RUNS))
    # Policies to tune: each CCA at the start, the default, then the variants in flight.
    variants = len(MARGINS) * (by_path + len(SURE) * (requirements - by_path))
    trials = (ccas + 1 + 2) * requirements + variants
    for network in networks(plan.families, plan.whole_each, plan.seed + 1):
        yield runs(network, RUN_S, trials)
    for network in networks(plan.families, plan.whole_each, plan.seed + 2):
        yield runs(network, RUN_S, requirements + len({DEFAULT, *plan.ccas}))
