"""Prices that decide among names as good by a metric: data that are sent again, and delay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, words_of
from celltcp.comparison.retransmitted import ResentShare, mean_share, resent_share
from celltcp.comparison.verdicts.costs import has_less_delay, with_delay_cost, with_resent_cost
from celltcp.results.statistics import MARGIN, Dearer, Verdict, estimate, paired_gap
from celltcp.scenarios.quantity_texts import digits_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.sweep.best_values import FieldRanking
    from celltcp.results.tested import FlowUnderTest

#: Beginning of the names of metrics of completion times, which hide the queue that a transfer fills.
_COMPLETION = "completion"
_RETRANSMISSIONS = "retransmissions"
#: Minimum increase of a metric for a price, as a share, and minimum means: segments, and ms more.
_MIN_INCREASE, _MIN_RETRANSMISSIONS, _MIN_DELAY_MS = 0.2, 10.0, 10.0


class TiePrices(NamedTuple):
    """Prices by name, as in `with_least_price`."""

    resent: Mapping[str, ResentShare]
    delays: Mapping[str, Sequence[float]]
    delay_metric: str


def has_prices(metric: str) -> bool:
    """Returns whether prices decide a tie by a metric: that of an application, or goodput."""
    return metric in APP_METRICS or metric == GOODPUT


def hides_delay(metric: str) -> bool:
    """Returns whether a metric hides the delay of packets, as completion times do: it is a price."""
    return metric.startswith(_COMPLETION)


def priced(
    verdict: Verdict,
    metric: str,
    values: Mapping[str, Sequence[float]],
    comparison: Comparison,
    flows: Sequence[FlowUnderTest],
) -> Verdict:
    """Returns a verdict on flows with the prices of those as good, and the costs of the leader.

    Args:
        verdict: verdict by the metric.
        metric: metric of an application, or goodput; others have no prices.
        values: values of the metric by CCA, in the order of the seeds.
        comparison: comparison of the CCAs.
        flows: flows that have these values, one or several equal ones.
    """
    if not has_prices(metric):
        return verdict
    resent = {
        cca: mean_share([resent_share(comparison, flow, cca) for flow in flows]) for cca in values
    }
    delay = comparison.delay_metric
    delays: dict[str, list[float]] = {}
    if hides_delay(metric):
        for cca in values:
            rows = zip(*(comparison.values_of(flow, cca, delay) for flow in flows), strict=True)
            delays[cca] = [sum(row) / len(flows) for row in rows]
    return with_prices(verdict, values, TiePrices(resent, delays, delay))


def with_prices(
    verdict: Verdict,
    values: Mapping[str, Sequence[float]],
    prices: TiePrices,
    names: Mapping[str, str] | None = None,
) -> Verdict:
    """Returns a verdict with the prices of those as good, and of completion times the leader's cost."""
    resent, delays, delay = prices
    verdict = with_least_price(verdict, resent, delays, delay)
    if not delays:
        return verdict
    verdict = with_delay_cost(verdict, values, delays, delay, names)
    return with_resent_cost(verdict, values, resent, names)


def with_prices_of_goodput(
    verdicts: Mapping[str, Verdict], comparison: Comparison
) -> dict[str, Verdict]:
    """Returns verdicts of requirements, those on goodput with the prices of what is as good."""
    rates = {cca: comparison.values(cca, GOODPUT) for cca in comparison.ranked_ccas}
    metrics = comparison.requirements
    return {
        name: priced(verdict, metrics[name], rates, comparison, [comparison.tested])
        if metrics[name] == GOODPUT
        else verdict
        for name, verdict in verdicts.items()
    }


def with_least_price(
    verdict: Verdict,
    resent: Mapping[str, ResentShare],
    delays: Mapping[str, Sequence[float]],
    delay_metric: str,
) -> Verdict:
    """Returns a verdict in which prices decide among those that are as good by the metric.

    A tied name that sends far more again, or has a far longer delay, than another one as good as it is
    dearer, unless that one is so in the other price. The leader is the best of the others, or that of
    the lowest delay.

    Args:
        verdict: verdict by the metric.
        resent: share of the segments that are sent again, by name.
        delays: delays of the runs by name, ms; empty where nobody asks for the delay.
        delay_metric: metric of the delays.
    """
    if verdict.leader is None or verdict.undecided or not verdict.tied:
        return verdict
    as_good = (verdict.leader, *verdict.tied)
    dearer: list[Dearer] = []

    def waits_longer(name: str, other: str) -> bool:
        return bool(delays) and has_less_delay(delays[name], delays[other])

    for name in as_good:
        cheaper = [
            other
            for other in as_good
            if (resent[name].exceeds(resent[other]) or waits_longer(name, other))
            and not (resent[other].exceeds(resent[name]) or waits_longer(other, name))
        ]
        if not cheaper:
            continue
        least = min(cheaper, key=lambda other: resent[other].total)
        if resent[name].exceeds(resent[least]):
            share = percent_text(resent[name].total)
            text = f"{share} of the segments sent again instead of {percent_text(resent[least].total)}"
            dearer.append(Dearer(name, f"{share} sent again", text))
            continue
        other = next(other for other in cheaper if waits_longer(name, other))
        means = [estimate(delays[each]).mean for each in (name, other)]
        words = words_of(delay_metric).suited(*means)
        text = f"{words.name} {words.number(means[0])} instead of {words.own_text(means[1])}"
        dearer.append(Dearer(name, f"{digits_text(means[0] / means[1], 2)} x the delay", text))
    names = [each.name for each in dearer]
    left = [name for name in as_good if name not in names]
    leader = of_least_delay(left, delays)
    tied = tuple(name for name in left if name != leader)
    if not names:
        return replace(verdict, leader=leader, tied=tied)
    return replace(
        verdict,
        leader=leader,
        tied=tied,
        dearer=tuple(dearer),
        is_same=False,
        are_all_tied=False,
    )


def of_least_delay(names: Sequence[str], delays: Mapping[str, Sequence[float]]) -> str:
    """Returns the name with the lowest delay if it is far lower than that of the first one, or that."""
    first = names[0]
    if not delays:
        return first
    least = min(names, key=lambda name: estimate(delays[name]).mean)
    gap = paired_gap(delays[first], delays[least])
    is_far = gap.mean > MARGIN * estimate(delays[first]).mean and not gap.includes_zero
    return least if is_far else first


def price_texts(ranking: FieldRanking, name: str, start: str, shown: Collection[str]) -> Iterator[str]:
    """Yields the metrics of packets that a choice makes worse than the start does.

    Args:
        ranking: ranking of the choices.
        name: name of the choice.
        start: name of the choice in whose place it is.
        shown: metrics that the text has already.
    """
    if ranking.delay_metric not in shown:
        text, increase, _ = _change(ranking, ranking.delay_metric, name, start)
        if increase >= _MIN_DELAY_MS:
            yield text
    text, _, mean = _change(ranking, _RETRANSMISSIONS, name, start)
    if mean >= _MIN_RETRANSMISSIONS:
        yield text


def _change(ranking: FieldRanking, metric: str, name: str, start: str) -> tuple[str, float, float]:
    """Returns a metric of two choices as text, its increase, and its mean; zeros for a small one."""
    values = ranking.network_values(metric)
    new, old = (estimate(values[each]).mean for each in (name, start))
    gap = paired_gap(values[name], values[start])
    if not new - old >= _MIN_INCREASE * old or gap.includes_zero:
        return "", 0.0, 0.0
    words = words_of(metric).suited(new, old)
    texts = (words.number(new), words.number(old))
    if metric == _RETRANSMISSIONS:
        texts = (
            f"{texts[0]}{ranking.retransmitted_text(name)}",
            f"{texts[1]}{ranking.retransmitted_text(start)}",
        )
    return f"{words.name} {words.with_unit(texts[0])} instead of {texts[1]}", new - old, new
