"""Needs that the values of a sweep serve: the flows that each is best for, and a balance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, words_of
from celltcp.results.statistics import MARGIN, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.sweep.trade_offs import TradeOff
    from celltcp.comparison.verdicts.stakes import Stake


def needs_by_choice(stakes: Sequence[Stake], trade_off: TradeOff) -> dict[str, list[str]]:
    """Returns the choices of a trade-off to set, each with its needs in words."""
    other, goodput, front, knee = trade_off[:4]
    has_flows = len({stake.flow for stake in stakes}) > 1
    needs: dict[str, list[str]] = {}
    for stake in stakes:
        verdict = stake.verdict
        has_worse = bool(set(stake.values) - set(verdict.ranked))
        is_own = stake.metric in APP_METRICS or (stake.metric == GOODPUT and stake is not goodput)
        if verdict.leader is not None and has_worse and is_own:
            best = max((verdict.leader, *verdict.tied), key=goodput.signed_mean)
            if stake is other and knee.name is not None and (len(front) > 1 or best not in front):
                # The knee serves it: what is best for it alone is often the lowest value given.
                continue
            if stake is other and best not in front:
                # It costs more goodput than it gains.
                best = front[0]
            needs.setdefault(best, []).append(f"{stake.flow}{_undecided_text(stake, goodput, best)}")
    if knee.name is None and not knee.possible:
        if other.metric not in APP_METRICS:
            needs.setdefault(front[0], []).append(f"a low {words_of(other.metric).name}")
        # Of a choice that is best for another flow, goodput is no reason.
        needs.setdefault(_most_goodput(goodput, front), [goodput.flow if has_flows else "goodput"])
    elif knee.name is not None and knee.name not in needs:
        word = "of" if other.flow == goodput.flow else "with"
        need = f"a balance {word} {goodput.flow}" if has_flows else "a balance"
        needs[knee.name] = [f"{need} (undecided)" if knee.possible else need]
    return needs


def _undecided_text(stake: Stake, goodput: Stake, best: str) -> str:
    """Returns choices with more goodput that only more runs would separate from the best; or empty."""
    rivals = [name for name in stake.verdict.undecided if goodput.is_gain(name, best)]
    more = f"with more {goodput.flow} goodput"
    return f" (undecided against {', '.join(rivals)}, {more})" if rivals else ""


def needs_of_flows(stakes: Sequence[Stake]) -> dict[str, list[str]]:
    """Returns the choices that are best for the applications of flows; empty if one is best for all.

    The flow that loses most with what is best for another one comes first.
    """
    deciding = [
        (stake, stake.verdict.leader)
        for stake in stakes
        if stake.metric in APP_METRICS
        and stake.verdict.leader is not None
        and set(stake.values) - set(stake.verdict.ranked)
    ]
    bests = {leader for _, leader in deciding}
    losses = {
        stake.flow: max(_loss_ratio(stake, leader, other) for other in bests)
        for stake, leader in deciding
    }
    deciding.sort(key=lambda each: -losses[each[0].flow])
    needs: dict[str, list[str]] = {}
    for stake, leader in deciding:
        best = next((name for name in needs if name in stake.verdict.tied), leader)
        needs.setdefault(best, []).append(stake.flow)
    return needs if len(needs) > 1 else {}


def with_goodput_share(need: str, goodput: Stake, name: str) -> str:
    """Returns a need with the share of the most goodput that a choice for it has, if that is another's.

    The last per cent of goodput is not worth the delay that it costs.
    """
    means = {each: estimate(values).mean for each, values in goodput.values.items()}
    best = max(means, key=means.__getitem__)
    if name == best or need not in (goodput.flow, "goodput"):
        return need
    return f"{need} ({percent_text(means[name] / means[best])} of the goodput of {best})"


def _loss_ratio(stake: Stake, best: str, other: str) -> float:
    """Returns the ratio of the means of two choices, at least 1; infinity if one has no value."""
    low, high = sorted(abs(stake.signed_mean(name)) for name in (best, other))
    return high / low if low else math.inf


def _most_goodput(goodput: Stake, front: Sequence[str]) -> str:
    """Returns the first choice of a front whose goodput is hardly below the highest one.

    The last per cent of goodput is not worth the delay that it costs.
    """
    means = {name: estimate(goodput.values[name]).mean for name in front}
    min_mbps = (1 - MARGIN) * max(means.values())
    return next(name for name in front if means[name] >= min_mbps)
