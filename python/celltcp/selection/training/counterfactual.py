"""Counterfactual runs: a run per CCA, equal up to a sampled time and then with that CCA."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import pyarrow as pa

from celltcp._core import Scenario, outcome_parts
from celltcp.campaign.cluster import Cluster
from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job
from celltcp.campaign.run import Workers, run_jobs
from celltcp.results.rows import spans
from celltcp.results.selectors import parse_features
from celltcp.scenarios.requirements import OTHER_MEASURES
from celltcp.selection.slot_measures import (
    HORIZON_S,
    MEASURED_COLUMNS,
    Columns,
    Parts,
    first_flow_slots,
    measured_parts,
)
from celltcp.selection.training.distributions import log_uniform
from celltcp.selection.training.families import Network

#: Time over which the outcome of a flow of known size is measured, s.
SHORT_FLOW_S = 12.0
#: Earliest and latest sampled time, s. Earlier features would describe slow start.
_POINT_TIMES_S = (2.0, 20.0)
#: Names of an outcome's measures: parts of PM, capacity use, and kinds in `OTHER_MEASURES`.
PARTS = tuple(outcome_parts())
#: Number of runs per batch, whose tables are in memory together.
_BATCH_RUNS = 96
#: The same with a cluster.
_BATCH_RUNS_ON_CLUSTER = 1536

Item = TypeVar("Item")

#: Tuning of a policy whose switches take effect at once and are never reverted.
_IMMEDIATE_TUNING = """
[tuning]
interval = 0.1
dwell = 0.0
agree = 1
tolerance = 1.0
"""


@dataclass(frozen=True)
class Successor:
    """The policy that a connection has after its start."""

    requirement: str
    #: Returns the text of its file for the congestion control at the start.
    text: Callable[[str], str]

    @property
    def digest(self) -> str:
        """Digest of the policy."""
        return hashlib.sha256(self.text("").encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Point:
    """Time in a run at which CCAs are compared."""

    network: Network
    #: CCA until then; empty at the start.
    prior_cca: str
    at_s: float
    #: Size of the flow, which the sender knows, MB; None for an endless flow.
    size_mb: float | None = None
    #: Requirement of the selector, whose bound determines the bound features.
    requirement: str = ""
    #: Digest of the successor of a start, or mark for outcomes of full runs; else empty.
    variant: str = ""

    @property
    def horizon_s(self) -> float:
        """Time over which the outcome is measured, s."""
        return HORIZON_S if self.size_mb is None else SHORT_FLOW_S

    def job(
        self,
        index: int,
        cca: str,
        engine: Engine,
        successor: Successor | None,
        horizon_s: float | None = None,
    ) -> Job:
        """Returns the run that switches to `cca` at this time and continues for over `horizon_s`.

        The default horizon is that of the outcome. A successor may switch again.
        """
        policy = successor.text(cca) if successor else _switch_policy(self.prior_cca, cca, self.at_s)
        scenario = self._scenario(policy, self.horizon_s if horizon_s is None else horizon_s)
        return Job(index, f"{cca}@{self.at_s}", self.network.seed, scenario, engine)

    def _scenario(self, policy: str, horizon_s: float) -> Scenario:
        parameters = f', requirement = "{self.requirement}"' if self.requirement else ""
        workload = ""
        if self.size_mb is not None:
            parameters += f', flow_size = "{self.size_mb:.3f}MB"'
            workload = f'workload = {{ kind = "bulk", bytes = "{self.size_mb:.3f}MB" }}'
        flows = f"""
[[flows]]
cca = {{ name = "auto", policy = "counterfactual"{parameters} }}
{workload}
[selection]
counterfactual = '''{policy}'''
"""
        return self.network.scenario(flows, self.at_s + horizon_s + 1.0)


def _switch_policy(prior_cca: str, cca: str, at_s: float) -> str:
    """Returns the text of a policy that switches once, at `at_s`."""
    return f"""
name = "counterfactual"
description = "One congestion control until a moment, another from there on."
default = "{prior_cca}"
{_IMMEDIATE_TUNING}
[[method.rules.rules]]
requirements = ["balanced", "delay"]
when = [{{ feature = "age", at_least = {at_s} }}]
choose = ["{cca}"]
because = "the moment has come"
[[method.rules.rules]]
requirements = ["balanced", "delay"]
choose = ["{prior_cca}"]
because = "the moment has not come"
"""


@dataclass
class Outcomes:
    """Outcomes: features of each point, and the measures of `PARTS` of each CCA there."""

    points: list[Point] = field(default_factory=list)
    features: list[dict[str, float]] = field(default_factory=list)
    parts: list[dict[str, Parts]] = field(default_factory=list)

    def extend(self, other: Outcomes) -> None:
        """Adds other outcomes."""
        self.points += other.points
        self.features += other.features
        self.parts += other.parts

    def select(self, points: Iterable[Point]) -> Outcomes:
        """Returns the outcomes of these points, in their order; points without one are left out."""
        indices = {point: index for index, point in enumerate(self.points)}
        result = Outcomes()
        for point in points:
            if (index := indices.get(point)) is not None:
                result.points.append(point)
                result.features.append(self.features[index])
                result.parts.append(self.parts[index])
        return result


def flight_points(
    networks: Iterable[Network], ccas: Sequence[str], samples: int, seed: int
) -> list[Point]:
    """Returns points at random times in flight, `samples` per network, each under a random CCA."""
    points = []
    for network in networks:
        rng = np.random.default_rng([seed, network.seed])
        for _ in range(samples):
            at_s = float(np.round(log_uniform(rng, *_POINT_TIMES_S), 1))
            points.append(Point(network, str(rng.choice(list(ccas))), at_s))
    return points


def start_points(networks: Iterable[Network], successor: Successor, seed: int) -> list[Point]:
    """Returns two points at establishment per network: for an endless flow and one of known size."""
    points = []
    for network in networks:
        rng = np.random.default_rng([seed, network.seed, 1])
        size_mb = float(np.round(log_uniform(rng, 0.05, 10.0), 3))
        requirement = network.requirement(successor.requirement)
        points += [
            Point(network, "", 0.0, size, requirement, successor.digest) for size in (None, size_mb)
        ]
    return points


def counterfactual_outcomes(
    points: Sequence[Point],
    ccas: Sequence[str],
    engine: Engine,
    *,
    successor: Successor | None,
    workers: Workers,
    progress: Callable[[float], None] | None,
) -> Iterator[Outcomes]:
    """Yields the outcomes of a switch to each CCA at each point, batch by batch."""
    for batch in batches(points, workers, progress, runs_per_item=len(ccas)):
        jobs = [
            point.job(index * len(ccas) + column, cca, engine, successor)
            for index, point in enumerate(batch)
            for column, cca in enumerate(ccas)
        ]
        yield _outcomes(batch, ccas, run_jobs(jobs, workers=workers, tables=("slots", "decisions")))


def batches(
    items: Sequence[Item],
    workers: Workers,
    progress: Callable[[float], None] | None,
    *,
    runs_per_item: int = 1,
) -> Iterator[Sequence[Item]]:
    """Yields batches of items with enough runs for all workers, and reports the progress."""
    runs = _BATCH_RUNS_ON_CLUSTER if isinstance(workers, Cluster) else _BATCH_RUNS
    size = max(1, runs // runs_per_item)
    for first in range(0, len(items), size):
        yield items[first : first + size]
        if progress:
            progress(min(1.0, (first + size) / len(items)))


def _outcomes(batch: Sequence[Point], ccas: Sequence[str], tables: dict[str, pa.Table]) -> Outcomes:
    """Returns the outcomes of the points for which all runs have a decision and finite measures."""
    result = Outcomes()
    slots = columns_by_run(first_flow_slots(tables["slots"]), ("t_s", *MEASURED_COLUMNS))
    decisions = columns_by_run(tables["decisions"], ("t_ns", "cause", "measures"))
    for index, point in enumerate(batch):
        runs = range(index * len(ccas), (index + 1) * len(ccas))
        # All runs of a point have the same features; one without a switch has none.
        features = next(filter(None, (features_at(point, decisions[run]) for run in runs)), None)
        if features is None:
            continue
        parts = {
            cca: _parts(point, decisions[run], slots[run])
            for run, cca in zip(runs, ccas, strict=True)
            if run in slots
        }
        if len(parts) == len(ccas) and all(np.isfinite(values).all() for values in parts.values()):
            result.points.append(point)
            result.features.append(features)
            result.parts.append(parts)
    return result


def features_at(point: Point, decisions: Columns) -> dict[str, float] | None:
    """Returns the known features at the point; None if the run made no switch then."""
    cause = "establishment" if point.at_s == 0.0 else "change"
    rows = np.flatnonzero(decisions["cause"] == cause)
    if not len(rows):
        return None
    # A new connection has several choices. The last one is made when there is an RTT.
    return parse_features(str(decisions["measures"][rows[-1]]))


def _parts(point: Point, decisions: Columns, slots: Columns) -> Parts:
    """Returns the measures of `PARTS` after the point."""
    start_s = float(decisions["t_ns"][0]) / 1e9 + point.at_s
    is_after = (slots["t_s"] >= start_s) & (slots["t_s"] < start_s + point.horizon_s)
    return network_parts(point.network, {name: slots[name][is_after] for name in MEASURED_COLUMNS})


def network_parts(network: Network, slots: Columns) -> Parts:
    """Returns the measures of `PARTS`, with the bounds of the network."""
    return measured_parts(slots, [network.requirement(kind) for kind in OTHER_MEASURES])


def columns_by_run(table: pa.Table, columns: Sequence[str]) -> dict[int, Columns]:
    """Returns columns of a table, whose rows are ordered by run, split by run."""
    arrays = {name: table[name].to_pandas().to_numpy() for name in columns}
    return {
        run: {name: values[span] for name, values in arrays.items()}
        for run, span in spans(table["run"].to_numpy()).items()
    }
