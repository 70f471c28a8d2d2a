"""Counterfactual runs: the same run up to a moment, then each CCA in turn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from celltcp._core import Scenario, outcome_parts
from celltcp.campaign.cluster import Cluster
from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job
from celltcp.campaign.run import Workers, run_jobs
from celltcp.results.rows import spans
from celltcp.results.selectors import measures_of
from celltcp.scenarios.requirements import OWN
from celltcp.selection.slot_measures import (
    HORIZON_S,
    MEASURED,
    Columns,
    Parts,
    measured_parts,
    of_first_flow,
)
from celltcp.selection.training.distributions import log_uniform
from celltcp.selection.training.families import Network

#: Longest time for which a flow of known size is looked at, s.
SHORT_FLOW_S = 12.0
#: Earliest and latest moment in flight, s. Before that, slow start is most of what is seen.
_MOMENTS_S = (2.0, 20.0)
#: Measures: parts of PM, the share of the capacity that was delivered, and requirements of their own.
PARTS = tuple(outcome_parts())
#: Runs whose tables are in memory at a time, on this machine and with a cluster.
_AT_ONCE = 96
_AT_ONCE_ON_CLUSTER = 1536

#: Tuning with which a change takes effect at once and is never undone.
_OBEDIENT = """
[tuning]
interval = 0.1
dwell = 0.0
agree = 1
tolerance = 1.0
"""


@dataclass(frozen=True)
class Successor:
    """The policy with which a connection continues after its start."""

    requirement: str
    #: Text of its file for a congestion control that each connection starts with.
    text: Callable[[str], str]

    @property
    def digest(self) -> str:
        """Digest of the policy."""
        return hashlib.sha256(self.text("").encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Point:
    """A moment of a run: the network, the CCA until then, and the time."""

    network: Network
    before: str
    at_s: float
    #: Size of the flow, MB, which the sender knows; None for a flow without end.
    size_mb: float | None = None
    #: Requirement of the selector, whose bound its features know.
    requirement: str = ""
    #: Of a start: digest of the policy that continues. Of a path: its mark.
    then: str = ""

    @property
    def horizon_s(self) -> float:
        """Time over which the outcome is measured, s."""
        return HORIZON_S if self.size_mb is None else SHORT_FLOW_S

    def job(
        self,
        number: int,
        cca: str,
        engine: Engine,
        successor: Successor | None,
        horizon_s: float | None = None,
    ) -> Job:
        """Returns the run that switches to `cca` here, which lasts at a start until its successor."""
        in_flight = _flight_policy(self.before, cca, self.at_s)
        text = successor.text(cca) if successor else in_flight
        scenario = self._scenario(text, self.horizon_s if horizon_s is None else horizon_s)
        return Job(number, f"{cca}@{self.at_s}", self.network.seed, scenario, engine)

    def _scenario(self, policy: str, horizon_s: float) -> Scenario:
        words = f', requirement = "{self.requirement}"' if self.requirement else ""
        workload = ""
        if self.size_mb is not None:
            words += f', flow_size = "{self.size_mb:.3f}MB"'
            workload = f'workload = {{ kind = "bulk", bytes = "{self.size_mb:.3f}MB" }}'
        flows = f"""
[[flows]]
cca = {{ name = "auto", policy = "counterfactual"{words} }}
{workload}
[selection]
counterfactual = '''{policy}'''
"""
        return self.network.scenario(flows, self.at_s + horizon_s + 1.0)


def _flight_policy(before: str, cca: str, at_s: float) -> str:
    return f"""
name = "counterfactual"
description = "One congestion control until a moment, another from there on."
default = "{before}"
{_OBEDIENT}
[[method.rules.rules]]
requirements = ["balanced", "delay"]
when = [{{ feature = "age", at_least = {at_s} }}]
choose = ["{cca}"]
because = "the moment has come"
[[method.rules.rules]]
requirements = ["balanced", "delay"]
choose = ["{before}"]
because = "the moment has not come"
"""


@dataclass
class Outcomes:
    """Outcomes: per moment its features, and per CCA the measures that `PARTS` names."""

    points: list[Point] = field(default_factory=list)
    features: list[dict[str, float]] = field(default_factory=list)
    parts: list[dict[str, Parts]] = field(default_factory=list)

    def extend(self, other: Outcomes) -> None:
        """Adds other outcomes."""
        self.points += other.points
        self.features += other.features
        self.parts += other.parts

    def of(self, wanted: Iterable[Point]) -> Outcomes:
        """Returns the outcomes of these points, in their order; points without one are left out."""
        places = {point: place for place, point in enumerate(self.points)}
        result = Outcomes()
        for point in wanted:
            if (place := places.get(point)) is not None:
                result.points.append(point)
                result.features.append(self.features[place])
                result.parts.append(self.parts[place])
        return result


def flight_points(
    networks: Iterable[Network], ccas: Sequence[str], each: int, seed: int
) -> list[Point]:
    """Returns `each` moments of each network, under CCAs drawn from these."""
    points = []
    for network in networks:
        rng = np.random.default_rng([seed, network.seed])
        for _ in range(each):
            at = float(np.round(log_uniform(rng, *_MOMENTS_S), 1))
            points.append(Point(network, str(rng.choice(list(ccas))), at))
    return points


def start_points(networks: Iterable[Network], successor: Successor, seed: int) -> list[Point]:
    """Returns the establishment on each network, and again for a flow of known size."""
    points = []
    for network in networks:
        rng = np.random.default_rng([seed, network.seed, 1])
        size = float(np.round(log_uniform(rng, 0.05, 10.0), 3))
        required = network.required(successor.requirement)
        points += [
            Point(network, "", 0.0, flow_size, required, successor.digest) for flow_size in (None, size)
        ]
    return points


def outcomes(
    points: Sequence[Point],
    ccas: Sequence[str],
    engine: Engine,
    *,
    successor: Successor | None = None,
    workers: Workers = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Outcomes]:
    """Runs every CCA from every moment on, a number of moments at a time."""
    per_batch = max(1, at_once(workers) // len(ccas))
    for first in range(0, len(points), per_batch):
        batch = points[first : first + per_batch]
        jobs = [
            point.job(index * len(ccas) + column, cca, engine, successor)
            for index, point in enumerate(batch)
            for column, cca in enumerate(ccas)
        ]
        yield _measured(batch, ccas, run_jobs(jobs, workers=workers, tables=("slots", "decisions")))
        if progress:
            progress(min(1.0, (first + per_batch) / len(points)))


def at_once(workers: Workers) -> int:
    """Returns the number of runs whose tables are in memory at a time: enough for all workers."""
    return _AT_ONCE_ON_CLUSTER if isinstance(workers, Cluster) else _AT_ONCE


def _measured(batch: Sequence[Point], ccas: Sequence[str], tables: dict[str, pa.Table]) -> Outcomes:
    result = Outcomes()
    slots = by_run(of_first_flow(tables["slots"]), ("t_s", *MEASURED))
    decisions = by_run(tables["decisions"], ("t_ns", "cause", "measures"))
    for index, point in enumerate(batch):
        runs = range(index * len(ccas), (index + 1) * len(ccas))
        taken = [features_at(point, decisions[run]) for run in runs]
        known = next((features for features in taken if features), None)
        if known is None:
            continue
        parts = {
            cca: _parts(point, decisions[run], slots[run])
            for run, cca in zip(runs, ccas, strict=True)
            if run in slots
        }
        if len(parts) == len(ccas) and all(np.isfinite(each).all() for each in parts.values()):
            result.points.append(point)
            result.features.append(known)
            result.parts.append(parts)
    return result


def features_at(point: Point, decisions: Columns) -> dict[str, float] | None:
    """Returns the known features at the moment; None where the run made no change then."""
    cause = "establishment" if point.at_s == 0.0 else "change"
    rows = np.flatnonzero(decisions["cause"] == cause)
    if not len(rows):
        return None
    # Of the choices for a new connection the last one: it is made once there is an RTT.
    return measures_of(str(decisions["measures"][rows[-1]]))


def _parts(point: Point, decisions: Columns, slots: Columns) -> Parts:
    """Returns the measures after the moment."""
    start_s = float(decisions["t_ns"][0]) / 1e9
    start = start_s + point.at_s
    after = (slots["t_s"] >= start) & (slots["t_s"] < start + point.horizon_s)
    return parts_on(point.network, {name: slots[name][after] for name in MEASURED})


def parts_on(network: Network, slots: Columns) -> Parts:
    """Returns the measures that `PARTS` names, with the bounds of the network."""
    return measured_parts(slots, [network.required(kind) for kind in OWN])


def by_run(table: pa.Table, columns: Sequence[str]) -> dict[int, Columns]:
    """Returns columns of a table whose rows are ordered by run, run by run."""
    whole = {name: table[name].to_pandas().to_numpy() for name in columns}
    return {
        run: {name: values[span] for name, values in whole.items()}
        for run, span in spans(table["run"].to_numpy()).items()
    }
