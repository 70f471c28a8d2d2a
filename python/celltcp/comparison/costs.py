"""Costs of a verdict: goodput or time that the best congestion control loses against others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from celltcp.comparison.metrics import GOODPUT, JAIN, SHARE, words_of
from celltcp.results.statistics import Cost, Verdict, estimate, paired_gap
from celltcp.scenarios.cca_mix import labels

#: Share of the goodput, or of the completion time, above which a verdict has a cost.
MAX_COST = 0.2
#: Time of a transfer from its request to its last byte.
COMPLETION_TIME = "completion_s"
#: Metrics whose verdicts have no cost: they are the purpose of a transfer.
_FREE_METRICS = (GOODPUT, JAIN, SHARE)


def with_cost(
    verdict: Verdict,
    metric: str,
    goodput: Mapping[str, Sequence[float]],
    completion: Mapping[str, Sequence[float]],
    names: Mapping[str, str] | None = None,
) -> Verdict:
    """Returns a verdict by a network metric with what its leader costs, if that is much.

    Args:
        verdict: by the metric.
        metric: metric of the network.
        goodput: by CCA, the values of the runs in the order of the seeds.
        completion: the same of the time of a transfer to complete; empty for one without an end.
        names: labels of what is ranked; those of CCAs unless given.
    """
    if verdict.leader is None or metric in _FREE_METRICS:
        return verdict
    leader = verdict.leader
    called = labels(goodput) if names is None else names
    if cost := _longer(leader, completion, called):
        return replace(verdict, cost=cost)
    return replace(verdict, cost=_slower(leader, goodput, called))


def _longer(leader: str, times: Mapping[str, Sequence[float]], names: Mapping[str, str]) -> Cost | None:
    """Returns the extra time of a transfer against the CCA that completes it soonest."""
    means = {cca: estimate(values).mean for cca, values in times.items()}
    known = {cca: mean for cca, mean in means.items() if mean > 0}
    if leader not in known:
        return None
    best = min(known, key=known.__getitem__)
    gap = paired_gap(times[leader], times[best])
    if means[leader] <= means[best] / (1 - MAX_COST) or gap.includes_zero:
        return None
    factor = f"{means[leader] / means[best]:.3g}"
    words = words_of(COMPLETION_TIME)
    metrics = f"{words.number(means[leader])} instead of {words.value_text(means[best])}"
    text = f"{factor} times the completion time: {metrics} with {names[best]}"
    return Cost(f"{factor} x as long", text)


def _slower(leader: str, rates: Mapping[str, Sequence[float]], names: Mapping[str, str]) -> Cost | None:
    """Returns the share of the goodput that is lost to the CCA that has most."""
    means = {cca: estimate(values).mean for cca, values in rates.items()}
    best = max(rates, key=lambda cca: means[cca] if means[cca] > 0 else 0.0)
    gap = paired_gap(rates[leader], rates[best])
    if not means[leader] < (1 - MAX_COST) * means[best] or gap.includes_zero:
        return None
    share = f"{100 * (1 - means[leader] / means[best]):.0f} %"
    words = words_of(GOODPUT)
    metrics = f"{words.number(means[leader])} instead of {words.value_text(means[best])}"
    text = f"{share} of the goodput: {metrics} with {names[best]}"
    return Cost(f"-{share} goodput", text)
