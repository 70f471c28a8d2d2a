"""What would have come of each congestion control: the same run up to a moment, and then it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from celltcp.campaign import Job, run_jobs
from celltcp.comparison import frame
from celltcp.engines import Engine
from celltcp.selection.training.families import Network

#: Time over which the outcome is measured, s.
HORIZON_S = 10.0
#: Longest time for which a flow of known size is looked at, s.
SHORT_FLOW_S = 12.0
#: The same as the first for the choice at the establishment, which is soon followed by another.
START_HORIZON_S = 4.0
#: What is measured: parts of PM, and what was delivered over what could have been.
PARTS = ("a", "b", "c", "use")
#: Runs whose tables are in memory at a time.
_AT_ONCE = 96

#: What takes effect at once and is never taken back, as a counterfactual must.
_OBEDIENT = """
[tuning]
interval = 0.1
dwell = 0.0
agree = 1
tolerance = 1.0
"""


@dataclass(frozen=True)
class Point:
    """A moment of a run: the network, the congestion control until then, and when."""

    network: Network
    before: str
    at_s: float
    #: What the flow sends, MB, which the sender knows; None for as much as it can.
    size_mb: float | None = None

    @property
    def horizon_s(self) -> float:
        """Time over which the outcome is measured, s."""
        if self.size_mb is not None:
            return SHORT_FLOW_S
        return START_HORIZON_S if self.at_s == 0.0 else HORIZON_S

    def job(self, number: int, cca: str, engine: Engine) -> Job:
        """The run that has `cca` from this moment on."""
        before = cca if self.at_s == 0.0 else self.before
        policy = f"""
name = "counterfactual"
description = "One congestion control until a moment, another from there on."
default = "{before}"
{_OBEDIENT}
[[method.rules.rules]]
requirements = ["balanced"]
when = [{{ feature = "age", at_least = {self.at_s} }}]
choose = ["{cca}"]
because = "the moment has come"
[[method.rules.rules]]
requirements = ["balanced"]
choose = ["{before}"]
because = "the moment has not come"
"""
        words, workload = "", ""
        if self.size_mb is not None:
            words = f', flow_size = "{self.size_mb:.3f}MB"'
            workload = f'workload = {{ kind = "bulk", bytes = "{self.size_mb:.3f}MB" }}'
        flows = f"""
[[flows]]
cca = {{ name = "auto", policy = "counterfactual"{words} }}
{workload}
[selection]
counterfactual = '''{policy}'''
"""
        duration = self.at_s + self.horizon_s + 1.0
        scenario = self.network.scenario(flows, duration)
        return Job(number, f"{cca}@{self.at_s}", self.network.seed, scenario, engine)


@dataclass
class Outcomes:
    """Per point its features, and per congestion control A, B, C and the use of the capacity."""

    points: list[Point] = field(default_factory=list)
    features: list[dict[str, float]] = field(default_factory=list)
    parts: list[dict[str, tuple[float, float, float, float]]] = field(default_factory=list)


def moments(networks: Iterable[Network], ccas: Sequence[str], each: int, seed: int) -> list[Point]:
    """The establishment and `each` later moments of each network, whoever is at work then.

    The establishment once more for a flow of known size.
    """
    points = []
    for network in networks:
        rng = np.random.default_rng([seed, network.seed])
        points.append(Point(network, "", 0.0))
        size = float(np.round(np.exp(rng.uniform(np.log(0.05), np.log(10.0))), 3))
        points.append(Point(network, "", 0.0, size))
        for _ in range(each):
            at = float(np.round(np.exp(rng.uniform(np.log(0.5), np.log(20.0))), 1))
            points.append(Point(network, str(rng.choice(list(ccas))), at))
    return points


def outcomes(
    points: Sequence[Point],
    ccas: Sequence[str],
    engine: Engine,
    *,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Outcomes:
    """Runs every congestion control from every point on."""
    found = Outcomes()
    per_batch = max(1, _AT_ONCE // len(ccas))
    batches = [points[first : first + per_batch] for first in range(0, len(points), per_batch)]
    for number, batch in enumerate(batches):
        jobs = [
            point.job(index * len(ccas) + column, cca, engine)
            for index, point in enumerate(batch)
            for column, cca in enumerate(ccas)
        ]
        tables = run_jobs(jobs, workers=workers)
        slots = dict(list(frame(tables["slots"]).groupby("run")))
        decisions = dict(list(frame(tables["decisions"]).groupby("run")))
        for index, point in enumerate(batch):
            runs = range(index * len(ccas), (index + 1) * len(ccas))
            taken = [_features(point, decisions[run]) for run in runs]
            known = next((features for features in taken if features), None)
            if known is None:
                continue
            parts = {
                cca: _parts(point, decisions[run], slots[run])
                for run, cca in zip(runs, ccas, strict=True)
                if run in slots
            }
            if len(parts) == len(ccas) and all(np.isfinite(each).all() for each in parts.values()):
                found.points.append(point)
                found.features.append(known)
                found.parts.append(parts)
        if progress:
            progress((number + 1) / len(batches))
    return found


def _features(point: Point, decisions: pd.DataFrame) -> dict[str, float] | None:
    """What was seen at the moment; nothing where the run did not change then."""
    cause = "establishment" if point.at_s == 0.0 else "change"
    row = decisions[decisions["cause"] == cause]
    if row.empty:
        return None
    # Of the choices for a new connection the last one: it is made once there is an RTT.
    pairs = (each.split("=") for each in str(row["measures"].iloc[-1]).split())
    return {name: float(value) for name, value in pairs}


def _parts(
    point: Point, decisions: pd.DataFrame, slots: pd.DataFrame
) -> tuple[float, float, float, float]:
    """Means of A, B and C after the moment, and what was delivered over what could have been."""
    begun = float(decisions["t_ns"].iloc[0]) / 1e9
    start = begun + point.at_s
    after = slots[(slots["t_s"] >= start) & (slots["t_s"] < start + point.horizon_s)]
    capacity = float(after["capacity_mbps"].sum())
    use = min(1.0, float(after["goodput_mbps"].sum()) / capacity) if capacity > 0 else 0.0
    means = [after[part].mean() for part in ("a", "b", "c")]
    a, b, c = (0.0 if np.isnan(mean) else float(mean) for mean in means)
    return a, b, c, use
