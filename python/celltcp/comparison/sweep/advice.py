"""Points of a sweep that advice starts from, and remedies that a point of the sweep beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.trials.metric_changes import MetricChange
from celltcp.comparison.explanation.trials.trial_metrics import MIN_HELP_LOG
from celltcp.comparison.metrics import GOODPUT
from celltcp.comparison.sweep.best_values import advice_rankings, is_condition
from celltcp.comparison.sweep.field_changes import sentences_of, with_advice
from celltcp.comparison.sweep.parameter_sweep import SCENARIO
from celltcp.comparison.verdicts.by_metric import best_by
from celltcp.scenarios.cca_mix import has_several_flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
    from celltcp.comparison.sweep.parameter_sweep import Sweep


def best_points(sweep: Sweep, by: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """Returns the points that `field_texts` advises, those of the usual CCA first.

    Each of the conditions has its own. There are none where no value can be set, or none is best. `by`
    are chosen metrics, as in `Comparison.best_by`.
    """
    points = []
    for ranking in advice_rankings(sweep):
        if all(map(is_condition, ranking.fields)):
            return []
        joint, by_cca = sentences_of(ranking, by, sweep.present)
        for values in (each for of in with_advice(by_cca).values() or [joint] for each in of.advised):
            by_axis = {**ranking.fixed, **dict(zip(ranking.fields, values, strict=True))}
            points.append(tuple(by_axis[axis] for axis in sweep.axes))
    return list(dict.fromkeys(points))


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
