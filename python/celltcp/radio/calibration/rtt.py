"""RTT samples under a download, analysed as in annex A1 of atxutegi2018-thesis.

Figure 7.2 has the RTT over the lowest one, figure 7.3 the change from one sample to the next, both in
percent and under NewReno. The text gives 12 to 25 ms for the RTT of the emulator without load, and
changes of up to 100 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.comparison.run import compare
from celltcp.comparison.single_run import run

#: Scenarios of the emulated testbed at its own latency, which is that of annex A1.
SCENARIOS = tuple(
    f"mobility/{way}-{speed}-low" for speed in (60, 120, 300) for way in ("forward", "backward")
)
#: CUBIC with the HyStart of the kernel of the experiments.
_CUBIC = "cubic:slow_start=linux-4.8"
#: The start-up of the thesis (section 6.3.2), s.
_START_UP_S = 2.0


@dataclass(frozen=True)
class RttJitter:
    """RTT samples of NewReno on one scenario, and the effect of HyStart."""

    scenario: str
    lowest_ms: float
    #: RTT above the lowest one so far, %: median, 95th percentile, largest.
    increment: tuple[float, ...]
    #: Rise from one sample to the next, %: 95th percentile of the rises, largest.
    change: tuple[float, ...]
    #: Median window at which slow start ends, segments: CUBIC with HyStart, NewReno.
    exits: tuple[float, float]
    #: Mean goodput of the first two seconds, Mbit/s: CUBIC with HyStart, NewReno.
    start_up: tuple[float, float]


def rtt_jitter(
    runs: int,
    seed: int,
    scenarios: Sequence[str] = SCENARIOS,
    changes: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> list[RttJitter]:
    """Measures the start of NewReno and CUBIC on each scenario."""
    result = []
    for index, scenario in enumerate(scenarios):
        result.append(_on(scenario, runs, seed, changes))
        if progress:
            progress((index + 1) / len(scenarios))
    return result


def _on(scenario: str, runs: int, seed: int, changes: Sequence[str]) -> RttJitter:
    changes = [*changes, "duration=5s"]
    increments, jumps = [], []
    for each in range(seed, seed + runs):
        one = run(scenario, cca="reno", seed=each, set=changes, samples="every-ack")
        rtt = samples_of(one.samples["srtt_us"].to_numpy(dtype=np.float64))
        increments.append(100 * (rtt / np.minimum.accumulate(rtt) - 1))
        jumps.append(100 * np.diff(rtt) / rtt[:-1])
    change = np.concatenate(jumps)
    comparison = compare(scenario, cca=[_CUBIC, "reno"], runs=runs, seed=seed, set=changes)
    flows = comparison.flows
    slots = comparison.slots
    slots = slots[slots["t_s"] < _START_UP_S]
    labels = flows["cca"].unique()

    def per_cca(table: pd.DataFrame, column: str, how: str) -> tuple[float, float]:
        values = table.groupby("cca")[column].agg(how)
        return float(values[labels[0]]), float(values[labels[1]])

    return RttJitter(
        scenario=scenario,
        lowest_ms=float(flows["rtt_min_ms"].min()),
        increment=_quantiles(np.concatenate(increments), (0.5, 0.95, 1.0)),
        change=_quantiles(change[change > 0], (0.95, 1.0)),
        exits=per_cca(flows, "slow_start_exit_cwnd", "median"),
        start_up=per_cca(slots, "goodput_mbps", "mean"),
    )


def samples_of(srtt_us: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the RTT samples of a smoothed RTT, which takes in an eighth of each (RFC 6298), µs."""
    before, after = srtt_us[:-1], srtt_us[1:]
    new = np.concatenate(([True], after != before))
    samples = np.concatenate((srtt_us[:1], before + 8 * (after - before)))
    return samples[new & (samples > 0)]


def _quantiles(values: NDArray[np.float64], shares: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.quantile(values, shares))
