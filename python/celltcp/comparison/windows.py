"""Congestion windows of a flow: mean and largest window of each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.results.columns import connection_keys, numbers, rows_of

if TYPE_CHECKING:
    from celltcp.results.tables import Results
    from celltcp.results.tested import FlowUnderTest


class Windows(NamedTuple):
    """Congestion windows of the connections of a flow in a run, segments; NaN without any."""

    #: Mean of the windows at the ends of slots.
    mean: float
    #: Largest window at the ends of slots, at the first exit from slow start, and at sampled ACKs.
    largest: float


def windows_of(results: Results, flow: FlowUnderTest, runs: Sequence[int]) -> list[Windows]:
    """Returns the windows of a flow in each of `runs`; means are over its connections."""
    flows, slots = results.tables["flows"], results.tables["slots"]
    is_of_flow = np.array([flow.includes(name) for (name,) in rows_of(flows, "name")], bool)
    keys = connection_keys(flows)[is_of_flow]
    exits = numbers(flows["slow_start_exit_cwnd"])[is_of_flow].astype(float)
    selected = np.isin(connection_keys(slots), keys)
    slot_runs, slot_cwnds = (
        numbers(slots["run"])[selected],
        numbers(slots["cwnd"])[selected].astype(float),
    )
    # Run numbers and windows, by where they were measured.
    peaks = [(numbers(flows["run"])[is_of_flow], exits), (slot_runs, slot_cwnds)]
    samples = results.tables.get("samples")
    if samples is not None and len(samples):
        selected = np.isin(connection_keys(samples), keys)
        cwnds = numbers(samples["cwnd"])[selected].astype(float)
        peaks.append((numbers(samples["run"])[selected], cwnds))
    windows = []
    for run in runs:
        run_cwnds = slot_cwnds[slot_runs == run]
        largest = (np.nanmax(cwnds[run_numbers == run], initial=0.0) for run_numbers, cwnds in peaks)
        # Summed run by run, so that one run has the same sum alone and among others.
        windows.append(
            Windows(math.fsum(run_cwnds) / len(run_cwnds), float(max(largest)))
            if len(run_cwnds)
            else Windows(math.nan, math.nan)
        )
    return windows
