"""Knees of trade-offs: the choice farthest above the line between both ends, as far as runs decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from celltcp.results.statistics import Estimate, estimate, runs_to_decide

if TYPE_CHECKING:
    from celltcp.comparison.verdicts.stakes import Stake

#: Minimum height of a knee above the line between the ends of the front, with both ranges scaled to 1.
_MIN_HEIGHT = 0.15
#: Height by which a choice may be above another one that is as good a knee.
_SAME_HEIGHT = 0.1
#: Maximum tail of a knee, as a share of that of the choice with most goodput.
_MAX_TAIL_SHARE = 0.7
#: Ends of the names of metrics that are times.
_TIMES = ("_s", "_ms")


class Knee(NamedTuple):
    """Knee of a front of choices, or the choices that more runs may show to be the knee."""

    #: The knee by the means of the runs, or the choice that is most likely it; None without one.
    name: str | None
    #: Choices that may be the knee, in the order of the front; empty if that is decided.
    possible: Sequence[str] = ()
    #: Number of runs that would likely decide; None if it is too large, unknown or not needed.
    runs_needed: int | None = None
    #: Whether more runs may also show no knee.
    may_be_none: bool = False


class Choices(Protocol):
    """Choices by their names, with the tails of a metric of percentiles."""

    @property
    def choices(self) -> Mapping[str, object]:
        """The choices by their names."""

    def tail_values(self, stake: Stake) -> Sequence[Mapping[str, Sequence[float]]]:
        """Returns the 99th percentiles and maxima of all choices for a stake of percentiles."""


def knee_of(ranking: Choices, front: Sequence[str], other: Stake, goodput: Stake) -> Knee:
    """Returns the knee of a front: the choice that is farthest above the line between both ends.

    A knee is decided if the 95 % intervals over the runs have its height above the minimum, no rival
    far above it, and its times below those of the end with most goodput.

    Args:
        ranking: the choices, as of a sweep.
        front: names of the choices, the best one by the other metric first.
        other: stake in the other metric.
        goodput: stake in goodput.
    """
    if len(front) < 3:
        is_sure = all(other.is_gain(front[0], name) for name in front[1:])
        return Knee(None, () if is_sure else front, other.verdict.runs_needed)
    heights = _heights(front, other, goodput)
    most = max(front, key=goodput.signed_mean)
    #: By choice, estimates that are all above zero if it is high enough.
    evidence = {
        name: [
            _less(estimate(heights[name]), _MIN_HEIGHT),
            *_tail_evidence(ranking, front, other, name, most),
        ]
        for name in front
        if name not in (front[0], most) and not other.is_tied(name, most)
    }
    evidence = {
        name: each
        for name, each in evidence.items()
        # Of tails, which single runs have, the mean counts.
        if (each[0].mean > 0 or each[0].includes_zero) and all(tail.mean > 0 for tail in each[1:])
    }
    if not evidence:
        return Knee(None)
    high = [name for name, each in evidence.items() if all(of.mean > 0 for of in each)]
    best = max(high or evidence, key=lambda name: estimate(heights[name]).mean)
    gaps = {
        name: estimate([a - b for a, b in zip(heights[name], heights[best], strict=True)])
        for name in evidence
    }
    rivals = [name for name, gap in gaps.items() if gap.mean + (gap.ci95 or 0.0) > _SAME_HEIGHT]
    doubts = [each for each in evidence[best] if each.mean <= 0 or each.includes_zero]
    if not rivals and not doubts and other.is_gain(best, most):
        return Knee(best)
    runs = len(heights[best])
    needed = max(
        (runs_to_decide(gap, _SAME_HEIGHT, runs) for gap in (*map(gaps.get, rivals), *doubts) if gap),
        default=math.inf,
    )
    possible = [name for name in front if name in rivals or name == best]
    return Knee(best, possible, int(needed) if math.isfinite(needed) else None, may_be_none=not high)


def _heights(front: Sequence[str], other: Stake, goodput: Stake) -> dict[str, list[float]]:
    """Returns by choice the heights of the runs above the line between the ends of the front.

    Each run has a line of its own, as its channel has. Times count by their ratios: they differ by
    orders of magnitude, of which a straight scale sees the longest alone.
    """
    columns = [_scaled(front, stake) for stake in (other, goodput)]
    sums = {
        name: [sum(pair) for pair in zip(*(column[name] for column in columns), strict=True)]
        for name in front
    }
    most = max(front, key=goodput.signed_mean)
    line = [(a + b) / 2 for a, b in zip(sums[front[0]], sums[most], strict=True)]
    return {name: [a - b for a, b in zip(of, line, strict=True)] for name, of in sums.items()}


def _scaled(front: Sequence[str], stake: Stake) -> dict[str, list[float]]:
    """Returns the values of the runs by choice, with the range of the means scaled to 1."""
    sign = -1.0 if stake.is_less_better else 1.0
    values = {name: [sign * value for value in stake.values[name]] for name in front}
    if stake.metric.endswith(_TIMES) and all(
        -math.inf < value < 0 for each in values.values() for value in each
    ):
        values = {name: [-math.log(-value) for value in each] for name, each in values.items()}
    means = [estimate(each).mean for each in values.values()]
    low, high = min(means), max(means)
    return {name: [(value - low) / (high - low) for value in each] for name, each in values.items()}


def _tail_evidence(
    ranking: Choices, front: Sequence[str], other: Stake, name: str, most: str
) -> list[Estimate]:
    """Returns by how much the longest times of a choice are below those with most goodput, as logs.

    A shaper that is above the rate of its link for some of the time leaves the worst waits as they
    are, whatever the percentile of the ranking.
    """
    evidence = []
    for tails in ranking.tail_values(other):
        means = {each: estimate(tails[each]).mean for each in (front[0], most)}
        # A tail that the best choice has as well is not that of the queue.
        if means[front[0]] <= _MAX_TAIL_SHARE * means[most]:
            pairs = zip(tails[most], tails[name], strict=True)
            shares = [math.log(_MAX_TAIL_SHARE * long / short) for long, short in pairs]
            evidence.append(estimate(shares))
    return evidence


def _less(value: Estimate, by: float) -> Estimate:
    return Estimate(value.mean - by, value.ci95)
