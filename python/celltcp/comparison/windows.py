"""Congestion windows of a flow: mean and largest window of each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.results.columns import connections, numbers, rows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.results.tables import Results
    from celltcp.results.tested import FlowUnderTest


class Windows(NamedTuple):
    """Congestion windows of the connections of a flow in a run, segments; NaN without any."""

    #: Mean of the windows at the ends of slots.
    mean: float
    #: Largest window at the ends of slots, at the first exit from slow start, and at sampled ACKs.
    largest: float


def windows_of(results: Results, flow: FlowUnderTest, runs: Sequence[int]) -> list[Windows]:
    """Returns the windows of a flow in some runs, with one connection at a time."""
    flows, slots = results.tables["flows"], results.tables["slots"]
    mine = np.array([flow.includes(name) for (name,) in rows_of(flows, "name")], bool)
    own_connections = connections(flows)[mine]
    exits = numbers(flows["slow_start_exit_cwnd"])[mine].astype(float)
    own = np.isin(connections(slots), own_connections)
    # Summed run by run, so that one run has the same sum alone and among others.
    of_run, at_ends = numbers(slots["run"])[own], numbers(slots["cwnd"])[own].astype(float)
    peaks = [(numbers(flows["run"])[mine], exits), (of_run, at_ends)]
    samples = results.tables.get("samples")
    if samples is not None and len(samples):
        at_acks = np.isin(connections(samples), own_connections)
        peaks.append(
            (numbers(samples["run"])[at_acks], numbers(samples["cwnd"])[at_acks].astype(float))
        )
    return [
        Windows(_mean(at_ends[of_run == run]), max(_largest(values[at == run]) for at, values in peaks))
        if (of_run == run).any()
        else Windows(math.nan, math.nan)
        for run in runs
    ]


def _mean(values: NDArray[np.float64]) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan


def _largest(values: NDArray[np.float64]) -> float:
    """Returns the largest known value; 0 without one."""
    return float(np.nanmax(values, initial=0.0))
