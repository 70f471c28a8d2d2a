"""Cost of a verdict: goodput, completion time or delay that the leader loses against another CCA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.metrics import GOODPUT, JAIN, SHARE, words_of
from celltcp.comparison.retransmitted import MIN_RESENT, ResentShare
from celltcp.results.statistics import MARGIN, Cost, Verdict, estimate, paired_gap
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantity_texts import digits_text, three_digits

#: Loss of goodput or time, as a share, above which it is a cost of a verdict.
_MIN_COST = 0.2
#: Metric whose digits and unit completion times have.
_COMPLETION_TIME = "completion_s"
#: Metrics whose verdicts have no cost, as goodput is the purpose of a transfer.
_FREE_METRICS = (GOODPUT, JAIN, SHARE)
#: Minimum ratio and difference of the delay of the leader to that of another CCA for a cost, the latter
#: in ms.
_MIN_DELAY_RATIO = 2.0
_MIN_DELAY_MS = 20.0
#: Least amounts of costs by kind, as texts.
_LOSS_AMOUNT = f"the cost of over {100 * _MIN_COST:.0f} % of the goodput or time"
_DELAY_AMOUNT = f"over {_MIN_DELAY_RATIO:g} times the delay of a CCA nearly as good"
_RESENT_AMOUNT = f"the cost of over {100 * MIN_RESENT:.0f} % more segments sent again"
#: Minimum difference of times that a text has, %.
_MIN_LONGER = 0.05


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
    if means[leader] <= means[best] / (1 - _MIN_COST) or gap.includes_zero:
        return None
    factor = f"{three_digits(means[leader] / means[best])}"
    words = words_of(_COMPLETION_TIME).suited(means[leader], means[best])
    replaced = f"{words.number(means[leader])} instead of {words.own_text(means[best])}"
    text = f"{factor} times the completion time: {replaced} with {names[best]}"
    return Cost(f"{factor} x as long", text, _LOSS_AMOUNT)


def _goodput_cost(
    leader: str, rates: Mapping[str, Sequence[float]], names: Mapping[str, str]
) -> Cost | None:
    """Returns the share of goodput that the leader loses, against the CCA with the highest one."""
    means = {cca: estimate(values).mean for cca, values in rates.items()}
    best = max(rates, key=lambda cca: means[cca] if means[cca] > 0 else 0.0)
    gap = paired_gap(rates[leader], rates[best])
    if not means[leader] < (1 - _MIN_COST) * means[best] or gap.includes_zero:
        return None
    share = f"{100 * (1 - means[leader] / means[best]):.0f} %"
    words = words_of(GOODPUT).suited(means[leader], means[best])
    replaced = f"{words.number(means[leader])} instead of {words.own_text(means[best])}"
    text = f"{share} of the goodput: {replaced} with {names[best]}"
    return Cost(f"-{share} goodput", text, _LOSS_AMOUNT)


def with_delay_cost(
    verdict: Verdict,
    times: Mapping[str, Sequence[float]],
    delays: Mapping[str, Sequence[float]],
    delay_metric: str,
    names: Mapping[str, str] | None = None,
) -> Verdict:
    """Returns a verdict on completion times with the cost of its leader in delay, if the cost is large.

    The time of a transfer hides the queue that it fills. The cost is that against a CCA which needs at
    most 20 % more time. A CCA within the margin of a tie is the one to choose in place of the leader.

    Args:
        verdict: verdict by the completion time.
        times: completion times of the runs by CCA, in the order of the seeds.
        delays: delays of the same runs, ms.
        delay_metric: metric of the delays.
        names: labels, as in `with_cost`.
    """
    leader = verdict.leader
    if leader is None or verdict.cost is not None:
        return verdict
    shortest_s, longest_ms = (estimate(values[leader]).mean for values in (times, delays))
    with_less_delay = [cca for cca in times if has_less_delay(delays[leader], delays[cca])]
    gaps = {cca: paired_gap(times[cca], times[leader]) for cca in with_less_delay}
    shares = {cca: (gap.mean + (gap.ci95 or 0.0)) / shortest_s for cca, gap in gaps.items()}
    near = {cca: share for cca, share in shares.items() if share <= _MIN_COST}
    if not near:
        return verdict
    mean_delays = {cca: estimate(delays[cca]).mean for cca in near}
    as_good = [cca for cca, share in near.items() if share <= MARGIN]
    other = min(as_good, key=mean_delays.__getitem__) if as_good else min(near, key=near.__getitem__)
    names = labels(times) if names is None else names
    words = words_of(delay_metric).suited(longest_ms, mean_delays[other])
    longer = 100 * (estimate(times[other]).mean / shortest_s - 1)
    is_alike = longer < _MIN_LONGER
    time_text = "as long" if is_alike else f"{longer:.1f} % longer"
    factor = f"{digits_text(longest_ms / mean_delays[other], 2)}"
    text = (
        f"{factor} times the delay: {words.name} {words.number(longest_ms)} instead of "
        f"{words.own_text(mean_delays[other])} with {names[other]}, which takes {time_text}"
    )
    if not as_good:
        return replace(verdict, cost=Cost(f"{factor} x the delay", text, _DELAY_AMOUNT))
    pace = "as fast" if is_alike else f"{longer:.1f} % faster"
    instead_text = f"{names[leader]} is {pace}, at {factor} times the delay"
    cost = Cost(f"{factor} x the delay", text, _DELAY_AMOUNT, other, instead_text)
    return replace(verdict, cost=cost)


def with_resent_cost(
    verdict: Verdict,
    times: Mapping[str, Sequence[float]],
    resent: Mapping[str, ResentShare],
    names: Mapping[str, str] | None = None,
) -> Verdict:
    """Returns a verdict on completion times with the cost of its leader in data that are sent again.

    The cost is that against the CCA which sends least again of those that need at most 20 % more time.
    A CCA within the margin of a tie is the one to choose in place of the leader.

    Args:
        verdict: verdict by the completion time.
        times: completion times of the runs by CCA, in the order of the seeds.
        resent: share of the segments that are sent again, by CCA.
        names: labels, as in `with_cost`.
    """
    leader = verdict.leader
    if leader is None or verdict.cost is not None:
        return verdict
    means = {cca: estimate(values).mean for cca, values in times.items()}
    shares = {}
    for cca in times:
        gap = paired_gap(times[cca], times[leader])
        shares[cca] = (gap.mean + (gap.ci95 or 0.0)) / means[leader]
    less = [cca for cca in times if resent[leader].exceeds(resent[cca])]
    near = [cca for cca in less if means[cca] <= (1 + _MIN_COST) * means[leader]]
    as_good = [cca for cca in near if shares[cca] <= MARGIN]
    if not near:
        return verdict
    other = min(as_good or near, key=lambda cca: resent[cca].total)
    names, share = labels(times) if names is None else names, percent_text(resent[leader].total)
    longer = 100 * (means[other] / means[leader] - 1)
    time_text = "as long" if longer < _MIN_LONGER else f"{longer:.1f} % longer"
    text = (
        f"{share} of the segments sent again, instead of {percent_text(resent[other].total)} with "
        f"{names[other]}, which takes {time_text}"
    )
    cost = Cost(f"{share} sent again", text, _RESENT_AMOUNT)
    if as_good:
        pace = "as fast" if longer < _MIN_LONGER else f"{longer:.1f} % faster"
        instead_text = f"{names[leader]} is {pace}, with {share} of the segments sent again"
        cost = cost._replace(
            instead=other, instead_text=instead_text, better_for="few segments sent again"
        )
    return replace(verdict, cost=cost)


def has_less_delay(delays: Sequence[float], others: Sequence[float]) -> bool:
    """Returns whether other delays are far shorter than some delays, in ms, run by run."""
    gap = paired_gap(delays, others)
    mean, other = estimate(delays).mean, estimate(others).mean
    is_far = mean >= _MIN_DELAY_RATIO * other and gap.mean >= _MIN_DELAY_MS
    return other > 0 and is_far and not gap.includes_zero
