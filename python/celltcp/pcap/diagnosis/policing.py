"""Policer: a device that drops the excess over a constant rate, without a queue.

A token bucket is empty whenever it drops a segment. So the bytes that passed between two drops are
those of its rate (Flach et al., An Internet-Wide Analysis of Traffic Policing, SIGCOMM 2016). A sender
that slows down below the rate lets the bucket fill. Less than the rate, but never more, then passes
until the next drop. Within an episode of drops, the bucket stays empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.causes import Cause, Sentence, named
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence
from celltcp.pcap.diagnosis.hypotheses import has_queue
from celltcp.scenarios.quantity_texts import size_text, three_digits

#: Words about a policer whose bucket is not known.
_BETWEEN = "between the losses this rate passed"
#: Minimum number of losses without a queue, and of steps between them.
_MIN_LOSSES = 20
_MIN_STEPS = 8
#: Segments that pass in a step at the mean rate; losses within a step are a burst.
_STEP_SEGMENTS = 10
#: Minimum share of the losses in bursts: random losses stand alone.
_MIN_BURST_SHARE = 0.5
#: Maximum place in the queue, from 0 to 1, of losses at a short queue.
_MAX_SHORT_QUEUE = 0.5
#: Maximum ratio of a low RTT to the usual one, and of the usual one to the lowest. The usual RTT is the
#: median: it has jitter, and bursts in the queue of a faster link.
_MAX_LOW_RATIO = 1.25
_MAX_USUAL_RATIO = 1.35
#: Minimum share of the losses at low RTTs.
_MIN_LOW_SHARE = 0.15
#: Minimum share of the time of the transfer over which the losses spread.
_MIN_SPREAD_SHARE = 0.5
#: Maximum relative deviation from the rate: of the mean over all steps, and of half of the steps.
_MAX_MEAN_DEVIATION = 0.05
_MAX_STEP_DEVIATION = 0.1
#: Maximum length of a step within an episode of drops, RTTs, and maximum deviation of half of these
#: steps.
_MAX_EPISODE_RTTS = 1.5
_MAX_EPISODE_DEVIATION = 0.05
#: Maximum deviation of half of the intervals of a sender of a constant rate. In draws, those behind a
#: policer deviate by 0.05 or more.
_MAX_SENT_DEVIATION = 0.04
#: Maximum range of the rates between episodes beside the receiver, without a tenth at both ends. In
#: draws, half of the policers kept to it, and none of 80 other paths.
_MAX_BETWEEN_RANGE = 0.1
#: Minimum ratio of a long step to a short one that are of different windows.
_MIN_LENGTH_RATIO = 1.3
#: Maximum share of the steps in which more than the rate passes.
_MAX_ABOVE_SHARE = 0.15
#: Minimum number of steps within episodes that show a policer, however short the time of its drops.
_MIN_EPISODE_STEPS = 16
#: Intervals over which no more than the rate passes, but for a bucket that has filled, and minimum
#: ratio to the mean between losses at which that is below it.
_PEAK_INTERVALS, _MIN_HIGHER = 10, 1.12
#: Maximum share of the time in waits for applications beside the receiver.
_MAX_WAITED_SHARE = 0.1
#: Minimum delay of a standing queue, ms and as a share of the lowest RTT, minimum number of intervals
#: with one, and minimum share of its rate that is that of the link.
_MIN_QUEUE_MS, _MIN_QUEUE_SHARE, _MIN_QUEUED, _MIN_LINK_SHARE = 5.0, 0.05, 10, 0.95
#: Maximum median step, RTTs, where few are within episodes: a window that grows to the rate again. In
#: draws, policers had at most 13, and bursts of errors under a constant rate of the sender 20 or more.
_MAX_CYCLE_RTTS = 15


class Policing(NamedTuple):
    """A policer: bursts of losses at low RTTs, and one rate between them."""

    #: Payload that passed between the losses, bytes/s.
    rate: float
    #: Time of the first loss without a queue, s.
    first_s: float
    #: Lost segments, and those of them without a queue.
    lost: int
    low: int


def policer(evidence: Evidence) -> Sentence:
    """Returns the sentence about a policer; empty if the losses show none."""
    found = policing(evidence)
    if found is None:
        return Sentence()
    mbps = 8e-6 * found.rate
    # Beside the receiver, a queue before the policer may hide from the echoes of timestamps.
    beginning = "" if evidence.is_at_sender else "most likely "
    burst = evidence.row.get("policer_burst_bytes", 0)
    why = f"its bucket of {size_text(burst)} explains which" if burst > 0 else _BETWEEN
    text = (
        f"a policer on the path limits the rate to {three_digits(mbps)} Mbit/s of payload: "
        f"{found.lost} segments were lost, at least {found.low} of them without a queue, and {why}"
    )
    return beginning + named(Cause.POLICER, text, mbps=mbps)


def policing(evidence: Evidence) -> Policing | None:
    """Returns the policer that the losses of a transfer show; None without one.

    Beside the receiver, echoes of timestamps show the RTT on which the losses have no queue.
    """
    row = evidence.row
    is_near = row["place"] == "receiver" and evidence.has_near_rtts
    # Requests and pauses at regular times have one rate between bursts, too.
    if not (evidence.is_at_sender or (is_near and not _waits_for_applications(evidence))):
        return None
    usual_rtt_ms, lowest_ms = row["far_rtt_p50_ms"], row["far_rtt_min_ms"]
    if is_near:
        usual_rtt_ms, lowest_ms = row["near_rtt_p50_ms"], row["near_rtt_min_ms"]
    lost = evidence.losses[evidence.losses["kind"].isin(["congestion", "random", "tail"])]
    lost = lost.sort_values(["t_s", "seq"])
    usual_ms = min(usual_rtt_ms, _MAX_USUAL_RATIO * lowest_ms)
    is_low = (lost["rtt_ms"] <= _MAX_LOW_RATIO * usual_ms).to_numpy()
    if row.get("policer_mbps", 0) > 0:
        return Policing(
            125e3 * float(row["policer_mbps"]), float(lost["t_s"].min()), len(lost), int(is_low.sum())
        )
    # Slow start may have filled the queue of the link, too.
    low = lost[is_low]
    is_short = low["queue"].median() < _MAX_SHORT_QUEUE or not has_queue(
        evidence, low["rtt_ms"] - lowest_ms
    )
    if is_low.sum() < max(_MIN_LOSSES, _MIN_LOW_SHARE * len(lost)) or not is_short:
        return None
    times, passed = lost["t_s"].to_numpy()[is_low], _bytes_passed(lost)[is_low]
    spread_s = float(times[-1] - times[0])
    mean_rate = float(passed[-1] - passed[0]) / spread_s if spread_s > 0 else 0.0
    if mean_rate <= 0:
        return None
    ends = _ends_of_steps(times, _STEP_SEGMENTS * float(lost["len"].median()) / mean_rate)
    lengths = np.diff(times[ends])
    rates = np.diff(passed[ends]) / lengths
    if len(rates) < _MIN_STEPS or 1 - len(ends) / len(times) < _MIN_BURST_SHARE:
        return None
    rtt_s = usual_rtt_ms / 1e3
    if is_near:
        # Times of losses within an episode are those of the next segment that came.
        between = rates[lengths > _MAX_EPISODE_RTTS * rtt_s]
        if len(between) < _MIN_STEPS or _may_be_below(evidence, lengths, has_episodes=True):
            return None
        low_rate, rate, high_rate = np.quantile(between, (0.1, 0.5, 0.9))
        is_even = high_rate - low_rate <= _MAX_BETWEEN_RANGE * rate
        if not is_even or spread_s < _MIN_SPREAD_SHARE * row["download_s"]:
            return None
        # Where windows below the rate take much of the time between losses, more passes at other times.
        sent = evidence.bytes_by_interval.iloc[len(evidence.bytes_by_interval) // 10 :]
        highest = float(sent.rolling(_PEAK_INTERVALS).mean().quantile(0.95)) / INTERVAL_S
        rate = highest if highest > _MIN_HIGHER * rate else float(rate)
        return Policing(rate, float(times[0]), len(lost), int(is_low.sum()))
    within = rates[lengths <= _MAX_EPISODE_RTTS * rtt_s]
    is_long = spread_s >= _MIN_SPREAD_SHARE * row["download_s"]
    rate = _constant_rate(within, _MAX_EPISODE_DEVIATION) if len(within) >= _MIN_STEPS else 0.0
    if (rates > (1 + _MAX_STEP_DEVIATION) * rate).mean() > _MAX_ABOVE_SHARE:
        rate = 0.0
    if not rate or not (is_long or len(within) >= _MIN_EPISODE_STEPS):
        # A sender that never exceeds the rate of the path loses only what errors of the path drop.
        has_cycles = len(within) >= _MIN_STEPS or np.median(lengths) <= _MAX_CYCLE_RTTS * rtt_s
        has_cycles &= not _may_be_below(evidence, lengths, has_episodes=len(within) > 0)
        rate = _constant_rate(rates, _MAX_STEP_DEVIATION) if is_long and has_cycles else 0.0
        rate = rate if abs(mean_rate - rate) <= _MAX_MEAN_DEVIATION * rate else 0.0
    if not rate or _is_rate_of_queue(evidence, rate):
        return None
    return Policing(rate, float(times[0]), len(lost), int(is_low.sum()))


def _is_rate_of_queue(evidence: Evidence, rate: float) -> bool:
    """Returns whether the same rate passes while a queue stands: it is then that of the link."""
    own, lowest_ms = evidence.steady, float(evidence.row["far_rtt_min_ms"])
    min_rtt_ms = lowest_ms + max(_MIN_QUEUE_MS, _MIN_QUEUE_SHARE * lowest_ms)
    queued = own.loc[own["rtt_min_ms"] > min_rtt_ms, "acked_bytes"] / INTERVAL_S
    return len(queued) >= _MIN_QUEUED and rate >= _MIN_LINK_SHARE * float(queued.median())


def _waits_for_applications(evidence: Evidence) -> bool:
    """Returns whether applications let much of the time pass."""
    waited_s = sum(evidence.turns_s(side) + evidence.pauses_s(side) for side in ("client", "server"))
    return waited_s > _MAX_WAITED_SHARE * float(evidence.row["download_s"])


def burst_before(
    starts_s: NDArray[np.float64], sizes: NDArray[np.float64], first_s: float, rate: float
) -> float:
    """Returns the most payload that passed above a rate in a time up to the first loss, bytes.

    Args:
        starts_s: times at which data began to pass, s.
        sizes: payload that passed then, bytes.
        first_s: time of the loss, s.
        rate: rate of the policer, bytes/s.
    """
    is_before = starts_s < first_s
    from_start = np.cumsum(sizes[is_before][::-1])[::-1]
    return float((from_start - rate * (first_s - starts_s[is_before])).max(initial=0.0))


def _may_be_below(evidence: Evidence, lengths: NDArray[np.float64], *, has_episodes: bool) -> bool:
    """Returns whether a sender may be below the rate of a policer all the time, with one rate in steps.

    It sends at a constant rate; or its window shrinks whenever it has one size, after steps of one
    length, none of which is within an episode.
    """
    shortest, longest = np.quantile(lengths, (0.1, 0.9))
    has_one_length = not has_episodes and longest < _MIN_LENGTH_RATIO * shortest
    sent = evidence.bytes_by_interval.to_numpy(float)
    return bool(has_one_length or _constant_rate(sent, _MAX_SENT_DEVIATION))


def _constant_rate(rates: NDArray[np.float64], max_deviation: float) -> float:
    """Returns the median rate if half of the rates deviate less from it; otherwise 0."""
    low, rate, high = np.quantile(rates, (0.25, 0.5, 0.75))
    is_constant = (1 - max_deviation) * rate <= low and high <= (1 + max_deviation) * rate
    return float(rate) if is_constant else 0.0


def _bytes_passed(lost: pd.DataFrame) -> NDArray[np.float64]:
    """Returns the bytes that passed before each loss: sent ones and repairs, without lost ones."""
    lengths = lost["len"].to_numpy(dtype=float)
    repaired = lost["repaired_s"].fillna(np.inf).to_numpy()
    order = np.argsort(repaired, kind="stable")
    repairs = np.concatenate(([0.0], np.cumsum(lengths[order])))
    before = np.searchsorted(repaired[order], lost["t_s"].to_numpy(), side="left")
    sent = np.maximum.accumulate(lost["seq"].to_numpy(dtype=float))
    passed: NDArray[np.float64] = sent - (np.cumsum(lengths) - lengths) + repairs[before]
    return passed


def _ends_of_steps(times: NDArray[np.float64], step_s: float) -> list[int]:
    """Returns the indices of losses that are at least a step apart."""
    ends = [0]
    for index, time in enumerate(times):
        if time - times[ends[-1]] >= step_s:
            ends.append(index)
    return ends
