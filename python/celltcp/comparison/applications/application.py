"""Contradictions between the metrics of an application and a verdict on network metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from celltcp.comparison.metrics import GOODPUT, LATE_RESPONSES, best_of, metric_gap
from celltcp.comparison.verdicts.costs import with_cost
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.results.statistics import MARGIN, Verdict, estimate
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.requirements import QOE


@dataclass(frozen=True)
class _Criterion:
    """Metric that shows whether an application works well or badly."""

    metric: str
    #: Returns a mean of the metric as text.
    describe: Callable[[float], str]
    #: 1 if a higher value is better, -1 if a lower value is better.
    sign: int = -1
    #: Value beyond which the application is unusable; None if no value makes it unusable.
    fails_at: float | None = None

    def fails(self, value: float) -> bool:
        """Returns whether an application with this mean is unusable."""
        if math.isnan(value):
            return True
        return self.fails_at is not None and self.sign * value < self.sign * self.fails_at

    def is_better(self, one: list[float], other: list[float]) -> bool:
        """Returns whether `one` is better than `other`, significantly and by an amount that matters."""
        gain = metric_gap(self.metric, one, other)
        largest = max(abs(estimate(one).mean), abs(estimate(other).mean))
        min_gain = max(MARGIN * largest, min_difference(self.metric))
        return self.sign * gain.mean > min_gain and not gain.includes_zero


#: Maximum share of late frames with which an application of frames is usable.
MAX_LATE_SHARE = 0.1

#: Criteria, in the order in which they are checked. On the scale of the mean opinion score 2 is poor
#: and 1 is bad (ITU-T P.800). Conversations are hard to follow with far less than a tenth of the frames
#: missing (ITU-T G.1010: 1 % of video, 3 % of speech).
CRITERIA = (
    _Criterion(QOE, lambda mean: f"the mean opinion score is {mean:.2f}", sign=1, fails_at=2.0),
    _Criterion(
        "late_share",
        lambda mean: f"{100 * mean:.1f} % of the frames are late",
        fails_at=MAX_LATE_SHARE,
    ),
    _Criterion("response_s", lambda mean: f"a response takes {mean:.3f} s"),
    _Criterion("page_load_s", lambda mean: f"a page takes {mean:.3f} s"),
    _Criterion(
        "completed_share",
        lambda mean: f"{100 * mean:.0f} % of the transfers are complete",
        sign=1,
    ),
)

#: Criteria by which an application may be unusable, with that of responses that have a deadline.
FAILURES = (
    *(criterion for criterion in CRITERIA if criterion.fails_at is not None),
    _Criterion(
        LATE_RESPONSES,
        lambda mean: f"{100 * mean:.1f} % of the responses are late",
        fails_at=MAX_LATE_SHARE,
    ),
)


def verdicts_by_metric(
    metrics: Mapping[str, str],
    series: Mapping[str, Mapping[str, list[float]]],
    criterion_values: Mapping[str, Mapping[str, list[float]]],
    completion: Mapping[str, list[float]],
    *,
    random: bool,
    competes: bool,
) -> dict[str, Verdict]:
    """Returns the verdicts by requirement, each with its contradiction or the cost of its leader.

    Args:
        metrics: metric of each requirement.
        series: by CCA and metric, the values of the runs in the order of the seeds.
        criterion_values: by metric of `CRITERIA` and CCA, the values of the runs in the same order.
        completion: completion times of the flow's transfers by CCA; empty for a flow without an end.
        random: whether draws affect the results, and there is a single run, which is not conclusive.
        competes: whether the flow uses all capacity that it gets, so that its goodput counts.
    """
    result = {}
    for requirement, metric in metrics.items():
        values = {cca: columns[metric] for cca, columns in series.items()}
        verdict = best_of(metric, values, random=random)
        if verdict.leader is not None and not random:
            contradicted_by = _contradiction(verdict.leader, metric, criterion_values)
            verdict = replace(verdict, contradicted_by=contradicted_by)
            if competes and not verdict.contradicted_by:
                goodput = {cca: columns[GOODPUT] for cca, columns in series.items()}
                verdict = with_cost(verdict, metric, goodput, completion)
        result[requirement] = verdict
    return result


def values_by_criterion(
    columns: Mapping[str, Sequence[Any]], indices: Mapping[str, Sequence[int]]
) -> dict[str, dict[str, list[float]]]:
    """Returns the values of the runs, `columns` of `run_table`, by metric of `CRITERIA` and CCA.

    `indices` are those of the runs of each CCA.
    """
    return {
        criterion.metric: {
            cca: [float(columns[criterion.metric][run]) for run in runs]
            for cca, runs in indices.items()
        }
        for criterion in CRITERIA
        if criterion.metric in columns
    }


def _contradiction(
    leader: str, metric: str, criterion_values: Mapping[str, Mapping[str, list[float]]]
) -> str | None:
    """Returns the contradiction between the application's metrics and a leading CCA; None without one.

    Args:
        leader: CCA with the best mean of the metric.
        metric: metric of the requirement; a metric does not contradict itself.
        criterion_values: values of the runs by metric of `CRITERIA` and CCA, in the order of the seeds.
    """
    for criterion in CRITERIA:
        values = criterion_values.get(criterion.metric, {})
        means = {cca: estimate(runs).mean for cca, runs in values.items()}
        if criterion.metric == metric or all(math.isnan(mean) for mean in means.values()):
            continue
        better_means = {
            cca: mean
            for cca, mean in means.items()
            if cca != leader
            and not criterion.fails(mean)
            and (criterion.fails(means[leader]) or criterion.is_better(values[cca], values[leader]))
        }
        if not better_means and not criterion.fails(means[leader]):
            continue
        return _sentence(criterion, leader, means, better_means)
    return None


def _sentence(
    criterion: _Criterion, leader: str, means: Mapping[str, float], better_means: Mapping[str, float]
) -> str:
    """Returns the contradiction as text, with the means of the leader and of the best other CCA."""
    names = labels(means)
    with_leader = f"with {names[leader]}, which leads, {_mean_text(criterion, means[leader])}"
    if better_means:
        best = max(better_means, key=lambda cca: criterion.sign * better_means[cca])
        return f"{with_leader}; with {names[best]} {_mean_text(criterion, better_means[best])}"
    known_means = {cca: mean for cca, mean in means.items() if not math.isnan(mean)}
    best = max(known_means, key=lambda cca: criterion.sign * known_means[cca])
    if len(means) == 1:
        return f"with {names[leader]} {_mean_text(criterion, means[leader])}"
    if best == leader:
        return f"{with_leader}, and no other serves the application better"
    return f"{with_leader}; at best, with {names[best]}, {_mean_text(criterion, known_means[best])}"


def _mean_text(criterion: _Criterion, mean: float) -> str:
    return f"{criterion.metric} has no value" if math.isnan(mean) else criterion.describe(mean)
