"""Standing: the ranking metric of a congestion control for a flow, and the leader by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.metrics import (
    APP_METRICS,
    COMPLETED_SHARE,
    GOODPUT,
    LATE_FRAMES,
    LEAST_COMPLETION,
    MEAN_RTT,
    words_of,
)
from celltcp.present.section import AT_LEAST
from celltcp.results.statistics import estimate, paired_difference
from celltcp.scenarios.quantity_texts import delay_text

if TYPE_CHECKING:
    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.statistics import Verdict

#: Requirements by which congestion controls rank for a flow without an application. The second one is
#: for results whose RTTs end at a middlebox.
_REQUIREMENTS = ("balanced", "goodput")
#: Mean time of the complete transfers.
_COMPLETION = "completion_s"


class NetworkDifferences(NamedTuple):
    """Paired differences between a congestion control and the leader."""

    goodput_mbps: float
    delay_ms: float


class Standing(NamedTuple):
    """Ranking metric of a flow under a congestion control, and its value under the leader."""

    #: Metric by which congestion controls rank.
    metric: str
    #: Requirement that the metric belongs to; empty for an application.
    requirement: str
    value: float
    #: Best congestion control by the means; None for CCA mixes of several flows, which do not rank, and
    #: in results with a single congestion control.
    leader: str | None
    leader_value: float
    #: Whether the congestion control is as good as the leader; None if the runs do not decide that.
    is_as_good: bool | None
    #: Paired differences to the leader; None for the leader, and for an application.
    differences: NetworkDifferences | None
    #: Metric of the delay in `differences`.
    delay_metric: str
    #: Whether the congestion control leads, or is as good as the leader.
    leads: bool
    #: Share of late frames; 0 without any, and where it is the metric.
    late_share: float = 0.0
    #: Share of the transfers that the end of the run cut off.
    cut_share: float = 0.0
    #: That share under the leader.
    leader_cut_share: float = 0.0
    #: Whether rates are so low that texts have them in kbit/s.
    is_slow: bool = False
    #: Marks of lower bounds before the value, and before that of the leader.
    marks: tuple[str, str] = ("", "")

    @property
    def metric_text(self) -> str:
        """The metric with its name and unit; empty for a performance metric, which has no unit.

        The share of late frames is before their delay.
        """
        if self.metric not in APP_METRICS:
            return ""
        late_text = f"{APP_METRICS[LATE_FRAMES].text(self.late_share)}, " if self.late_share else ""
        metric = _COMPLETION if self.metric == LEAST_COMPLETION and not self.cut_share else self.metric
        is_cut = self.cut_share and metric != COMPLETED_SHARE
        cut_text = f" ({percent_text(self.cut_share)} of the transfers not complete)" if is_cut else ""
        text = APP_METRICS[metric].text(self.value, self.leader_value, mark=self.marks[0])
        return f"{late_text}{text}{cut_text}"

    def behind_text(self, leader: str) -> str:
        """Returns the difference to the leader as text.

        Args:
            leader: label of the leader.
        """
        requirement = f" for {self.requirement}" if self.requirement else ""
        if self.is_as_good:
            differences = f" ({self._differences_text})" if self._differences_text else ""
            return f"as good as {leader}{requirement}{differences}"
        verdict = f", which leads{requirement}"
        if self.is_as_good is None:
            verdict = "; the runs do not decide which is better"
        if self.metric in APP_METRICS:
            is_cut = bool(self.leader_cut_share)
            metric = _COMPLETION if self.metric == LEAST_COMPLETION and not is_cut else self.metric
            text = APP_METRICS[metric].text(self.leader_value, self.value, mark=self.marks[1])
            return f"{text} of {leader}{verdict}"
        return f"{self._differences_text} against {leader}{verdict}"

    @property
    def _differences_text(self) -> str:
        """Differences to the leader in goodput and delay as text; empty for an application."""
        if self.differences is None:
            return ""
        delay = "" if self.delay_metric == MEAN_RTT else f" of {words_of(self.delay_metric).name}"
        goodput_mbps, delay_ms = self.differences
        goodput = f"{goodput_mbps:+.2f} Mbit/s"
        if self.is_slow:
            goodput = f"{1e3 * goodput_mbps:+.2f} kbit/s"
        sign = "+" if delay_ms > 0 else ""
        return f"{goodput} and {sign}{delay_text(delay_ms)}{delay}"


def _is_as_good(verdict: Verdict, cca: str) -> bool | None:
    if cca in verdict.undecided or verdict.contradicted_by:
        return None
    return cca in verdict.ranked


def standing_of(comparison: Comparison, cca: str, application: Application | None) -> Standing:
    """Returns the standing of a congestion control for the flow under test, or for an application."""
    bounds: frozenset[str] = frozenset()
    if application is None:
        requirement = next(name for name in _REQUIREMENTS if name in comparison.requirements)
        metric, verdict = comparison.requirements[requirement], comparison.verdicts[requirement]
        values = {name: comparison.values(name, metric) for name in comparison.ccas}
    else:
        requirement = ""
        metric, verdict = application.ranking.metric, application.verdict(random=not comparison.decides)
        values = application.values(metric)
        # The other metric has "at least" in its name.
        bounds = application.bounds(metric) if metric != LEAST_COMPLETION else bounds
    has_rivals = len(comparison.ccas) > 1 and cca in comparison.ranked_ccas
    if application is not None and application.missed_text:
        has_rivals = False
    leader = verdict.leader if has_rivals else None
    differences = None
    if application is None and leader not in (None, cca):
        differences = NetworkDifferences(
            *(
                paired_difference(
                    comparison.values(cca, name), comparison.values(str(leader), name)
                ).mean
                for name in (GOODPUT, comparison.delay_metric)
            )
        )
    return Standing(
        metric,
        requirement,
        estimate(values[cca]).mean,
        leader,
        estimate(values[leader]).mean if leader else float("nan"),
        _is_as_good(verdict, cca),
        differences,
        comparison.delay_metric,
        leader in (None, cca) or bool(_is_as_good(verdict, cca)),
        _share(application, cca, LATE_FRAMES, 0.0) if metric != LATE_FRAMES else 0.0,
        1.0 - _share(application, cca, COMPLETED_SHARE, 1.0),
        1.0 - _share(application, leader or cca, COMPLETED_SHARE, 1.0),
        words_of(GOODPUT).suited(estimate(comparison.values(cca, GOODPUT)).mean).unit == "kbit/s",
        (AT_LEAST if cca in bounds else "", AT_LEAST if leader in bounds else ""),
    )


def _share(application: Application | None, cca: str, metric: str, other: float) -> float:
    """Returns the mean of a share of units of work; `other` for applications without it."""
    if application is None or metric not in application.names:
        return other
    return estimate(application.values(metric)[cca]).mean
