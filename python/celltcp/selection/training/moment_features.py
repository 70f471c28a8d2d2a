"""Outcomes by path: whole runs of fixed CCAs, and what a selector sees of the path at moments of runs.

A path has one outcome per CCA, that of a whole run. It is the same at all moments, so that a tree
learns of what kind the path is. It does not have the cost of a switch, for which there are margins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job
from celltcp.campaign.run import Workers, run_jobs
from celltcp.selection.slot_measures import MEASURED, Parts, of_first_flow
from celltcp.selection.training.counterfactual import (
    Outcomes,
    Point,
    at_once,
    by_run,
    features_at,
    parts_on,
)
from celltcp.selection.training.families import Network

#: Length of a whole run, s.
RUN_S = 30.0
#: Mark of the outcome of whole runs among points.
WHOLE = "whole"
#: Mark of moments that have the outcomes of their path.
PATH = "path"
#: Time after a moment until which the selector decides, s: three round trips of the longest path.
UNTIL_DECIDED_S = 2.5

Progress = Callable[[float], None] | None


def full_run_point(network: Network) -> Point:
    """Returns the place of whole runs on a network among outcomes."""
    return Point(network, "", 0.0, then=WHOLE)


def fixed(cca: str) -> str:
    """Returns the flow of a scenario with a fixed CCA."""
    return f'[[flows]]\ncca = "{cca}"\n'


def full_run_outcomes(
    networks: Sequence[Network],
    ccas: Sequence[str],
    engine: Engine,
    *,
    workers: Workers = None,
    progress: Progress = None,
) -> Iterator[Outcomes]:
    """Runs every CCA on every network, a number of networks at a time."""
    step = max(1, at_once(workers) // len(ccas))
    for first in range(0, len(networks), step):
        batch = networks[first : first + step]
        cases = [(network, cca) for network in batch for cca in ccas]
        jobs = [
            Job(run, cca, network.seed, network.scenario(fixed(cca), RUN_S), engine)
            for run, (network, cca) in enumerate(cases)
        ]
        slots = by_run(
            of_first_flow(run_jobs(jobs, workers=workers, tables=("slots",))["slots"]), MEASURED
        )
        parts: dict[Network, dict[str, Parts]] = {network: {} for network in batch}
        for run, (network, cca) in enumerate(cases):
            parts[network][cca] = parts_on(network, slots[run])
        yield Outcomes(
            [full_run_point(each) for each in batch], [{} for _ in batch], list(parts.values())
        )
        if progress:
            progress(min(1.0, (first + len(batch)) / len(networks)))


def features_on(
    points: Sequence[Point],
    parts: Mapping[Network, dict[str, Parts]],
    engine: Engine,
    *,
    workers: Workers = None,
    progress: Progress = None,
) -> Iterator[Outcomes]:
    """Runs up to each moment, and returns what was seen then with the outcomes of the whole path."""
    step = at_once(workers)
    for first in range(0, len(points), step):
        batch = points[first : first + step]
        jobs = [
            point.job(run, _other(point.before, parts[point.network]), engine, None, UNTIL_DECIDED_S)
            for run, point in enumerate(batch)
        ]
        tables = run_jobs(jobs, workers=workers, tables=("decisions",))
        decisions = by_run(tables["decisions"], ("t_ns", "cause", "measures"))
        result = Outcomes()
        for run, point in enumerate(batch):
            features = features_at(point, decisions[run])
            if features is not None:
                result.points.append(point)
                result.features.append(features)
                result.parts.append(parts[point.network])
        yield result
        if progress:
            progress(min(1.0, (first + len(batch)) / len(points)))


def _other(before: str, parts: Mapping[str, Parts]) -> str:
    """Returns a CCA other than that before; the change to it shows what is seen."""
    return next(cca for cca in parts if cca != before)
