"""Reversals: CCAs or values that are better by one statistic of an application, worse by another."""

from __future__ import annotations

import math
import re
import statistics
from typing import TYPE_CHECKING, Protocol

from celltcp.comparison.applications.applications import has_too_few
from celltcp.comparison.metrics import APP_METRICS, LATE_RESPONSES, sign_of, words_of
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.results.statistics import Verdict, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from celltcp.comparison.applications.applications import Application

#: Statistics of times, in the order in which they are compared; the empty one is the mean.
_STATISTICS = ("_p50", "", "_p95", "_p99")
#: Number of statistics that are none of the tail, and the maximum number of reversals in a text.
_MEDIAN_AND_MEAN, _MAX_REVERSALS = 2, 2
#: Minimum difference of a statistic for a reversal, as a share of the larger mean.
_MIN_DIFFERENCE = 0.2
#: Times beside shares of what is late.
_TIMES = {"late_share": "frame_delay_ms", LATE_RESPONSES: "response_s"}
#: Minimum number of runs with one transfer each that have a median of their own.
_MIN_RUNS = 20
#: Maximum p-value of a sign test.
_MAX_P = 0.05


class _Statistics(Protocol):
    """Values of the statistics of applications."""

    def application_values(
        self, flow: str, metric: str, *, has_enough: bool = False
    ) -> Mapping[str, Sequence[float]]:
        """Returns the values of a metric by name; empty if some lack it, or have too few for it."""


class ApplicationStatistics:
    """Statistics of the applications of a comparison."""

    def __init__(self, applications: Sequence[Application]) -> None:
        self._applications = {application.flow: application for application in applications}

    def application_values(
        self, flow: str, metric: str, *, has_enough: bool = False
    ) -> Mapping[str, Sequence[float]]:
        """Returns the values of a metric by CCA; empty if some lack it, or have too few for it."""
        application = self._applications.get(flow)
        if application is None or metric not in application.names:
            return {}
        few = has_enough and any(has_too_few(metric, each) for each in application.metrics.values())
        return {} if few else application.values(metric)


def change_reversal_text(ranking: _Statistics, stake: Stake, name: str, start: str) -> str:
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


def mean_decides(application: Application, stake: Stake) -> bool:
    """Returns whether the leader by a p95 loses to one choice by the median and by the mean, by much.

    Such a p95 is one of losses and time-outs, which a shorter queue makes more of.
    """
    known = ApplicationStatistics([application])
    others = [each for each in _statistics(known, stake) if not each.metric.endswith("_p99_s")]
    leader = stake.verdict.leader
    if leader is None or len(others) < _MEDIAN_AND_MEAN or "_p95_" not in stake.metric:
        return False
    return any(all(_is_reversed(each, name, leader) for each in others) for name in stake.values)


def best_reversal_text(
    ranking: _Statistics, stake: Stake, names: Mapping[str, str] | None = None
) -> str:
    """Returns the statistics by which other choices are better than the leader, with those.

    Of runs with one transfer each that is their median, if a sign test agrees. `names` are labels.
    """
    leader = stake.verdict.leader
    if leader is None:
        return ""
    texts: dict[str, str] = {}
    for other in _statistics(ranking, stake):
        best = max(other.values, key=other.signed_mean)
        if best not in texts and _is_reversed(other, best, leader):
            name = (names or {}).get(best, best)
            texts[best] = f"by {words_of(other.metric).name} {name}, {_means_text(other, best, leader)}"
    if texts:
        return f"but {'; '.join([*texts.values()][:_MAX_REVERSALS])}"
    best, text = _median_text(ranking, stake, leader)
    return text and f"but by the median of the runs {(names or {}).get(best, best)}, {text}"


def _median_text(ranking: _Statistics, stake: Stake, leader: str) -> tuple[str, str]:
    """Returns the choice with the best median of runs with one transfer each, and both medians.

    Empty texts if the leader has it, too, or if the runs do not decide.
    """
    counts = ranking.application_values(stake.flow, "transfers")
    if not stake.metric.startswith("completion") or any(max(each) > 1 for each in counts.values()):
        return "", ""
    medians = {name: statistics.median(values) for name, values in stake.values.items()}
    best = min(medians, key=medians.__getitem__)
    pairs = list(zip(stake.values[best], stake.values[leader], strict=True))
    if len(pairs) < _MIN_RUNS or medians[leader] - medians[best] < _MIN_DIFFERENCE * medians[leader]:
        return "", ""
    wins, losses = sum(one < other for one, other in pairs), sum(one > other for one, other in pairs)
    if wins <= losses or _sign_test(wins, losses) > _MAX_P:
        return "", ""
    words = words_of(stake.metric).suited(medians[best], medians[leader])
    return best, f"{words.own_text(medians[best])} instead of {words.number(medians[leader])}"


def _sign_test(wins: int, losses: int) -> float:
    """Returns the two-sided p-value of so many wins of pairs, which are as likely as losses."""
    count = wins + losses
    tail = sum(math.comb(count, each) for each in range(max(wins, losses), count + 1))
    return min(1.0, 2 * tail * 0.5**count)


def _statistics(ranking: _Statistics, stake: Stake) -> Iterator[Stake]:
    """Yields the other statistics of the times of a stake's application."""
    times = _TIMES.get(stake.metric, stake.metric)
    for statistic in _STATISTICS:
        metric = re.sub(r"(?:_p\d+)?(?=_m?s$)", statistic, times, count=1)
        if metric == stake.metric or metric not in APP_METRICS or sign_of(metric) >= 0:
            continue
        if values := ranking.application_values(stake.flow, metric, has_enough=True):
            known = {name: list(values[name]) for name in stake.values if name in values}
            yield Stake(stake.flow, metric, "", known, Verdict(None))


def _is_reversed(other: Stake, better: str, worse: str) -> bool:
    low, high = (estimate(other.values[name]).mean for name in (better, worse))
    return other.is_gain(better, worse) and high - low >= _MIN_DIFFERENCE * high


def _means_text(other: Stake, name: str, old: str) -> str:
    """Returns the mean of a choice, and that of the one that it is compared with."""
    new_mean, old_mean = (estimate(other.values[each]).mean for each in (name, old))
    words = words_of(other.metric).suited(new_mean, old_mean)
    return f"{words.own_text(new_mean)} instead of {words.number(old_mean)}"
