"""RTT samples under a download, analysed as in annex A1 of atxutegi2018-thesis.

Figure 7.2 has the increment of the RTT over its minimum, figure 7.3 the change from one sample to the
next, both in percent and under NewReno. The text states an RTT of the emulator without load of 12 to
25 ms, and changes of up to 100 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.comparison.run import compare
from celltcp.comparison.single_run import run
from celltcp.radio.phases import START_UP_S

#: Scenarios of the emulated testbed with the latency of annex A1.
SCENARIOS = tuple(
    f"mobility/{movement}-{speed}-low"
    for speed in (60, 120, 300)
    for movement in ("forward", "backward")
)
#: CUBIC with the HyStart of the kernel of the experiments.
_CUBIC = "cubic:slow_start=linux-4.8"


@dataclass(frozen=True)
class RttJitter:
    """RTT samples of NewReno on one scenario, and the effect of HyStart."""

    scenario: str
    min_ms: float
    #: RTT above the minimum so far, %: median, 95th percentile, maximum.
    increments: tuple[float, ...]
    #: Rise from one sample to the next, %: 95th percentile of the rises, maximum.
    rises: tuple[float, ...]
    #: Median window at which slow start ends, segments: CUBIC with HyStart, NewReno.
    exit_windows: tuple[float, float]
    #: Mean goodput of the start-up (2 s), Mbit/s: CUBIC with HyStart, NewReno.
    start_up_mbps: tuple[float, float]


def rtt_jitter(
    runs: int,
    seed: int,
    scenarios: Sequence[str] = SCENARIOS,
    changes: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> list[RttJitter]:
    """Measures the first 5 s of NewReno and CUBIC on each scenario."""
    result = []
    for index, scenario in enumerate(scenarios):
        result.append(_measure(scenario, runs, seed, changes))
        if progress:
            progress((index + 1) / len(scenarios))
    return result


def _measure(scenario: str, runs: int, seed: int, changes: Sequence[str]) -> RttJitter:
    changes = [*changes, "duration=5s"]
    increments, differences = [], []
    for run_seed in range(seed, seed + runs):
        single_run = run(scenario, cca="reno", seed=run_seed, set=changes, samples="every-ack")
        rtt_us = rtt_samples(single_run.samples["srtt_us"].to_numpy(dtype=np.float64))
        increments.append(100 * (rtt_us / np.minimum.accumulate(rtt_us) - 1))
        differences.append(100 * np.diff(rtt_us) / rtt_us[:-1])
    changes_percent = np.concatenate(differences)
    comparison = compare(scenario, cca=[_CUBIC, "reno"], runs=runs, seed=seed, set=changes)
    flows = comparison.flows
    slots = comparison.slots
    slots = slots[slots["t_s"] < START_UP_S]
    cubic, reno = flows["cca"].unique()

    def per_cca(table: pd.DataFrame, column: str, statistic: str) -> tuple[float, float]:
        values = table.groupby("cca")[column].agg(statistic)
        return float(values[cubic]), float(values[reno])

    return RttJitter(
        scenario=scenario,
        min_ms=float(flows["rtt_min_ms"].min()),
        increments=tuple(np.quantile(np.concatenate(increments), (0.5, 0.95, 1.0))),
        rises=tuple(np.quantile(changes_percent[changes_percent > 0], (0.95, 1.0))),
        exit_windows=per_cca(flows, "slow_start_exit_cwnd", "median"),
        start_up_mbps=per_cca(slots, "goodput_mbps", "mean"),
    )


def rtt_samples(srtt_us: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the RTT samples, µs, from the smoothed RTT, which moves by 1/8 of each (RFC 6298)."""
    previous, current = srtt_us[:-1], srtt_us[1:]
    is_new = np.concatenate(([True], current != previous))
    samples = np.concatenate((srtt_us[:1], previous + 8 * (current - previous)))
    return samples[is_new & (samples > 0)]
