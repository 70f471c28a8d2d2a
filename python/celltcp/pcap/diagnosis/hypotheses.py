"""Hypotheses about episodes: chance, a queue, or losses independent of the rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import comb

import pandas as pd

from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence

#: Round trips before losses over which their rate is taken, and least intervals of those.
_BEFORE_RTTS = 2
_BEFORE = 2
#: Minimum intervals of the highest passed rate, and blocks of intervals: a full token bucket
#: adds little to that.
_LONG = 20
_LONG_BLOCKS = 4
#: Share of that rate below which no queue and no policer at it drops, and the least episodes, and share
#: of them, at such rates.
_BELOW = 0.7
_SOME = 2
_SHARE = 0.2
#: Maximum delay without a queue, segments at the highest rate: delayed ACKs and pacing make it.
_NO_QUEUE = 2
#: Maximum number of episodes in a probability; of more, an even selection.
_DRAWN = 200


def chance_of_high_rtts(evidence: Evidence, chosen: list[Episode]) -> float:
    """Returns the probability that episodes which no queue causes are at RTTs as high.

    By chance, half of them are above the median of all RTTs, and one in 20 above the 95th percentile.
    """
    known = [episode for episode in chosen if not math.isnan(episode.rtt_ms)]
    known = known[:: 1 + len(known) // _DRAWN]

    def hits(quantile: str) -> int:
        return sum(episode.rtt_ms > _rtt(evidence, episode, quantile) for episode in known)

    chances: list[Callable[[], float]] = [
        lambda: at_least(hits("p50"), len(known), 2),
        lambda: at_least(hits("p95"), len(known), 20),
    ]
    return min(chance() for chance in chances)


def has_queue(evidence: Evidence, delays_ms: pd.Series) -> bool:
    """Whether half of the delays are longer than two segments take at the highest rate that passed."""
    segment_ms = 8e-3 * evidence.segment / float(evidence.row["goodput_peak_mbps"])
    return bool(delays_ms.median() >= _NO_QUEUE * segment_ms)


def are_below_rate(evidence: Evidence, own: list[Episode]) -> bool:
    """Whether episodes were at rates far below the one that passed at other times for long.

    A policer, or a buffer as short as the queue at the losses, drops at its rate only. Losses of
    errors of the path come at any rate. The first episode is left out, with the rates up to it, because
    a token bucket may have been full until then. An episode that follows another one within the time
    that its rate is taken over is left out as well: it may be of the same recovery.
    """
    bytes_ = evidence.passed
    if not own or bytes_.empty or math.isnan(evidence.rtt_ms):
        return False
    first, last = int(bytes_.index[0]), int(bytes_.index[-1])
    places = [min(max(int(episode.start_s / INTERVAL_S), first), last) for episode in own]
    later = bytes_[bytes_.index > places[0]]
    length = min(max(_LONG, _LONG_BLOCKS * evidence.block), len(later))
    if not length:
        return False
    highest = later.rolling(length).mean().max()
    size = max(_BEFORE, math.ceil(_BEFORE_RTTS * evidence.rtt_ms / 1e3 / INTERVAL_S) + 1)
    before = bytes_.rolling(size, min_periods=1).mean()
    apart = [
        place
        for previous, place in zip(own, places[1:], strict=False)
        if place - int((previous.start_s + previous.span_s) / INTERVAL_S) >= size
    ]
    below = sum(bool(before[place] <= _BELOW * highest) for place in apart)
    return below >= max(_SOME, _SHARE * len(apart))


def _rtt(evidence: Evidence, episode: Episode, quantile: str) -> float:
    """Returns a quantile of the RTTs on the side of an episode, ms."""
    side = "near" if episode.is_upstream else "far"
    return float(evidence.row[f"{side}_rtt_{quantile}_ms"])


def at_least(hits: int, count: int, one_in: int) -> float:
    """Returns the probability of `hits` or more of `count`, each with the probability 1/`one_in`."""
    ways: int = sum(
        comb(count, each) * (one_in - 1) ** (count - each) for each in range(hits, count + 1)
    )
    return float(ways / one_in**count)
