"""Place: the ranking metric of a congestion control for a flow, and the leader by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.metrics import APP_METRICS, GOODPUT, MEAN_RTT, words_of
from celltcp.results.statistics import estimate, paired_difference
from celltcp.scenarios.cca_mix import is_of_several_flows

if TYPE_CHECKING:
    from celltcp.comparison.applications import Application
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.statistics import Verdict

#: Requirements by which congestion controls rank for a flow without an application: the second where
#: RTTs are those of the leg to a middlebox.
_REQUIREMENTS = ("balanced", "goodput")


class Place(NamedTuple):
    """Metric of a flow under a congestion control, and that of the leader."""

    #: Metric by which they rank.
    metric: str
    #: Requirement that has the metric; empty for an application.
    need: str
    value: float
    #: Best congestion control by the means; None for line-ups of several flows, which do not rank.
    leader: str | None
    leader_value: float
    #: Whether it is as good as the leader; None where the runs do not decide that.
    is_as_good: bool | None
    #: Paired differences to the leader, Mbit/s and ms; None for the leader, and for an application.
    network: tuple[float, float] | None
    #: Metric of the delay among these.
    delay_metric: str
    #: Whether it leads, or is as good as the leader.
    leads: bool

    @property
    def figure_text(self) -> str:
        """The metric with its name and unit; empty for a performance metric, which has no unit."""
        return APP_METRICS[self.metric].text(self.value) if self.metric in APP_METRICS else ""

    def behind_text(self, leader: str) -> str:
        """Returns the distance to the leader, by its label."""
        of = f" for {self.need}" if self.need else ""
        if self.is_as_good:
            return f"as good as {leader}{of}{f' ({self._gaps})' if self._gaps else ''}"
        rest = f", which leads{of}"
        if self.is_as_good is None:
            rest = "; the runs do not decide which is better"
        if self.metric in APP_METRICS:
            return f"{APP_METRICS[self.metric].text(self.leader_value)} of {leader}{rest}"
        return f"{self._gaps} against {leader}{rest}"

    @property
    def _gaps(self) -> str:
        """Differences to the leader in goodput and delay; empty for an application."""
        if self.network is None:
            return ""
        goodput, rtt = self.network
        delay = "" if self.delay_metric == MEAN_RTT else f" of {words_of(self.delay_metric).name}"
        return f"{goodput:+.2f} Mbit/s and {rtt:+.1f} ms{delay}"


def _is_as_good(verdict: Verdict, cca: str) -> bool | None:
    if cca in verdict.undecided or verdict.contradicted_by:
        return None
    return cca in verdict.ranked


def place_of(result: Comparison, cca: str, application: Application | None) -> Place:
    """Returns the place of a congestion control for the flow under test, or for an application."""
    if application is None:
        need = next(requirement for requirement in _REQUIREMENTS if requirement in result.requirements)
        metric, verdict = result.requirements[need], result.verdicts[need]
        values = {each: result.values(each, metric) for each in result.ccas}
    else:
        need = ""
        metric, verdict = application.ranking.metric, application.verdict(random=not result.decides)
        values = application.values(metric)
    leader = None if len(result.ccas) < 2 or is_of_several_flows(cca) else verdict.leader
    network = None
    if application is None and leader not in (None, cca):
        goodput, rtt = (
            paired_difference(result.values(cca, name), result.values(str(leader), name)).mean
            for name in (GOODPUT, result.delay_metric)
        )
        network = goodput, rtt
    return Place(
        metric,
        need,
        estimate(values[cca]).mean,
        leader,
        estimate(values[leader]).mean if leader else float("nan"),
        _is_as_good(verdict, cca),
        network,
        result.delay_metric,
        leader in (None, cca) or bool(_is_as_good(verdict, cca)),
    )
