"""Applications of flows: their metrics under each CCA, the ranking metric and the best CCA by it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.applications.application import MAX_LATE_SHARE
from celltcp.comparison.metrics import (
    AGES,
    APP_METRICS,
    APPLICATIONS,
    COMPLETED_SHARE,
    FRAME_AGE,
    FRAMES,
    LAST_COMPLETION,
    LATE_FRAMES,
    LATE_RESPONSES,
    LEAST_COMPLETION,
    MAX_PERCENTILE,
    MISSING_FRAMES,
    TRANSFERS,
    AppMetric,
    best_by_metric,
    estimate_of,
)
from celltcp.results.statistics import Estimate, Verdict, estimate

if TYPE_CHECKING:
    from celltcp.comparison.applications.application_metrics import MetricValues


#: Mean time to the first byte of a unit of work, with the mean time of the whole unit.
_FIRST_BYTES = {
    "response_first_byte_s": "response_s",
    "page_first_byte_s": "page_load_s",
    "first_byte_s": "completion_s",
}
#: Share of the units above a percentile up to which some without an end hardly move it.
_MAX_UNKNOWN = 0.1
#: Median delay of frames, and the late share from which on all are late, so that it sets none apart.
_MEDIAN_DELAY, _MIN_ALL_LATE = "frame_delay_p50_ms", 0.995
#: Share of the frames below and above a median.
_HALF = 0.5


class RankingMetric(NamedTuple):
    """Metric by which CCAs rank for a flow."""

    metric: str
    #: Text that names the metric.
    title: str
    #: Text with the reason for this metric; empty for the usual metric.
    note: str = ""


class Application(NamedTuple):
    """Application of a flow: its metrics under each CCA."""

    flow: str
    #: By CCA or mix and metric, the values of the runs in the order of the seeds.
    metrics: Mapping[str, Mapping[str, list[float]]]
    #: Whether its transfers are parts of one, which is complete with the last (`divided_flows`).
    is_divided: bool = False
    #: The same metrics for each of several kinds of frames, by its label.
    kinds: Mapping[str, Mapping[str, Mapping[str, list[float]]]] = {}

    @property
    def is_intermittent(self) -> bool:
        """Whether the application sends intermittently, so that its goodput is no share of the path."""
        return not {"response_s", LATE_FRAMES, "page_load_s"}.isdisjoint(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the metrics, in the order of their table."""
        return tuple(next(iter(self.metrics.values())))

    @property
    def has_single_transfers(self) -> bool:
        """Whether no run has several transfers: the longest time is that of the only one."""
        return not any(
            count > 1 for values in self.metrics.values() for count in values.get("transfers", ())
        )

    @property
    def completion_metric(self) -> str:
        """Metric of the time for which the user of transfers waits; empty without transfers."""
        names = (LAST_COMPLETION,) if self.is_divided else (LEAST_COMPLETION, "completion_s")
        return next((name for name in names if name in self.names), "")

    def heading(self, metric: str) -> str:
        """Returns the heading of a metric in tables, which says where times are of complete ones."""
        text = APP_METRICS[metric].heading
        is_of_some = metric == "completion_s" and LEAST_COMPLETION in self.names
        return text.replace("completion", "complete ones") if is_of_some else text

    def values(self, metric: str) -> dict[str, list[float]]:
        """Returns the values of a metric by CCA or mix, in the order of the seeds."""
        return {cca: values[metric] for cca, values in self.metrics.items()}

    def bounds(self, metric: str) -> frozenset[str]:
        """Returns the CCAs under which the values of a metric are lower bounds."""
        return frozenset(
            cca for cca, metrics in self.metrics.items() if is_lower_bound(metric, metrics)
        )

    def means(self, metric: str) -> list[float]:
        """Returns the mean of a metric of each CCA."""
        return [estimate(values).mean for values in self.values(metric).values()]

    @property
    def ranking(self) -> RankingMetric:
        """The metric that matters most.

        Transfers rank by their completion time, parts of one by the longest. If some are incomplete,
        their time until the end of the run counts as a lower bound. Transfers rank by the share of
        complete ones instead if none is, if that decides and the times do not, or if the leader by
        times, some of which are incomplete, has a lower share than others.
        Frames rank by the share of late frames. They rank by their mean delay if no frame is late under
        any CCA, or if over `MAX_LATE_SHARE` of them are late under every CCA and all arrived. If some
        had not arrived, and all others or equal shares are late, they rank by their median delay, or by
        the share of those if that is large, which decides also where the late shares do not.
        """
        if "qoe" in self.names:
            return RankingMetric("qoe", "mean opinion score")
        if LATE_FRAMES in self.names:
            late_shares = self.means(LATE_FRAMES)
            note = ""
            if are_mostly_late := all(mean > MAX_LATE_SHARE for mean in late_shares):
                note = f"over {100 * MAX_LATE_SHARE:.0f} % late under every CCA"
            # A lower bound of the mean would prefer the CCA that loses most.
            have_arrived = not self.bounds("frame_delay_ms")
            if not any(mean > 0 for mean in late_shares) or (are_mostly_late and have_arrived):
                return RankingMetric("frame_delay_ms", "delay of frames", note)
            are_as_late = min(late_shares) >= _MIN_ALL_LATE or (are_mostly_late and self._are_as_late)
            if are_as_late and self._most_have_arrived:
                return RankingMetric(_MEDIAN_DELAY, "median delay of frames", note)
            are_few = are_mostly_late and not self._most_have_arrived
            if are_as_late or (are_few and self._only_missing_decide):
                return RankingMetric(MISSING_FRAMES, "share of frames that had not arrived", note)
            return RankingMetric(LATE_FRAMES, "share of late frames", note)
        if LATE_RESPONSES in self.names and any(mean > 0 for mean in self.means(LATE_RESPONSES)):
            return RankingMetric(LATE_RESPONSES, "share of late responses")
        if "response_p95_s" in self.names:
            # A percentile of few responses is the longest one, which is a matter of chance. Where one
            # CCA has few, tables have no percentile of it.
            every = self.metrics.values()
            has_few = any(map(_has_few, every))
            if has_few or all(has_too_few("response_p95_s", metrics) for metrics in every):
                return RankingMetric("response_s", "mean response time")
            return RankingMetric("response_p95_s", "95th percentile of the response time")
        if "page_load_s" in self.names:
            return RankingMetric("page_load_s", "page load time")
        title = "completion time of all parts" if self.is_divided else "completion time"
        metric = self.completion_metric
        if LEAST_COMPLETION not in self.names:
            return RankingMetric(metric, title)
        if self._times_decide(metric):
            return RankingMetric(metric, f"{title}, or the time until the end")
        return RankingMetric(COMPLETED_SHARE, "share of complete transfers")

    @property
    def _are_as_late(self) -> bool:
        """Whether as many frames are late under all CCAs."""
        return best_by_metric(LATE_FRAMES, self.values(LATE_FRAMES), random=False).are_all_tied

    @property
    def _only_missing_decide(self) -> bool:
        """Whether the shares of frames that had not arrived set CCAs apart, and late shares do not."""
        late, missing = (
            best_by_metric(name, self.values(name), random=False)
            for name in (LATE_FRAMES, MISSING_FRAMES)
        )
        return late.best is None and missing.best is not None

    @property
    def _most_have_arrived(self) -> bool:
        """Whether most frames arrived under each CCA, so that the median is of those that did."""
        missing = (estimate(each.get(MISSING_FRAMES, [0.0])).mean for each in self.metrics.values())
        return max(missing, default=0.0) < _HALF

    def _times_decide(self, metric: str) -> bool:
        """Returns whether transfers, of which some are incomplete, rank by their time so far."""
        times, shares = (
            best_by_metric(name, self.values(name), random=False) for name in (metric, COMPLETED_SHARE)
        )
        if times.leader is None or times.leader not in shares.ranked:
            return False
        if times.are_all_tied and len(self.bounds(metric)) == len(self.metrics):
            # All lasted until the end, which says nothing of the time that each would take.
            return False
        # Of those whose times may be the least, the shares have to be apart to decide.
        rivals = {times.leader, *times.undecided}
        share_decides = shares.best is not None and not shares.are_all_tied
        return not times.undecided or not share_decides or rivals <= {*shares.ranked}

    @property
    def missed_text(self) -> str:
        """That frames miss their deadline under every CCA alike, by which none serves; or empty."""
        late_shares = self.means(LATE_FRAMES) if LATE_FRAMES in self.names else []
        if len(late_shares) < 2 or not min(late_shares) > MAX_LATE_SHARE:
            return ""
        if min(late_shares) < _MIN_ALL_LATE and not self._are_as_late:
            return ""
        ends = (f"{100 * end(late_shares):.3g}" for end in (min, max))
        return (
            f"no CCA keeps the deadline ({' to '.join(dict.fromkeys(ends))} % of the frames are late)"
        )

    def without_missed(self, verdict: Verdict) -> Verdict:
        """Returns a verdict by the ranking metric, contradicted where no CCA keeps the deadline."""
        text = self.missed_text
        return replace(verdict, contradicted_by=text) if text and verdict.leader else verdict

    def verdict(self, *, random: bool) -> Verdict:
        """Returns the best CCA by the ranking metric; mixes of several CCAs do not rank."""
        metric = self.ranking.metric
        return self.without_missed(best_by_metric(metric, self.values(metric), random=random))


def completion_times(
    applications: Sequence[Application], flow: str, ccas: Iterable[str]
) -> dict[str, list[float]]:
    """Returns the times for which the user of a flow's transfers waits, by CCA, s; empty without."""
    for application in applications:
        if application.flow == flow and (metric := application.completion_metric):
            return {cca: application.values(metric)[cca] for cca in ccas}
    return {}


def shown_metrics(applications: Sequence[Application]) -> list[str]:
    """Returns the metrics of applications for tables, without spreads and repeated values.

    The highest percentile is among them only where there are enough values for it.
    """
    names = {name for application in applications for name in application.names}
    names -= {
        name
        for name in names
        if APP_METRICS[name].percentile == MAX_PERCENTILE
        and all(has_too_few(name, values) for each in applications for values in each.metrics.values())
    }
    if all(application.has_single_transfers for application in applications):
        names -= {LAST_COMPLETION, "transfers"}
    if all(application.is_divided for application in applications):
        # The user waits for the last part, which counts cut ones, too.
        names.discard(LEAST_COMPLETION)
    for first_byte, mean in _FIRST_BYTES.items():
        if {first_byte, mean} <= names and _are_alike(applications, first_byte, mean):
            names.discard(first_byte)
    return [name for name, metric in APP_METRICS.items() if name in names and not metric.is_spread]


def _are_alike(applications: Sequence[Application], first: str, second: str) -> bool:
    """Returns whether two metrics have the same digits in all tables."""
    digits = APP_METRICS[second].digits
    return all(
        f"{one:.{digits}f}" == f"{other:.{digits}f}"
        for application in applications
        for values in application.metrics.values()
        # What never began has an age, but no first byte.
        for one, other in zip(values.get(first, ()), values.get(second, ()), strict=False)
    )


def _has_few(metrics: Mapping[str, Sequence[float]]) -> bool:
    """Returns whether all runs have responses, but too few for the 95th percentile."""
    are_there = all(map(math.isfinite, metrics["response_p95_s"]))
    return are_there and has_too_few("response_p95_s", metrics)


def has_too_few(name: str, metrics: Mapping[str, Sequence[float]]) -> bool:
    """Returns whether a run has so few values that a high percentile of them is the largest one.

    Args:
        name: name of the metric.
        metrics: values of the application's metrics by name, one per run.
    """
    percentile = APP_METRICS[name].percentile
    if percentile in (None, 50, 100):
        return False
    group = next(application for application in APPLICATIONS if name in application)
    counts = next((metrics[key] for key in group if _is_number(group, key) and key in metrics), None)
    known = [count for count in counts or () if not math.isnan(count)]
    return bool(known) and min(known) < round(100 / (100 - percentile), 6)


def without_few(metrics: Mapping[str, Sequence[float]]) -> dict[str, Sequence[float]]:
    """Returns metrics, also of the network, with NaN for the percentiles of too few values."""
    return {
        name: [math.nan] * len(values) if name in APP_METRICS and has_too_few(name, metrics) else values
        for name, values in metrics.items()
    }


def is_lower_bound(name: str, metrics: Mapping[str, Sequence[float]]) -> bool:
    """Returns whether a mean, percentile or maximum of times is a lower bound, or a deviation unknown.

    Units that were not complete at the end count with their age, wherever the time that they would have
    taken may change the figure. Up to a tenth of the units above a percentile, or of all frames for a
    mean, hardly change it.

    Args:
        name: name of the metric.
        metrics: values of the application's metrics by name, one per run.
    """
    metric = APP_METRICS.get(name)
    if metric is None:
        return False
    unfinished = _unfinished_share(name, metric, metrics)
    if name in (LEAST_COMPLETION, LAST_COMPLETION, "response_s", "page_load_s"):
        return unfinished > 0
    above = 1.0 - (metric.percentile or 0.0) / 100.0
    return unfinished > _MAX_UNKNOWN * above


def _unfinished_share(name: str, metric: AppMetric, metrics: Mapping[str, Sequence[float]]) -> float:
    """Returns the share of units that count with their age in a metric; 0 for metrics without ages."""
    kind, is_mean = metric.kind or name, metric.percentile is None
    if name in (LEAST_COMPLETION, LAST_COMPLETION) or (name in TRANSFERS and not is_mean):
        return 1.0 - estimate(metrics.get(COMPLETED_SHARE, [1.0])).mean
    age = AGES.get(kind)
    if age == FRAME_AGE and not metric.is_count:
        return estimate(metrics.get(MISSING_FRAMES, [0.0])).mean
    if age is None or metric.is_count or metric.is_spread:
        return 0.0
    group = next(application for application in APPLICATIONS if name in application)
    counts = {
        each.kind: mean
        for key, each in group.items()
        if each.is_count and key in metrics
        # A count without a value is zero.
        if not math.isnan(mean := estimate(metrics[key]).mean)
    }
    missing = counts.get(age, 0.0)
    return missing / (missing + counts.get(kind, 0.0)) if missing else 0.0


def metric_estimates(metrics: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """Returns the means of metrics, also of the network, with their intervals, or as lower bounds."""
    return {
        name: estimate_of(name, values, is_bound=is_lower_bound(name, metrics))
        for name, values in metrics.items()
    }


def _is_number(group: Mapping[str, AppMetric], key: str) -> bool:
    """Returns whether a metric is the number of values of the others."""
    return group[key].is_count or key in ("transfers", FRAMES)


def applications_of(
    metrics: Mapping[str, MetricValues],
    indices: Mapping[str, Sequence[int]],
    divided: Collection[str],
    kinds: Mapping[str, Mapping[str, MetricValues]],
) -> list[Application]:
    """Returns the applications of flows, from their metrics with a value per run.

    `indices` are those of the runs of each CCA or mix, in the order of the seeds, `divided` the names
    of `divided_flows`, `kinds` the metrics of kinds of frames by flow and label.
    """

    def by_cca(columns: MetricValues) -> dict[str, dict[str, list[float]]]:
        return {
            cca: {name: [float(column[run]) for run in runs] for name, column in columns.items()}
            for cca, runs in indices.items()
        }

    return [
        Application(
            flow,
            by_cca(columns),
            flow in divided,
            {label: by_cca(of_kind) for label, of_kind in kinds.get(flow, {}).items()},
        )
        for flow, columns in metrics.items()
    ]
