"""Outcomes of full runs of fixed CCAs, and the features of a selector at points of these networks.

All points of a network have the outcomes of its full runs, so that a tree learns to tell networks
apart. These outcomes lack the cost of a switch; margins make up for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job
from celltcp.campaign.run import Workers, run_jobs
from celltcp.selection.slot_measures import MEASURED_COLUMNS, Parts, first_flow_slots
from celltcp.selection.training.counterfactual import (
    Outcomes,
    Point,
    batches,
    columns_by_run,
    features_at,
    network_parts,
)
from celltcp.selection.training.families import Network

#: Length of a full run, s.
RUN_S = 30.0
#: Variant of the point that stands for the full runs on a network.
FULL_RUN = "whole"
#: Variant of points in flight that have the outcomes of full runs.
OF_FULL_RUN = "path"
#: Time after a point within which the selector decides, s: three round trips of the longest path.
UNTIL_DECIDED_S = 2.5


def full_run_point(network: Network) -> Point:
    """Returns the point that stands for the full runs on a network."""
    return Point(network, "", 0.0, variant=FULL_RUN)


def fixed_flow_toml(cca: str) -> str:
    """Returns the flow of a scenario (TOML) with a fixed CCA."""
    return f'[[flows]]\ncca = "{cca}"\n'


def full_run_outcomes(
    networks: Sequence[Network],
    ccas: Sequence[str],
    engine: Engine,
    *,
    workers: Workers,
    progress: Callable[[float], None] | None,
) -> Iterator[Outcomes]:
    """Yields the outcomes of full runs with each CCA on each network, batch by batch."""
    for batch in batches(networks, workers, progress, runs_per_item=len(ccas)):
        cases = [(network, cca) for network in batch for cca in ccas]
        jobs = [
            Job(run, cca, network.seed, network.scenario(fixed_flow_toml(cca), RUN_S), engine)
            for run, (network, cca) in enumerate(cases)
        ]
        tables = run_jobs(jobs, workers=workers, tables=("slots",))
        slots = columns_by_run(first_flow_slots(tables["slots"]), MEASURED_COLUMNS)
        parts: dict[Network, dict[str, Parts]] = {network: {} for network in batch}
        for run, (network, cca) in enumerate(cases):
            parts[network][cca] = network_parts(network, slots[run])
        yield Outcomes(
            [full_run_point(network) for network in batch], [{} for _ in batch], list(parts.values())
        )


def measure_features(
    points: Sequence[Point],
    parts: Mapping[Network, dict[str, Parts]],
    engine: Engine,
    *,
    workers: Workers,
    progress: Callable[[float], None] | None,
) -> Iterator[Outcomes]:
    """Yields the features at each point, with the outcomes of the full runs on its network."""
    for batch in batches(points, workers, progress):
        jobs = [
            point.job(
                run, _other_cca(point.prior_cca, parts[point.network]), engine, None, UNTIL_DECIDED_S
            )
            for run, point in enumerate(batch)
        ]
        tables = run_jobs(jobs, workers=workers, tables=("decisions",))
        decisions = columns_by_run(tables["decisions"], ("t_ns", "cause", "measures"))
        result = Outcomes()
        for run, point in enumerate(batch):
            features = features_at(point, decisions[run])
            if features is not None:
                result.points.append(point)
                result.features.append(features)
                result.parts.append(parts[point.network])
        yield result


def _other_cca(prior_cca: str, parts: Mapping[str, Parts]) -> str:
    """Returns a CCA to switch to, because only switches have decisions with features."""
    return next(cca for cca in parts if cca != prior_cca)
