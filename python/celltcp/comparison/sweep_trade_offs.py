"""Trade-offs of a sweep: the choices of which none is better in two metrics, and their knee."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from celltcp.comparison.metrics import APP_METRICS, GOODPUT, METRICS

if TYPE_CHECKING:
    from celltcp.comparison.best_values import FieldRanking
    from celltcp.comparison.stakes import Stake

#: Minimum height of a knee above the line between the ends of the front, with both ranges scaled to 1.
_MIN_KNEE_HEIGHT = 0.15
#: Maximum tail of a knee, as a share of that of the choice with most goodput.
_MAX_TAIL_SHARE = 0.7
#: Minimum goodput in a trade-off with a delay of the network, as a share of the highest one.
MIN_GOODPUT_SHARE = 0.5
#: Ends of the names of metrics that are times.
_TIMES = ("_s", "_ms")

#: Function that returns the choice with fewest changes of those that are as good for some stakes.
Simplest: TypeAlias = "Callable[[str, Sequence[Stake]], str]"


class TradeOff(NamedTuple):
    """Pareto front of the choices in two metrics: goodput, and another one."""

    other: Stake
    goodput: Stake
    #: Names of the choices, the best one by the other metric first.
    front: list[str]
    #: Knee of the front, or its only choice.
    knee: str | None
    #: Choices that are significantly worse than one of the front.
    dominated: list[str]
    #: Choices that only more runs would separate from the front.
    undecided: list[str]


def trade_off_of(
    ranking: FieldRanking,
    stakes: Sequence[Stake],
    simplest: Simplest,
    unusable: Collection[str] = (),
) -> TradeOff | None:
    """Returns the trade-off of goodput and another metric; None if the choices have none.

    Args:
        ranking: ranking of the choices.
        stakes: stakes of the flows.
        simplest: function for the choice that changes fewest settings of those as good as one.
        unusable: choices that are left out, as an application fails with them.
    """
    goodput = next((stake for stake in stakes if stake.metric == GOODPUT), None)
    others = [
        stake
        for stake in stakes
        if stake.metric in APP_METRICS or (stake.metric in METRICS and stake.is_less_better)
    ]
    if goodput is None or not others:
        return None
    other = others[0]
    names = [
        name
        for name in ranking.choices
        if name not in unusable
        and all(math.isfinite(stake.signed_mean(name)) for stake in (other, goodput))
    ]
    if other.metric not in APP_METRICS:
        # Without an application that waits, no delay is worth most of the goodput.
        min_mbps = MIN_GOODPUT_SHARE * max(map(goodput.signed_mean, names), default=0.0)
        names = [name for name in names if goodput.signed_mean(name) >= min_mbps]
    both = (other, goodput)
    front = [name for name in names if not any(_dominates(rival, name, both) for rival in names)]
    front.sort(key=lambda name: (-other.signed_mean(name), -goodput.signed_mean(name)))
    front = [
        name
        for index, name in enumerate(front)
        if not any(all(stake.is_tied(name, rival) for stake in both) for rival in front[:index])
    ]
    front = list(dict.fromkeys(simplest(name, both) for name in front))
    front.sort(key=lambda name: (-other.signed_mean(name), -goodput.signed_mean(name)))
    # Means alone are no difference: only more runs would tell those that are not significantly worse.
    rivals = {
        name: [rival for rival in front if _dominates(rival, name, both)]
        for name in names
        if name not in front
        and not any(all(stake.is_tied(name, rival) for stake in both) for rival in front)
    }
    dominated = [
        name
        for name, better in rivals.items()
        if any(stake.is_gain(rival, name) for rival in better for stake in both)
    ]
    undecided = [name for name, better in rivals.items() if better and name not in dominated]
    if not any(goodput.is_gain(name, front[0]) for name in front[1:]):
        front = front[:1]
    if not dominated and len(front) < 2:
        return None
    knee = _knee(ranking, front, both) if len(front) > 1 else front[0]
    return TradeOff(other, goodput, front, knee, dominated, undecided)


def _dominates(name: str, other: str, stakes: Sequence[Stake]) -> bool:
    """Returns whether a choice is better by one metric, and no worse by the other, by the means."""
    gaps = [stake.signed_mean(name) - stake.signed_mean(other) for stake in stakes]
    if all(gap >= 0 for gap in gaps):
        return any(gap > 0 for gap in gaps)
    # A mean that is lower, but tied, is no worse.
    return any(stake.is_gain(name, other) for stake in stakes) and all(
        gap >= 0 or stake.is_tied(name, other) for gap, stake in zip(gaps, stakes, strict=True)
    )


def _knee(ranking: FieldRanking, front: Sequence[str], stakes: Sequence[Stake]) -> str | None:
    """Returns the choice that is farthest above the line between both ends of the front.

    Times count by their ratios: they differ by orders of magnitude, of which a straight scale sees
    the longest alone.
    """
    means = [[stake.signed_mean(name) for name in front] for stake in stakes]
    means = [
        [-math.log(-mean) for mean in each]
        if stake.metric.endswith(_TIMES) and max(each) < 0 and min(each) > -math.inf
        else each
        for stake, each in zip(stakes, means, strict=True)
    ]
    scaled = [
        [(value - min(values)) / (max(values) - min(values)) for value in values] for values in means
    ]
    heights = dict(zip(front, (sum(pair) - 1 for pair in zip(*scaled, strict=True)), strict=True))
    knee = max(_with_short_tail(ranking, front, *stakes), key=heights.__getitem__, default=None)
    if knee is None:
        return None
    other = stakes[0]
    # A choice that only more runs would separate from the best is not recommended, nor one that they
    # do not separate from that with most goodput.
    is_decided = other.is_gain(front[0], knee) or other.is_tied(front[0], knee)
    is_decided &= other.is_gain(knee, front[-1])
    return knee if heights[knee] >= _MIN_KNEE_HEIGHT and is_decided else None


def _with_short_tail(
    ranking: FieldRanking, front: Sequence[str], other: Stake, goodput: Stake
) -> list[str]:
    """Returns the choices whose longest times are well below those with most goodput.

    A shaper that is above the rate of its link for some of the time leaves the worst waits as they
    are, whatever the percentile of the ranking.
    """
    most = max(front, key=goodput.signed_mean)
    names = list(front)
    for tails in ranking.tail_means(other):
        limit = _MAX_TAIL_SHARE * tails[most]
        # A tail that the best choice has as well is not that of the queue.
        if tails[front[0]] <= limit:
            names = [name for name in names if tails[name] <= limit]
    return names
