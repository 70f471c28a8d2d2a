"""Trajectories of the congestion window, and the distance between two of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Minimum step of the time grid of a comparison, s.
_MIN_STEP_S = 0.010
#: Maximum number of steps; longer trajectories have longer steps.
_MAX_STEPS = 60_000


@dataclass(frozen=True)
class Trajectory:
    """Window (segments) and RTT of the first connection of a run; times since the start of the run."""

    first_data_s: float
    t_s: NDArray[np.float64]
    cwnd: NDArray[np.float64]
    slot_t_s: NDArray[np.float64]
    rtt_ms: NDArray[np.float64]


def step_s(duration_s: float) -> float:
    """Returns the interval of the samples of a run, s: 10 ms, or more in runs of over ten minutes."""
    return max(_MIN_STEP_S, math.ceil(duration_s / _MAX_STEPS * 1_000) / 1_000)


def trajectory_of(flows: pd.DataFrame, samples: pd.DataFrame, slots: pd.DataFrame) -> Trajectory:
    """Returns the trajectory of the first connection in the tables of a run."""
    first, sampled, slotted = (table[table["flow"] == 0] for table in (flows, samples, slots))
    return Trajectory(
        float(first["first_data_s"].iloc[0]),
        sampled["t_ns"].to_numpy(np.float64) * 1e-9,
        sampled["cwnd"].to_numpy(np.float64),
        slotted["t_s"].to_numpy(np.float64),
        slotted["rtt_mean_ms"].to_numpy(np.float64),
    )


def cwnd_distance(native: Trajectory, kernel: Trajectory) -> float:
    """Returns the mean over time of |ln(cwnd of native / cwnd of kernel)|.

    Time counts from the first data byte of each, and ends with the shorter trajectory. Between samples
    the window is interpolated linearly, on a grid of `step_s`. 0.1 means that the windows differ by
    some 10 % on average. The result is NaN if one has no samples after its first data byte.
    """
    both = (native, kernel)
    if any(not len(trajectory.t_s) or math.isnan(trajectory.first_data_s) for trajectory in both):
        return math.nan
    length = min(float(trajectory.t_s[-1]) - trajectory.first_data_s for trajectory in both)
    if length < 0:
        return math.nan
    step = step_s(length)
    grid = np.arange(math.floor(length / step) + 1) * step
    logs = [
        np.log(np.interp(grid + trajectory.first_data_s, trajectory.t_s, trajectory.cwnd))
        for trajectory in both
    ]
    return float(np.mean(np.abs(logs[0] - logs[1])))
