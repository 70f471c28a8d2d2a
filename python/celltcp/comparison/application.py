"""Contradictions between the metrics of an application and a verdict on network metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from celltcp.comparison.costs import COMPLETION_TIME, with_cost
from celltcp.comparison.metrics import GOODPUT, best_of
from celltcp.results.statistics import MARGIN, Verdict, estimate, paired_gap
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.requirements import QOE


@dataclass(frozen=True)
class Criterion:
    """Metric by which an application is served well or badly."""

    metric: str
    #: The metric of a CCA in words.
    says: Callable[[float], str]
    #: Factor that makes more of it better: 1 or -1.
    sign: int = -1
    #: Value at which the application is unusable, whatever others get; None if no value is.
    fails_at: float | None = None
    #: Smallest difference that matters, in addition to the share `MARGIN` of the mean.
    least: float = 0.0

    def fails(self, value: float) -> bool:
        """Returns whether an application with this mean is unusable."""
        if math.isnan(value):
            return True
        return self.fails_at is not None and self.sign * value < self.sign * self.fails_at

    def is_better(self, one: list[float], other: list[float]) -> bool:
        """Returns whether `one` is better than `other`, beyond chance and by an amount that matters."""
        gain = paired_gap(one, other)
        most = max(abs(estimate(one).mean), abs(estimate(other).mean))
        return self.sign * gain.mean > max(MARGIN * most, self.least) and not gain.includes_zero


#: Share of late frames above which an application of frames is not usable.
MAX_LATE = 0.1

#: Criteria, in the order in which they are checked. On the scale of the mean opinion score 2 is poor
#: and 1 is bad (ITU-T P.800). Conversations are hard to follow with far less than a tenth of the frames
#: missing (ITU-T G.1010: 1 % of video, 3 % of speech).
CRITERIA = (
    Criterion(QOE, lambda mean: f"the mean opinion score is {mean:.2f}", sign=1, fails_at=2.0),
    Criterion(
        "late_share",
        lambda mean: f"{100 * mean:.1f} % of the frames are late",
        fails_at=MAX_LATE,
        least=0.01,
    ),
    Criterion("response_s", lambda mean: f"a response takes {mean:.3f} s"),
    Criterion("page_load_s", lambda mean: f"a page takes {mean:.3f} s"),
    Criterion(
        "completed_share",
        lambda mean: f"{100 * mean:.0f} % of the transfers are complete",
        sign=1,
        least=0.01,
    ),
)


def verdicts_by_metric(
    metrics: Mapping[str, str],
    series: Mapping[str, Mapping[str, list[float]]],
    served: Mapping[str, Mapping[str, list[float]]],
    *,
    random: bool,
    competes: bool = True,
) -> dict[str, Verdict]:
    """Returns the verdicts by requirement, each with its contradiction or the cost of its leader.

    Args:
        metrics: metric of each requirement.
        series: by CCA and metric, the values of the runs in the order of the seeds.
        served: metrics of the application by metric and CCA.
        random: whether one run decides nothing, and there is a single one.
        competes: whether the flow has all that the path carries for it, so that its goodput counts.
    """
    result = {}
    for requirement, metric in metrics.items():
        each = best_of(metric, {cca: of[metric] for cca, of in series.items()}, random=random)
        if each.leader is not None and not random:
            each = replace(each, contradicted_by=contradiction(each.leader, metric, served))
            if competes and not each.contradicted_by:
                goodput, times = (_column(series, name) for name in (GOODPUT, COMPLETION_TIME))
                each = with_cost(each, metric, goodput, times)
        result[requirement] = each
    return result


def _column(series: Mapping[str, Mapping[str, list[float]]], metric: str) -> dict[str, list[float]]:
    """Returns the values of a metric by CCA; none where the runs lack it."""
    return {cca: of[metric] for cca, of in series.items() if metric in of}


def served_by(
    columns: Mapping[str, Sequence[Any]], places: Mapping[str, Sequence[int]]
) -> dict[str, dict[str, list[float]]]:
    """Returns the application's metrics: values of the runs by metric and CCA.

    Args:
        columns: those of the runs, as `run_table` has them.
        places: those of the runs of each CCA in the columns.
    """
    return {
        criterion.metric: {
            cca: [float(columns[criterion.metric][at]) for at in rows] for cca, rows in places.items()
        }
        for criterion in CRITERIA
        if criterion.metric in columns
    }


def contradiction(
    leader: str, metric: str, served: Mapping[str, Mapping[str, list[float]]]
) -> str | None:
    """Returns the contradiction between the application's metrics and a leading CCA; None without one.

    Args:
        leader: CCA with the highest mean of the metric.
        metric: metric of the requirement; a metric does not contradict itself.
        served: by metric and CCA, the values of the runs in the order of the seeds.
    """
    for criterion in CRITERIA:
        values = served.get(criterion.metric, {})
        means = {cca: estimate(runs).mean for cca, runs in values.items()}
        if criterion.metric == metric or all(math.isnan(mean) for mean in means.values()):
            continue
        others = {
            cca: mean
            for cca, mean in means.items()
            if cca != leader
            and not criterion.fails(mean)
            and (criterion.fails(means[leader]) or criterion.is_better(values[cca], values[leader]))
        }
        if not others and not criterion.fails(means[leader]):
            continue
        return _sentence(criterion, leader, means, others)
    return None


def _sentence(
    criterion: Criterion, leader: str, means: Mapping[str, float], others: Mapping[str, float]
) -> str:
    """Returns the contradiction in words, with the metrics of the leader and of the best of others."""
    names = labels(means)
    with_leader = f"with {names[leader]}, which leads, {_says(criterion, means[leader])}"
    if others:
        best = max(others, key=lambda cca: criterion.sign * others[cca])
        return f"{with_leader}; with {names[best]} {_says(criterion, others[best])}"
    known = {cca: mean for cca, mean in means.items() if not math.isnan(mean)}
    best = max(known, key=lambda cca: criterion.sign * known[cca])
    if len(means) == 1:
        return f"with {names[leader]} {_says(criterion, means[leader])}"
    if best == leader:
        return f"{with_leader}, and no other serves the application better"
    return f"{with_leader}; at best, with {names[best]}, {_says(criterion, known[best])}"


def _says(criterion: Criterion, mean: float) -> str:
    return f"{criterion.metric} has no value" if math.isnan(mean) else criterion.says(mean)
