"""Trade-offs of a sweep: the choices of which none is better in two metrics, and their knee."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from celltcp.comparison.metrics import APP_METRICS, BALANCED, GOODPUT, METRICS
from celltcp.comparison.sweep.knees import Choices, Knee, knee_of
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.results.statistics import NEGLIGIBLE

if TYPE_CHECKING:
    from celltcp.comparison.retransmitted import ResentShare
    from celltcp.comparison.verdicts.stakes import Stake

#: Share of the highest goodput that no delay of a larger factor is worth.
_LAST_SHARE = 0.1
#: Minimum goodput in a trade-off with a delay of the network, as a share of the highest one.
MIN_GOODPUT_SHARE = 0.5

#: Function that returns the choice with fewest changes of those that are as good for some stakes.
Simplest: TypeAlias = "Callable[[str, Sequence[Stake]], str]"


class TradeOff(NamedTuple):
    """Pareto front of the choices in two metrics: goodput, and another one."""

    other: Stake
    goodput: Stake
    #: Names of the choices, the best one by the other metric first.
    front: list[str]
    #: Knee of the front, or its only choice.
    knee: Knee
    #: Choices that only more runs would separate from the front.
    undecided: list[str]
    #: Choice beyond the front with at most a tenth more goodput, which costs more than that; or None.
    beyond: str | None = None


def trade_off_of(
    ranking: Choices,
    stakes: Sequence[Stake],
    simplest: Simplest,
    unusable: Collection[str] = (),
    resent: Mapping[str, ResentShare] | None = None,
) -> TradeOff | None:
    """Returns the trade-off of goodput and another metric; None if the choices have none.

    Where one choice of its front is left, and it has a significantly worse balance of goodput and
    delay than another of them, that one is in its place.

    Args:
        ranking: the choices, as of a sweep.
        stakes: stakes of the flows.
        simplest: function for the choice that changes fewest settings of those as good as one.
        unusable: choices that are left out, as an application fails with them.
        resent: share of the segments that are sent again, by choice; None where it does not count.
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
        names = _without_dear_repeats(names, (other, goodput), resent) if resent else names
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
    dominated = {
        name
        for name, better in rivals.items()
        if any(stake.is_gain(rival, name) for rival in better for stake in both)
    }
    undecided = [name for name, better in rivals.items() if better and name not in dominated]
    if not any(goodput.is_gain(name, front[0]) for name in front[1:]):
        front = front[:1]
    if not dominated and len(front) < 2:
        return None
    worth = _without_last_tenth(front, *both)
    beyond = front[-1] if worth[-1] != front[-1] else None
    knee = knee_of(ranking, worth, *both)
    worth = _without_dear_ends(worth, *both)
    if len(worth) == 1:
        worth = [_of_best_balance(worth[0], front, stakes)]
        knee = Knee(worth[0])
    # What is left out, but is not significantly worse, is undecided.
    undecided += [
        name
        for name in front
        if name not in worth and not any(stake.is_gain(worth[0], name) for stake in both)
    ]
    return TradeOff(other, goodput, worth, knee, undecided, beyond)


def relative_gain(stake: Stake, name: str, other: str) -> float:
    """Returns the log ratio by which a choice is better than another: negative if it is worse.

    The smallest difference that matters is added to both means, so that small values have no large
    ratios; ties are 0.
    """
    signed = [stake.signed_mean(each) for each in (name, other)]
    if signed[0] == signed[1] or stake.is_tied(name, other):
        return 0.0
    new, old = (abs(mean) + min_difference(stake.metric) for mean in signed)
    if math.isinf(new + old) or not (new and old):
        return math.inf if signed[0] > signed[1] else -math.inf
    return math.log(new / old) * (-1 if stake.is_less_better else 1)


def _without_last_tenth(front: Sequence[str], *stakes: Stake) -> list[str]:
    """Returns a front without the last tenth of goodput where that costs more than it gains."""
    _, goodput = stakes
    worth = list(front)
    min_mbps = (1 - _LAST_SHARE) * goodput.signed_mean(front[-1])
    while (
        len(worth) > 1
        and goodput.signed_mean(worth[-2]) >= min_mbps
        and _gain(stakes, worth[-2], worth[-1]) > 0
    ):
        worth = worth[:-1]
    return worth


def _without_dear_ends(front: Sequence[str], *stakes: Stake) -> list[str]:
    """Returns a front without choices at its start that lose more goodput than they gain."""
    worth = list(front)
    while len(worth) > 1 and _gain(stakes, worth[1], worth[0]) > NEGLIGIBLE:
        worth = worth[1:]
    return worth


def _without_dear_repeats(
    names: Sequence[str], stakes: Sequence[Stake], resent: Mapping[str, ResentShare]
) -> list[str]:
    """Returns choices without those that gain less than the share of segments that they repeat."""
    return [
        name
        for name in names
        if not any(
            resent[name].exceeds(resent[other])
            and _gain(stakes, name, other) < resent[name].total - resent[other].total
            for other in names
        )
    ]


def _of_best_balance(name: str, front: Sequence[str], stakes: Sequence[Stake]) -> str:
    """Returns the choice of a front with the best balance, or one that is not significantly worse."""
    balance = next((stake for stake in stakes if stake.metric == BALANCED), None)
    best = max(front, key=balance.signed_mean) if balance else name
    return best if balance and balance.is_gain(best, name) else name


def _gain(stakes: Sequence[Stake], name: str, other: str) -> float:
    return sum(relative_gain(stake, name, other) for stake in stakes)


def _dominates(name: str, other: str, stakes: Sequence[Stake]) -> bool:
    """Returns whether a choice is better by one metric, and no worse by the other, by the means."""
    gaps = [stake.signed_mean(name) - stake.signed_mean(other) for stake in stakes]
    if all(gap >= 0 for gap in gaps):
        return any(gap > 0 for gap in gaps)
    # A mean that is lower, but tied, is no worse.
    return any(stake.is_gain(name, other) for stake in stakes) and all(
        gap >= 0 or stake.is_tied(name, other) for gap, stake in zip(gaps, stakes, strict=True)
    )
