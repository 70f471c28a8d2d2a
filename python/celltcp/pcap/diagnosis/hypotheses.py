"""Tests of hypotheses about episodes: chance, a queue, or losses independent of the rate."""

from __future__ import annotations

import math
from math import comb

import pandas as pd

from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence

#: Time before losses over which their rate is taken: RTTs, and minimum intervals.
_RATE_RTTS = 2
_MIN_RATE_INTERVALS = 2
#: Time over which the highest rate is taken: minimum intervals, and blocks. A full token bucket adds
#: little to that.
_MIN_PEAK_INTERVALS = 20
_PEAK_BLOCKS = 4
#: Share of the highest rate up to which no queue, and no policer at that rate, drops.
_MAX_LOW_SHARE = 0.7
#: Minimum episodes at such rates: their number, and their share.
_MIN_LOW_EPISODES = 2
_MIN_LOW_EPISODES_SHARE = 0.2
#: Minimum delay of a queue, segments at the highest rate: delayed ACKs and pacing make shorter delays.
_MIN_QUEUE_SEGMENTS = 2
#: Maximum number of episodes in a probability; of more episodes, an even selection.
_MAX_EPISODES = 200


def p_value_of_high_rtts(evidence: Evidence, episodes: list[Episode]) -> float:
    """Returns the p-value of the RTTs of episodes, if their losses are independent of the queue.

    Half of the RTTs are then above the median of all RTTs, and one in 20 above the 95th percentile.
    """
    known = [episode for episode in episodes if not math.isnan(episode.rtt_ms)]
    known = known[:: 1 + len(known) // _MAX_EPISODES]

    def p_value(quantile: str, one_in: int) -> float:
        hits = sum(episode.rtt_ms > _rtt_ms(evidence, episode, quantile) for episode in known)
        return binomial_tail(hits, len(known), one_in)

    return min(p_value("p50", 2), p_value("p95", 20))


def has_queue(evidence: Evidence, delays_ms: pd.Series) -> bool:
    """Returns whether half of the delays exceed the time of two segments at the highest rate."""
    return bool(delays_ms.median() >= shortest_queue_ms(evidence))


def shortest_queue_ms(evidence: Evidence) -> float:
    """Returns the time of two segments at the highest rate, which a queue exceeds."""
    segment_ms = 8e-3 * evidence.segment_bytes / float(evidence.row["goodput_peak_mbps"])
    return _MIN_QUEUE_SEGMENTS * segment_ms


def are_below_rate(evidence: Evidence, episodes: list[Episode]) -> bool:
    """Returns whether episodes were at rates far below the highest one.

    A policer, or a buffer as short as the queue at the losses, drops at its rate only. Errors of the
    path come at any rate. The first episode is left out, with the rates up to it, because a token
    bucket may have been full until then. An episode that follows another one within the time over which
    its rate is taken is left out as well: it may be of the same recovery.
    """
    counts = evidence.bytes_by_interval
    if not episodes or counts.empty or math.isnan(evidence.rtt_ms):
        return False
    first, last = int(counts.index[0]), int(counts.index[-1])
    numbers = [min(max(int(episode.start_s / INTERVAL_S), first), last) for episode in episodes]
    later = counts[counts.index > numbers[0]]
    length = min(max(_MIN_PEAK_INTERVALS, _PEAK_BLOCKS * evidence.block), len(later))
    if not length:
        return False
    highest = later.rolling(length).mean().max()
    size = max(_MIN_RATE_INTERVALS, math.ceil(_RATE_RTTS * evidence.rtt_ms / 1e3 / INTERVAL_S) + 1)
    before = counts.rolling(size, min_periods=1).mean()
    independent = [
        number
        for previous, number in zip(episodes, numbers[1:], strict=False)
        if number - int((previous.start_s + previous.span_s) / INTERVAL_S) >= size
    ]
    low_count = sum(bool(before[number] <= _MAX_LOW_SHARE * highest) for number in independent)
    return low_count >= max(_MIN_LOW_EPISODES, _MIN_LOW_EPISODES_SHARE * len(independent))


def _rtt_ms(evidence: Evidence, episode: Episode, quantile: str) -> float:
    """Returns a percentile (`p50` or `p95`) of the RTTs on the side of an episode."""
    side = "near" if episode.is_near else "far"
    return float(evidence.row[f"{side}_rtt_{quantile}_ms"])


def high_rtt_ms(evidence: Evidence, episode: Episode) -> float:
    """Returns the 95th percentile of the RTTs on the side of an episode, ms; NaN without samples."""
    return _rtt_ms(evidence, episode, "p95")


def binomial_tail(hits: int, count: int, one_in: int) -> float:
    """Returns the probability of `hits` or more of `count`, each with the probability 1/`one_in`."""
    outcomes: int = sum(comb(count, k) * (one_in - 1) ** (count - k) for k in range(hits, count + 1))
    return float(outcomes / one_in**count)
