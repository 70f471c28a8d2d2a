"""Applications of a comparison: the metrics of each flow that has one, and the best CCA by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.application import MAX_LATE
from celltcp.comparison.metrics import APP_METRICS, APPLICATIONS, best_by_metric
from celltcp.results.statistics import Verdict, estimate

if TYPE_CHECKING:
    from celltcp.comparison.application_metrics import MetricValues


class Ranking(NamedTuple):
    """Metric by which CCAs rank for an application."""

    metric: str
    #: Name of the metric in words.
    title: str
    #: Reason for this metric, in words; empty for the usual one.
    note: str = ""


class Application(NamedTuple):
    """Application of a flow: its metrics under each CCA."""

    flow: str
    #: By CCA or line-up and metric, the values of the runs in the order of the seeds.
    metrics: Mapping[str, Mapping[str, list[float]]]

    @property
    def is_intermittent(self) -> bool:
        """Whether it sends intermittently, so that its goodput is no share of the path."""
        return not {"response_s", "late_share", "page_load_s"}.isdisjoint(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics, in the order of their table."""
        return tuple(next(iter(self.metrics.values())))

    def values(self, metric: str) -> dict[str, list[float]]:
        """Returns the values of a metric by CCA or line-up, in the order of the seeds."""
        return {cca: values[metric] for cca, values in self.metrics.items()}

    def means(self, metric: str) -> list[float]:
        """Returns the mean of a metric of each CCA."""
        return [estimate(values).mean for values in self.values(metric).values()]

    @property
    def ranking(self) -> Ranking:
        """The metric that matters most.

        Transfers rank by their completion time. Where some never complete, their time so far counts.
        That is too little, so that a congestion control leads by it only if all of its own are
        complete. Otherwise, the share that is complete ranks.
        Frames rank by the share that is late. They rank by their mean delay if none is late under any
        CCA, or too many under each one for the deadline.
        """
        if "qoe" in self.names:
            return Ranking("qoe", "mean opinion score")
        if "late_share" in self.names:
            late = self.means("late_share")
            if all(mean > MAX_LATE for mean in late):
                note = f"over {100 * MAX_LATE:.0f} % late under every CCA"
                return Ranking("frame_delay_ms", "delay of frames", note)
            if any(mean > 0 for mean in late):
                return Ranking("late_share", "share of late frames")
            return Ranking("frame_delay_ms", "delay of frames")
        if "response_p95_s" in self.names:
            # With few responses, a percentile is the longest one and is named so.
            if all(has_too_few("response_p95_s", of_cca) for of_cca in self.metrics.values()):
                return Ranking("response_max_s", "longest response time")
            return Ranking("response_p95_s", "95th percentile of the response time")
        if "page_load_s" in self.names:
            return Ranking("page_load_s", "page load time")
        if "completion_least_s" not in self.names:
            return Ranking("completion_s", "completion time")
        shares, least = self.values("completed_share"), self.values("completion_least_s")
        leader = best_by_metric("completion_least_s", least, random=False).leader
        if leader is not None and estimate(shares[leader]).mean == 1:
            return Ranking("completion_least_s", "completion time, at least")
        return Ranking("completed_share", "share of complete transfers")

    def verdict(self, *, random: bool) -> Verdict:
        """Returns the best CCA by the metric that matters most; line-ups of several are left out."""
        metric = self.ranking.metric
        return best_by_metric(metric, self.values(metric), random=random)


def has_too_few(name: str, metrics: Mapping[str, Sequence[float]]) -> bool:
    """Returns whether a run has so few values that a high percentile of them is the largest one.

    Args:
        name: of the metric.
        metrics: of the application, by name, a value per run.
    """
    percentile = APP_METRICS[name].percentile
    if percentile in (None, 50, 100):
        return False
    group = next(application for application in APPLICATIONS if name in application)
    counts = next((metrics[each] for each in group if group[each].is_count and each in metrics), None)
    return counts is not None and estimate(counts).mean * (100 - percentile) < 100


def applications_of(
    metrics: Mapping[str, MetricValues], places: Mapping[str, Sequence[int]]
) -> list[Application]:
    """Returns the applications of flows, in their order.

    Args:
        metrics: by flow.
        places: those of the runs of each CCA in the metrics, in the order of the seeds.
    """
    return [
        Application(
            flow,
            {
                cca: {name: [float(values[at]) for at in rows] for name, values in of_flow.items()}
                for cca, rows in places.items()
            },
        )
        for flow, of_flow in metrics.items()
    ]
