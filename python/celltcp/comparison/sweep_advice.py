"""Points of a sweep that advice starts from, and remedies that a point of the sweep beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.best_values import advice_rankings, is_condition
from celltcp.comparison.by_metric import best_by
from celltcp.comparison.explanation.metric_changes import MetricChange
from celltcp.comparison.explanation.trial_metrics import MIN_HELP_LOG
from celltcp.comparison.metrics import APP_METRICS, GOODPUT
from celltcp.comparison.parameter_sweep import SCENARIO
from celltcp.comparison.sweep_trade_offs import trade_off_of
from celltcp.scenarios.cca_mix import has_several_flows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from celltcp.comparison.best_values import FieldRanking
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.proposals import ProposedRemedy
    from celltcp.comparison.parameter_sweep import Sweep


def best_points(sweep: Sweep) -> list[tuple[str, ...]]:
    """Returns the points that are best, or may be, for an application; without any for the network.

    Of a trade-off of goodput and delay that is its knee, or all of its front without one. Each of the
    conditions has its own. There are none where no value can be set, or none is best.
    """
    points = []
    for ranking in advice_rankings(sweep):
        if all(map(is_condition, ranking.fields)):
            return []
        for name in _best_choices(ranking):
            values = ranking.coordinates(ranking.choices[name])
            by_axis = {**ranking.fixed, **dict(zip(ranking.fields, values, strict=True))}
            points.append(tuple(by_axis[axis] for axis in sweep.axes))
    return list(dict.fromkeys(points))


def _best_choices(ranking: FieldRanking) -> Iterator[str]:
    deciding = [each for each in ranking.stakes if each.metric in APP_METRICS]
    trade_off = None
    if ranking.decides and not deciding:
        resent = ranking.resent_shares()
        trade_off = trade_off_of(ranking, ranking.stakes, lambda name, _: name, resent=resent)
    if trade_off is not None:
        name, possible, _ = trade_off.knee
        yield from possible or ([name] if name else trade_off.front)
        return
    for stake in deciding or ranking.stakes:
        # A single run of what is random decides on no value.
        rivals = () if ranking.decides else stake.verdict.undecided
        yield from filter(None, (stake.verdict.leader, *rivals))


def is_beaten(sweep: Sweep, point: Sequence[str], remedy: ProposedRemedy) -> bool:
    """Returns whether values of a sweep are better than a remedy, under each of its CCAs.

    A change of the network may be tried where the sweep has a better value of its own. The point has
    the same conditions as that of the remedy, and the gains in all metrics of its runs make up the
    losses. Remedies without a trial are not beaten.
    """
    after = remedy.after
    if after is None:
        return False
    rivals = [
        (comparison, cca)
        for other, comparison in sweep.points.items()
        if all(
            own == value
            for axis, own, value in zip(sweep.axes, point, other, strict=True)
            if axis == SCENARIO or is_condition(axis)
        )
        for cca in comparison.ccas
        if not has_several_flows(cca)
    ]
    # Of applications a remedy may help times beside the ranking metric.
    min_gain = MIN_HELP_LOG if sweep.ranking_metrics else 0.0
    metrics = _metrics(sweep, after)
    return all(
        any(_gain(rival, (after, cca), metrics) >= min_gain for rival in rivals)
        for cca in remedy.replacement_ccas
    )


def _metrics(sweep: Sweep, comparison: Comparison) -> list[str]:
    """Returns the metrics that decide, METRIC:FLOW: those of applications, or goodput and delay."""
    if sweep.ranking_metrics:
        return [f"{metric}:{flow}" for flow, metric in sweep.ranking_metrics.items()]
    flow = comparison.tested.name
    return [f"{metric}:{flow}" for metric in (GOODPUT, comparison.delay_metric)]


def _gain(
    rival: tuple[Comparison, str], remedy: tuple[Comparison, str], metrics: Sequence[str]
) -> float:
    """Returns the sum of the log ratios by which a point is better than runs with a remedy."""
    gain = 0.0
    for metric in metrics:
        new, old = (best_by(comparison, metric).values[cca] for comparison, cca in (rival, remedy))
        flow = metric.partition(":")[2]
        count = min(len(new), len(old))
        # The first seeds are the same.
        gain += MetricChange(flow, metric.partition(":")[0], old[:count], new[:count]).gain
    return gain
