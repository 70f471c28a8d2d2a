"""Reversals in a sweep: values that are better by one statistic of an application, worse by another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from celltcp.comparison.metrics import APP_METRICS, LATE_RESPONSES, sign_of, words_of
from celltcp.comparison.stakes import Stake
from celltcp.results.statistics import Verdict, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.best_values import FieldRanking

#: Statistics of times, in the order in which they are compared; the empty one is the mean.
_STATISTICS = ("_p50", "", "_p95", "_p99")
#: Minimum difference of a statistic for a reversal, as a share of the larger mean.
_MIN_DIFFERENCE = 0.2
#: Times beside shares of what is late.
_TIMES = {"late_share": "frame_delay_ms", LATE_RESPONSES: "response_s"}


def change_reversal_text(ranking: FieldRanking, stake: Stake, name: str, start: str) -> str:
    """Returns the statistic that a choice changes against the stake's metric, or makes worse.

    Args:
        ranking: ranking of the choices.
        stake: stake of a flow.
        name: name of the choice.
        start: name of the choice in whose place it is.
    """
    better, worse = (name, start) if stake.is_gain(start, name) else (start, name)
    for other in _statistics(ranking, stake):
        if _is_reversed(other, better, worse):
            return f", but {words_of(other.metric).name} {_means_text(other, name, start)}"
    return ""


def best_reversal_text(ranking: FieldRanking, stake: Stake) -> str:
    """Returns the first statistic by which another choice is better than the leader, with that one."""
    leader = stake.verdict.leader
    if leader is None:
        return ""
    for other in _statistics(ranking, stake):
        best = max(other.values, key=other.signed_mean)
        if _is_reversed(other, best, leader):
            return f"but by {words_of(other.metric).name} {best}, {_means_text(other, best, leader)}"
    return ""


def _statistics(ranking: FieldRanking, stake: Stake) -> Iterator[Stake]:
    """Yields the other statistics of the times of a stake's application."""
    times = _TIMES.get(stake.metric, stake.metric)
    for statistic in _STATISTICS:
        metric = re.sub(r"(?:_p\d+)?(?=_m?s$)", statistic, times, count=1)
        if metric == stake.metric or metric not in APP_METRICS or sign_of(metric) >= 0:
            continue
        if values := ranking.application_values(stake.flow, metric, has_enough=True):
            yield Stake(stake.flow, metric, "", values, Verdict(None))


def _is_reversed(other: Stake, better: str, worse: str) -> bool:
    low, high = (estimate(other.values[name]).mean for name in (better, worse))
    return other.is_gain(better, worse) and high - low >= _MIN_DIFFERENCE * high


def _means_text(other: Stake, name: str, old: str) -> str:
    """Returns the mean of a choice, and that of the one that it is compared with."""
    new_mean, old_mean = (estimate(other.values[each]).mean for each in (name, old))
    words = words_of(other.metric).suited(new_mean, old_mean)
    return f"{words.own_text(new_mean)} instead of {words.number(old_mean)}"
