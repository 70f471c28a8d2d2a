"""Metrics of trials: those that show whether a remedy helps, and which of their changes a text has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from celltcp.comparison.applications.application import MAX_LATE_SHARE
from celltcp.comparison.applications.applications import has_too_few, is_lower_bound
from celltcp.comparison.explanation.kinds import Trait, names_with
from celltcp.comparison.explanation.trials.metric_changes import RETRANSMISSIONS, MetricChange
from celltcp.comparison.metrics import (
    COMPLETED_SHARE,
    GOODPUT,
    LAST_COMPLETION,
    LATE_FRAMES,
    LATE_RESPONSES,
    LEAST_COMPLETION,
    MISSING_FRAMES,
    words_of,
)
from celltcp.results.columns import rows_of
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.comparison import Comparison

#: Minimum absolute logarithms of the ratio of a metric for a help, and for a price in retransmissions.
MIN_HELP_LOG, _MIN_PRICE_LOG = 0.05, 0.05
#: Maximum share of its retransmissions that a remedy of drops leaves.
_MAX_LEFT_DROPS = 0.1
#: Metrics of the mean time of transfers: with those which a run cut off, if there are any.
COMPLETIONS = (LEAST_COMPLETION, "completion_s")
#: Further metrics of trials by the ranking metric, which the user of the application asks for, too.
_SHOWN_WITH = {
    "qoe": ["stalled_s", "startup_s", "bitrate_mbps"],
    LATE_FRAMES: ["frame_delay_p95_ms"],
}
#: Causes of a few slow units of work.
_TAIL_CAUSES = names_with(Trait.TAIL)
#: Causes whose remedies avoid drops.
_DROP_CAUSES = names_with(Trait.DROPS)
#: Minimum number of retransmissions per run for a price.
_MIN_PRICE_RETRANSMISSIONS = 10.0
#: Metrics of frames: mean and median delay.
_MEAN_DELAY, _MEDIAN_DELAY = "frame_delay_ms", "frame_delay_p50_ms"
#: Times of responses that rank by the share of late ones.
_RESPONSE_P95 = "response_p95_s"
#: Metric of the slowest response.
LONGEST_RESPONSE = "response_max_s"


def cut_flows(comparison: Comparison, cca: str) -> list[str]:
    """Returns the flows with transfers that were not complete at the end of a run."""
    return [
        application.flow
        for application in comparison.applications
        if is_lower_bound(LEAST_COMPLETION, application.metrics[cca])
    ]


def metrics_of(
    application: Application, cca: str, cause: str, after: Mapping[str, Sequence[float]]
) -> list[str]:
    """Returns the metrics of a trial: the share of late frames, the ranking metric, and its mean.

    For slow units of work, whose share may be small, 99th percentile and maximum are others. For the
    share of complete transfers it is their time. The median is in the place of a mean that is infinite
    before or `after`, as units had not arrived.
    """
    ranking, metrics = application.ranking.metric, application.metrics[cca]
    # Where most frames are late, CCAs rank by their delay; the deadline is what counts all the same.
    late = [LATE_FRAMES] if any(metrics.get(LATE_FRAMES, [])) else []
    of_times = _RESPONSE_P95 if ranking == LATE_RESPONSES else ranking
    highest = [
        re.sub(r"(_p\d+)?(?=_m?s$)", name, of_times, count=1) for name in ("_p99", "_p999", "_max")
    ]
    tail = [
        each
        for each in highest
        if cause in _TAIL_CAUSES and each in metrics and not has_too_few(each, metrics)
    ]
    times = [application.completion_metric] if ranking == COMPLETED_SHARE else []
    shown = _SHOWN_WITH.get(ranking, ())
    names = dict.fromkeys([*late, ranking, *times, *tail, _mean_of(of_times), *shown])
    is_endless = any(is_lower_bound(_MEAN_DELAY, of) for of in (metrics, after))
    return [_MEDIAN_DELAY if is_endless and name == _MEAN_DELAY else name for name in names]


def values_of(
    metric: str, metrics: Mapping[str, list[float]], *, is_divided: bool
) -> list[float] | None:
    """Returns the values of a metric; None without any.

    Mean times are with transfers that a run cut off. A transfer that is divided among connections is
    complete with the last of them.
    """
    if metric not in COMPLETIONS:
        return metrics.get(metric)
    names = (LAST_COMPLETION,) if is_divided else COMPLETIONS
    return next((metrics[name] for name in names if name in metrics), None)


def complete_runs(
    before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]
) -> tuple[int, ...] | None:
    """Returns the runs whose transfers are complete before and after; None if those of all are."""
    pairs = zip(before[COMPLETED_SHARE], after[COMPLETED_SHARE], strict=False)
    is_complete = [min(pair) >= 1 for pair in pairs]
    if all(is_complete):
        return None
    return tuple(run for run, complete in enumerate(is_complete) if complete)


def _mean_of(metric: str) -> str:
    """Returns the metric of the mean for a metric of a percentile, maximum or share of late frames.

    Others are their own, such as the time of the last part of a transfer, and the median delay of
    frames that rank by it, as their mean is infinite under some CCA.
    """
    if metric in (LATE_FRAMES, MISSING_FRAMES):
        return _MEAN_DELAY
    if metric in (LAST_COMPLETION, _MEDIAN_DELAY):
        return metric
    return re.sub(r"_(p\d+|max)(?=_)", "", metric)


def is_mentioned(change: MetricChange, cause: str) -> bool:
    """Returns whether a text mentions a change: one that matters, and that its digits show.

    Of retransmissions it mentions only a large increase, or a decrease where drops are the cause. A
    share of late frames with which an application fails still is always mentioned.
    """
    words = words_of(change.metric)
    if change.metric == LATE_FRAMES and estimate(change.after).mean > MAX_LATE_SHARE:
        return True
    if abs(change.gain) < MIN_HELP_LOG:
        return False
    if words.number(estimate(change.before).mean) == words.number(estimate(change.after).mean):
        return False
    if change.metric != RETRANSMISSIONS:
        return True
    larger = max(estimate(each).mean for each in (change.before, change.after))
    is_meant = change.gain < -_MIN_PRICE_LOG or cause in _DROP_CAUSES
    return is_meant and larger >= _MIN_PRICE_RETRANSMISSIONS


def moves_shares(changed: Sequence[MetricChange]) -> bool:
    """Returns whether the goodput of a flow changes, which says what decides the shares."""
    return any(abs(each.gain) >= MIN_HELP_LOG for each in changed if each.metric == GOODPUT)


def ends_drops(changed: Sequence[MetricChange]) -> bool:
    """Returns whether hardly a retransmission is left of many, although the time is much the same."""
    return any(
        estimate(each.before).mean >= _MIN_PRICE_RETRANSMISSIONS
        and estimate(each.after).mean <= _MAX_LEFT_DROPS * estimate(each.before).mean
        for each in changed
        if each.metric == RETRANSMISSIONS
    )


def later_maxima(comparison: Comparison, flow: str, cca: str) -> list[float] | None:
    """Returns the time of the slowest later response of each run, in the order of the seeds, s.

    None where a run has no later response. The first one of a connection has the time of its handshake;
    a lost one takes a second, and would hide what a remedy gains for lost answers.
    """
    units = _responses(comparison, flow, cca)
    starts = units.groupby(["run", "connection"])["start_s"].transform("min")
    by_seed = units[units["start_s"] > starts].groupby("seed")["lasted_s"].max()
    is_whole = 0 < len(by_seed) == units["seed"].nunique()
    return [float(value) for value in by_seed.sort_index()] if is_whole else None


def _responses(comparison: Comparison, flow: str, cca: str) -> pd.DataFrame:
    """Returns the responses of a flow, with `lasted_s`, also of those that its run cut off."""
    units = comparison.units
    units = units[(units["flow"] == flow) & (units["cca"] == cca) & (units["unit"] == "response")]
    ends_s = units["run"].map(dict(rows_of(comparison.results.tables["runs"], "run", "duration_s")))
    return units.assign(lasted_s=units["duration_s"].fillna(ends_s - units["start_s"]))
