"""Unbeaten alternatives: runs show them to help, and no other one that is as near is better in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.start_up_frames import MIN_LATE_FRAMES
from celltcp.comparison.explanation.remedies.places import remoteness
from celltcp.comparison.explanation.trials.metric_changes import MetricChange
from celltcp.comparison.explanation.trials.trial_metrics import COMPLETIONS, MIN_HELP_LOG
from celltcp.comparison.metrics import (
    GOODPUT,
    LAST_COMPLETION,
    LATE_FRAMES,
    LATE_RESPONSES,
    MEAN_RTT,
    metric_gap,
)
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.explanation.trials.alternatives import Alternative, Need

#: Minimum number of runs whose largest values are more than single events.
_MIN_RUNS = 3
#: Logarithm of the ratio of a metric up to which one row is no worse than another.
_ALIKE_LOG = 0.01
#: Units of work that a share of late ones counts.
_UNITS = {LATE_FRAMES: "frames", LATE_RESPONSES: "responses"}


def unbeaten(
    need: Need, shown: Sequence[Alternative], recommended: Sequence[Alternative]
) -> list[Alternative]:
    """Returns the recommended alternatives that help, and that no other one shown beats.

    Those of hosts and routers are not beaten by those of links, nor these by an operator's, and none by
    one that more places have to set, that only holds under a condition, or for each connection alone.
    """
    return [
        each
        for each in recommended
        if (each.remedy is None or _helps(need, each, shown[0]))
        and not any(
            _beats(need, other, each)
            for other in shown
            if other is not each and _needs_no_more(other, each)
        )
    ]


def _needs_no_more(one: Alternative, other: Alternative) -> bool:
    """Returns whether one alternative is as near as another, and has no more places or conditions.

    Caps of each connection hold for as many connections as there are in the scenario.
    """
    is_as_near = remoteness(one.places) <= remoteness(other.places)
    is_free = not (one.condition or one.caps_each_connection)
    has_no_more = bool(other.condition or other.caps_each_connection or is_free)
    return is_as_near and has_no_more and len(one.places) <= len(other.places)


def _helps(need: Need, one: Alternative, reference: Alternative) -> bool:
    """Returns whether a metric of the need, or of others, is better than that of the reference."""
    columns = [*_own_metrics(need, one), *need.price_metrics()]
    return any(_gain(need, one, reference, *each) >= MIN_HELP_LOG for each in columns)


def _beats(need: Need, one: Alternative, other: Alternative) -> bool:
    """Returns whether a metric of the need, of others or the delay is better, and none is worse."""
    columns = [*_own_metrics(need, one), *need.price_metrics()]
    gains = [_gain(need, one, other, *each) for each in dict.fromkeys(columns)]
    dearest = min(*gains, need.resent_gain(one, other))
    return max(gains) >= MIN_HELP_LOG and dearest > -_ALIKE_LOG


def _own_metrics(need: Need, alternative: Alternative) -> list[tuple[str, str]]:
    """Returns the flow and name of the metrics of a need; of a transfer with its mean RTT."""
    if not need.flows:
        return [("", GOODPUT), ("", need.comparison.delay_metric)]
    names = [need.metric, need.next_metric]
    if need.metric in (*COMPLETIONS, LAST_COMPLETION) and not alternative.comparison.split_ccas:
        names.append(MEAN_RTT)
    return [(need.flows[0], name) for name in names if name]


def _gain(need: Need, one: Alternative, other: Alternative, flow: str, metric: str) -> float:
    """Returns the logarithm of the ratio by which a metric is better; 0 if that is undecided."""
    values, before = (need.values_of(each, flow, metric) for each in (one, other))
    count = min(len(values), len(before))
    if not count:
        return 0.0
    values, before = values[:count], before[:count]
    change, gap = MetricChange(flow, metric, before, values), metric_gap(metric, values, before)
    if abs(gap.mean) <= min_difference(metric) or not change.is_decided:
        return 0.0
    # The largest of a few runs is a single event.
    if count < _MIN_RUNS and "_max" in metric:
        return 0.0
    if (units := _UNITS.get(metric)) is not None:
        made = need.metric_of(other.comparison, other.cca, flow, units)[:count]
        if made and abs(gap.mean) * count * estimate(made).mean < MIN_LATE_FRAMES:
            return 0.0
    return change.gain
