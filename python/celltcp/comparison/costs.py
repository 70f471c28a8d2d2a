"""Cost of a verdict: goodput or completion time that the leader loses against another CCA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from celltcp.comparison.metrics import GOODPUT, JAIN, SHARE, words_of
from celltcp.results.statistics import Cost, Verdict, estimate, paired_gap
from celltcp.scenarios.cca_mix import labels

#: Loss of goodput or time, as a share, above which it is a cost of a verdict.
MIN_COST = 0.2
#: Metric of the time of transfers from the request to the last byte.
COMPLETION_TIME = "completion_s"
#: Metrics whose verdicts have no cost, as goodput is the purpose of a transfer.
_FREE_METRICS = (GOODPUT, JAIN, SHARE)


def with_cost(
    verdict: Verdict,
    metric: str,
    goodput: Mapping[str, Sequence[float]],
    completion: Mapping[str, Sequence[float]],
    names: Mapping[str, str] | None = None,
) -> Verdict:
    """Returns a verdict with the cost of its leader in goodput or time, if the cost is large.

    Args:
        verdict: verdict by the metric.
        metric: network metric.
        goodput: goodput of the runs by CCA, in the order of the seeds.
        completion: completion times of transfers by CCA; empty for a flow without an end.
        names: labels of the ranked choices; by default those of CCAs.
    """
    if verdict.leader is None or metric in _FREE_METRICS:
        return verdict
    leader = verdict.leader
    choice_labels = labels(goodput) if names is None else names
    if cost := _time_cost(leader, completion, choice_labels):
        return replace(verdict, cost=cost)
    return replace(verdict, cost=_goodput_cost(leader, goodput, choice_labels))


def _time_cost(
    leader: str, times: Mapping[str, Sequence[float]], names: Mapping[str, str]
) -> Cost | None:
    """Returns the extra completion time of transfers, against the CCA with the shortest one."""
    means = {cca: estimate(values).mean for cca, values in times.items()}
    positive = {cca: mean for cca, mean in means.items() if mean > 0}
    if leader not in positive:
        return None
    best = min(positive, key=positive.__getitem__)
    gap = paired_gap(times[leader], times[best])
    if means[leader] <= means[best] / (1 - MIN_COST) or gap.includes_zero:
        return None
    factor = f"{means[leader] / means[best]:.3g}"
    words = words_of(COMPLETION_TIME)
    replaced = f"{words.number(means[leader])} instead of {words.value_text(means[best])}"
    text = f"{factor} times the completion time: {replaced} with {names[best]}"
    return Cost(f"{factor} x as long", text)


def _goodput_cost(
    leader: str, rates: Mapping[str, Sequence[float]], names: Mapping[str, str]
) -> Cost | None:
    """Returns the share of goodput that the leader loses, against the CCA with the highest one."""
    means = {cca: estimate(values).mean for cca, values in rates.items()}
    best = max(rates, key=lambda cca: means[cca] if means[cca] > 0 else 0.0)
    gap = paired_gap(rates[leader], rates[best])
    if not means[leader] < (1 - MIN_COST) * means[best] or gap.includes_zero:
        return None
    share = f"{100 * (1 - means[leader] / means[best]):.0f} %"
    words = words_of(GOODPUT)
    replaced = f"{words.number(means[leader])} instead of {words.value_text(means[best])}"
    text = f"{share} of the goodput: {replaced} with {names[best]}"
    return Cost(f"-{share} goodput", text)
