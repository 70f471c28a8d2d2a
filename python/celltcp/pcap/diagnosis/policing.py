"""Policer: losses of the excess over a constant rate, without a queue.

A token bucket is empty whenever it drops a segment. So the bytes that passed between two drops are
those of its rate (Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016). A sender
that slows down below the rate lets the bucket fill: less than the rate passes until the next drop then,
but never more. Within an episode of drops, the bucket stays empty.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.pcap.diagnosis.hypotheses import has_queue

#: Minimum losses without a queue, and least steps between them.
_LOSSES = 20
_STEPS = 8
#: Segments of a step at the mean rate; losses within a step are a burst.
_STEP = 10
#: Minimum share of the losses in bursts: those at random stand alone.
_BURSTS = 0.6
#: Place in the queue, from 0 to 1, and share of the usual RTT up to which no queue stood. The usual RTT
#: is the median, up to this share of the lowest one: jitter, and bursts in the queue of a faster link.
_SHORT = 0.5
_LOW = 1.25
_USUAL = 1.35
#: Minimum share of the losses at such RTTs.
_LOW_SHARE = 0.15
#: Share of the transfer over which the losses spread.
_SPREAD = 0.5
#: Largest deviation from the rate: of the mean over all steps, and of half of the steps.
_MEAN = 0.05
_HALF = 0.1
#: Maximum step within an episode of drops, RTTs, and the largest deviation of half of these steps.
_EPISODE = 1.5
_HALF_WITHIN = 0.05
#: Share of all steps that may pass more than the rate.
_ABOVE = 0.15
#: Steps within episodes that show a policer by themselves, however short the time of its drops.
_MANY = 16


def policer(evidence: Evidence) -> str:
    """Bursts of losses at low RTTs, between which one and the same rate passes."""
    row = evidence.row
    if not evidence.is_at_sender:
        return ""
    lost = evidence.losses[evidence.losses["kind"].isin(["congestion", "random", "tail"])]
    lost = lost.sort_values(["t_s", "seq"])
    usual = min(row["far_rtt_p50_ms"], _USUAL * row["far_rtt_min_ms"])
    is_low = (lost["rtt_ms"] <= _LOW * usual).to_numpy()
    is_short = lost["queue"].median() < _SHORT or not has_queue(
        evidence, lost["rtt_ms"] - row["far_rtt_min_ms"]
    )
    if is_low.sum() < max(_LOSSES, _LOW_SHARE * len(lost)) or not is_short:
        return ""
    times, passed = lost["t_s"].to_numpy()[is_low], _passed(lost)[is_low]
    spread = float(times[-1] - times[0])
    mean = float(passed[-1] - passed[0]) / spread if spread > 0 else 0.0
    if mean <= 0:
        return ""
    ends = _steps(times, _STEP * float(lost["len"].median()) / mean)
    lengths = np.diff(times[ends])
    rates = np.diff(passed[ends]) / lengths
    if len(rates) < _STEPS or 1 - len(ends) / len(times) < _BURSTS:
        return ""
    within = rates[lengths <= _EPISODE * row["far_rtt_p50_ms"] / 1e3]
    is_long = spread >= _SPREAD * row["download_s"]
    rate = _rate_within(within, rates)
    if not rate or not (is_long or len(within) >= _MANY):
        # Without any step within an episode, the sender may have been below the rate all the time.
        rate = _rate_of_all(rates, mean) if is_long and len(within) else 0.0
    if not rate:
        return ""
    return (
        f"a policer on the path limits the rate to {8e-6 * rate:.3g} Mbit/s of payload: {len(lost)} "
        "segments were lost without a queue, and between the losses this rate passed"
    )


def _rate_of_all(rates: NDArray[np.float64], mean: float) -> float:
    """Returns the rate that passed all the time, the same over steps; 0 if there is none."""
    low, rate, high = np.quantile(rates, (0.25, 0.5, 0.75))
    is_constant = (1 - _HALF) * rate <= low and high <= (1 + _HALF) * rate
    return float(rate) if is_constant and abs(mean - rate) <= _MEAN * rate else 0.0


def _rate_within(within: NDArray[np.float64], rates: NDArray[np.float64]) -> float:
    """Returns the rate within episodes of drops, which is never exceeded; 0 if there is none."""
    if len(within) < _STEPS:
        return 0.0
    low, rate, high = np.quantile(within, (0.25, 0.5, 0.75))
    is_constant = (1 - _HALF_WITHIN) * rate <= low and high <= (1 + _HALF_WITHIN) * rate
    return float(rate) if is_constant and (rates > (1 + _HALF) * rate).mean() <= _ABOVE else 0.0


def _passed(lost: pd.DataFrame) -> NDArray[np.float64]:
    """Returns the bytes that passed before each loss: sent ones and repairs, without lost ones."""
    lengths = lost["len"].to_numpy(dtype=float)
    repaired = lost["repaired_s"].fillna(np.inf).to_numpy()
    order = np.argsort(repaired, kind="stable")
    repairs = np.concatenate(([0.0], np.cumsum(lengths[order])))
    before = np.searchsorted(repaired[order], lost["t_s"].to_numpy(), side="left")
    sent = np.maximum.accumulate(lost["seq"].to_numpy(dtype=float))
    passed: NDArray[np.float64] = sent - (np.cumsum(lengths) - lengths) + repairs[before]
    return passed


def _steps(times: NDArray[np.float64], step: float) -> list[int]:
    """Returns the places of losses that are at least a step apart."""
    ends = [0]
    for index, time in enumerate(times):
        if time - times[ends[-1]] >= step:
            ends.append(index)
    return ends
