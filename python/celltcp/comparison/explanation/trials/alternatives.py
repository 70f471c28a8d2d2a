"""Alternatives for a need: congestion controls alone or with a remedy, and what others lose by them."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.applications.application import MAX_LATE_SHARE
from celltcp.comparison.explanation.causes.start_up_frames import MIN_LATE_FRAMES
from celltcp.comparison.explanation.remedies.places import places_of
from celltcp.comparison.explanation.trials.metric_changes import (
    RETRANSMISSIONS,
    MetricChange,
    ResentChange,
)
from celltcp.comparison.explanation.trials.trial_metrics import COMPLETIONS, MIN_HELP_LOG, values_of
from celltcp.comparison.explanation.trials.value_knees import knee_of_values
from celltcp.comparison.lines.settings_lines import linux_sysctls
from celltcp.comparison.metrics import (
    APP_METRICS,
    GOODPUT,
    LAST_COMPLETION,
    LATE_FRAMES,
    LATE_RESPONSES,
    METRICS,
    metric_gap,
    sign_of,
    words_of,
)
from celltcp.comparison.retransmitted import retransmitted_share
from celltcp.comparison.verdicts.choices import NEED_TEXTS, Choice, cca_for_need, choices_by, choices_of
from celltcp.comparison.verdicts.harm import failing_under
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.comparison.verdicts.stakes import mix_stakes
from celltcp.comparison.verdicts.yielding import room_condition
from celltcp.results.statistics import Estimate, Verdict, estimate
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import has_several_flows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy

#: Ends of the fields that change the capacity, by which performance metrics weigh goodput.
_CAPACITY_FIELDS = (".rate", ".down", ".up")
#: Ends of the fields that change what there is to send, which no metric of others shows.
_CONTENT_FIELDS = (".objects",)
#: Ends of the fields that cap each connection.
_CAPS = ("receive_window_max", "max_pacing_rate")
#: Metrics that decide where shares are as good.
_NEXT_METRICS = {LATE_FRAMES: "frame_delay_p95_ms", LATE_RESPONSES: "response_p95_s"}
#: Minimum logarithm of the ratio of a metric with changes at two places and at the better one alone.
_MIN_JOINT_LOG = math.log(2.0)
#: Minimum logarithm of the ratio of performance metrics: within 1 % they are ties.
_MIN_PERFORMANCE_LOG = 0.01
#: Minimum number of runs whose differences have an interval that says much.
_MIN_RUNS = 3
#: Weight of a loss against a gain, as logarithms of ratios: a loss of half the goodput has to bring a
#: quarter of the delay. Queues differ by orders of magnitude, and goodputs do not.
_LOSS_WEIGHT = 2.0


class Alternative(NamedTuple):
    """A congestion control, alone or with a remedy, with its gain and losses against the reference."""

    cca: str
    #: The remedy; None for a congestion control alone.
    remedy: ProposedRemedy | None
    comparison: Comparison
    #: Where it is set.
    places: tuple[str, ...]
    #: Ranking metric of the need, per run.
    values: list[float]
    #: Logarithm of the ratio by which it improved.
    gain: float
    #: Metrics of others that got worse, or goodput of frames.
    losses: tuple[MetricChange, ...]
    #: Sum of the logarithms of the ratios by which other metrics of others got better.
    other_gain: float = 0.0
    #: Flows whose applications are unusable with it.
    failing: frozenset[str] = frozenset()
    #: Gain in the metric that decides where the ranking one is as good; 0 without one.
    next_gain: float = 0.0
    #: Condition under which it is as good elsewhere; empty for none.
    condition: str = ""

    @property
    def loss(self) -> float:
        """Sum of the logarithms of the ratios by which the metrics of others got worse."""
        return -sum(each.gain for each in self.losses)

    @property
    def net_gain(self) -> float:
        """The gain less the weighted losses."""
        return self.gain - _LOSS_WEIGHT * self.loss

    @property
    def next_net_gain(self) -> float:
        """The gain in the next metric less the weighted losses."""
        return self.next_gain - _LOSS_WEIGHT * self.loss

    @property
    def changes(self) -> tuple[str, ...]:
        """Changes of fields of the scenario, as `field=value`."""
        return () if self.remedy is None else self.remedy.remedy.changes

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of the scenario that it changes."""
        return tuple(each.partition("=")[0] for each in self.changes)

    @property
    def caps_each_connection(self) -> bool:
        """Whether it caps the window or rate of each connection, however many there are."""
        return any(each.endswith(_CAPS) for each in self.fields)

    @property
    def changes_text(self) -> str:
        """The changes of fields as text, with a space before it; empty without any."""
        return f" with {' and '.join(self.changes)}" if self.changes else ""

    @property
    def losses_text(self) -> str:
        """The losses as text, with a space before it; empty without any."""
        texts = [each.text(names_flow=bool(each.flow), has_range=False) for each in self.losses]
        return f" at the cost of {', '.join(texts)}" if texts else ""

    def is_as_good(self, other: Alternative, margin: float = 0.0) -> bool:
        """Returns whether it gains no less than another one, and loses no more, within a margin."""
        return (
            self.gain >= other.gain - margin
            and self.loss <= other.loss + margin
            and self.other_gain >= other.other_gain - max(margin, MIN_HELP_LOG)
            # Such as two without a late frame.
            and (
                abs(self.gain - other.gain) > margin or self.next_gain >= other.next_gain - MIN_HELP_LOG
            )
        )


class Need:
    """The first need of a comparison, its reference, and the metrics of alternatives for it."""

    def __init__(self, comparison: Comparison, choice: Choice, chosen: str | None) -> None:
        """Takes the choice for the need, and the congestion control to set, None if any will do."""
        self.comparison, self._choice, self.chosen = comparison, choice, chosen
        #: Ranking metric.
        self.metric = choice.metric
        #: Names of the flows with the need; empty for the network.
        self.flows = choice.flows
        #: Name and metric of the need, without what holds for the compared CCAs only.
        self.name = re.sub(r"; [^;)]*\)$", ")", choice.need)
        #: Congestion control to set, or the leader where none is.
        self.best_cca = chosen or str(choice.verdict.leader)
        #: Congestion control alone that alternatives are held against: that of the scenario.
        self.reference = comparison.usual_cca

    @property
    def min_gain(self) -> float:
        """Minimum logarithm of the ratio of metrics that sets two alternatives apart."""
        return MIN_HELP_LOG if self.flows else _MIN_PERFORMANCE_LOG

    def for_tail(self) -> list[Need]:
        """Returns the need by the highest percentile, and by the maximum, of its ranking metric."""
        if self.metric not in APP_METRICS:
            return []
        metrics = [re.sub(r"_p\d+(?=_)", name, self.metric) for name in ("_p99", "_max")]
        return [self._by(each) for each in dict.fromkeys(metrics) if each != self.metric and self.flows]

    @property
    def is_asked_for(self) -> bool:
        """Whether its metric is another than that by which its application ranks."""
        application = application_of(self.comparison, self.flows[0]) if self.flows else None
        return application is None or application.ranking.metric != self.metric

    def for_median(self) -> list[Need]:
        """Returns the need by the median, if it is by another figure of responses or pages."""
        metric = re.sub(r"_p\d+(?=_s$)|(?<=^page_load)(?=_s$)", "_p50", self.metric)
        return [self._by(metric)] if metric != self.metric and self.flows else []

    def for_deadline(self) -> list[Need]:
        """Returns the need by the share of late frames, if that is too large to rank by.

        A shorter delay gains nothing where no frame is late.
        """
        if not self.flows or self.metric == LATE_FRAMES:
            return []
        values = self.metric_of(self.comparison, self.best_cca, self.flows[0], LATE_FRAMES)
        return [self._by(LATE_FRAMES)] if values and estimate(values).mean > MAX_LATE_SHARE else []

    def _by(self, metric: str) -> Need:
        """Returns the need by another metric of its flow."""
        name = f"{self.name.partition(' (')[0]} ({words_of(metric).name})"
        return Need(self.comparison, self._choice._replace(metric=metric, need=name), self.chosen)

    def alone(self, scenario: Mapping[str, Any]) -> list[Alternative]:
        """Returns the compared congestion controls without a remedy."""
        ccas = [each for each in self.comparison.ccas if self.values(self.comparison, each)]
        return [self._alternative(cca, None, self.comparison, scenario) for cca in ccas]

    def with_remedy(self, remedy: ProposedRemedy) -> list[Alternative]:
        """Returns a remedy under each congestion control of its trial; none without the metric."""
        after = remedy.after
        fields = [change.partition("=")[0] for change in remedy.remedy.changes]
        if any(each.endswith(_CONTENT_FIELDS) for each in fields):
            return []
        is_comparable = self.flows or not any(each.endswith(_CAPACITY_FIELDS) for each in fields)
        if after is None or not is_comparable:
            return []
        return [
            self._alternative(cca, remedy, after, remedy.scenario)
            for cca in dict.fromkeys(remedy.replacement_ccas)
            if cca in after.ccas and self.values(after, cca)
        ]

    def values(self, comparison: Comparison, cca: str) -> list[float]:
        """Returns the ranking metric under a congestion control, per run; empty without it."""
        if not self.flows:
            return list(comparison.values(cca, self.metric))
        application = application_of(comparison, self.flows[0])
        if application is None or self.metric in METRICS:
            flow = FlowUnderTest.named(comparison.results.about, self.flows[0])
            return list(comparison.values_of(flow, cca, self.metric))
        metrics = application.metrics[cca]
        return values_of(self.metric, metrics, is_divided=application.is_divided) or []

    def gain(self, before: list[float], after: list[float]) -> float:
        """Returns the logarithm of the ratio by which the metric improved, on the same seeds."""
        count = min(len(before), len(after))
        return MetricChange("", self.metric, before[:count], after[:count]).gain

    def is_shown_better(self, alternative: Alternative) -> bool:
        """Returns whether runs show an alternative to be better than the congestion control to set.

        The difference matters, as one of several frames, and its interval does not include zero.
        """
        before = self.values(self.comparison, self.best_cca)
        gap, count = _paired(self.metric, alternative.values, before)
        if self.metric == LATE_FRAMES:
            frames = self.metric_of(self.comparison, self.best_cca, self.flows[0], "frames")[:count]
            if abs(gap.mean) * sum(frames) < MIN_LATE_FRAMES:
                return False
        is_small = abs(gap.mean) <= min_difference(self.metric)
        return not is_small and (count < _MIN_RUNS or not gap.includes_zero)

    def is_undecided(self, one: Alternative, other: Alternative) -> bool:
        """Returns whether several runs show no difference of two alternatives that matters."""
        gap, count = _paired(self.metric, one.values, other.values)
        is_small = abs(gap.mean) <= min_difference(self.metric)
        return count >= _MIN_RUNS and (is_small or gap.includes_zero)

    def signed_mean(self, alternative: Alternative) -> float:
        """Returns the mean of the ranking metric with the sign that makes more better."""
        return sign_of(self.metric) * estimate(alternative.values).mean

    def net_gain(self, alternative: Alternative, reference: str) -> float:
        """Returns the gain less losses of an alternative against a congestion control alone."""
        losses = self.losses(alternative.comparison, alternative.cca, reference)
        gain = self.gain(self.values(self.comparison, reference), alternative.values)
        return alternative._replace(gain=gain, losses=losses).net_gain

    def price_metrics(self) -> list[tuple[str, str]]:
        """Returns the flows and metrics by which alternatives lose.

        They are the goodput of bulk flows and of frames, and the ranking metric of applications other
        than that of the need.
        """
        applications = {each.flow: each for each in self.comparison.applications}
        metrics = []
        for flow, workload in FlowUnderTest.each_with_workload(self.comparison.results.about):
            if is_endless(workload) or workload.get("kind") == "frames":
                metrics.append((flow.name, GOODPUT))
            if flow.name in applications and flow.name not in self.flows:
                metrics.append((flow.name, applications[flow.name].ranking.metric))
        own = (self.flows[0], self.metric) if self.flows else (self.comparison.tested.name, GOODPUT)
        return [each for each in metrics if each != own]

    @property
    def next_metric(self) -> str:
        """Metric that decides where the ranking one is as good; empty without one."""
        return _NEXT_METRICS.get(self.metric, "")

    def values_of(self, alternative: Alternative, flow: str, metric: str) -> list[float]:
        """Returns a metric of a flow by an alternative, per run; of the network without a flow."""
        if flow in self.flows and metric == self.metric:
            return alternative.values
        comparison, cca = alternative.comparison, alternative.cca
        if not flow:
            return list(comparison.values(cca, metric))
        return self.metric_of(comparison, cca, flow, metric)

    def metric_of(self, comparison: Comparison, cca: str, flow: str, metric: str) -> list[float]:
        """Returns a metric of a flow under a congestion control, per run; empty without it."""
        if metric in METRICS:
            tested = FlowUnderTest.named(comparison.results.about, flow)
            return list(comparison.values_of(tested, cca, metric))
        application = application_of(comparison, flow)
        return [] if application is None else list(application.metrics.get(cca, {}).get(metric, []))

    def _alternative(
        self,
        cca: str,
        remedy: ProposedRemedy | None,
        comparison: Comparison,
        scenario: Mapping[str, Any],
    ) -> Alternative:
        values = self.values(comparison, cca)
        sets_cca = cca.partition("@")[0] != self.reference.partition("@")[0]
        places = places_of(None if remedy is None else remedy.remedy, scenario, sets_cca=sets_cca)
        # Others than Linux have a CCA that Linux lacks, and its sender may be none of them.
        if sets_cca and not has_several_flows(cca) and not linux_sysctls(cca.partition("@")[0]):
            places.append("a TCP with it")
        gain = self.gain(self.values(self.comparison, self.reference), values)
        changes = self._changes(comparison, cca, self.reference)
        losses = _losses_among(changes)
        other_gain = sum(each.gain for each in changes if each.gain >= MIN_HELP_LOG)
        failing = failing_under(comparison, cca)
        following = self.next_metric
        ways = ((self.comparison, self.reference), (comparison, cca))
        old, new = (self.metric_of(*way, self.flows[0], following) if following else [] for way in ways)
        next_gain = self._by(following).gain(old, new) if old and new else 0.0
        return Alternative(
            *(cca, remedy, comparison, tuple(places), values, gain, losses, other_gain, failing),
            next_gain,
            self._condition(cca, remedy, scenario),
        )

    def _condition(self, cca: str, remedy: ProposedRemedy | None, scenario: Mapping[str, Any]) -> str:
        """Returns the condition of the congestion controls that an alternative sets; or empty."""
        changes = () if remedy is None else remedy.remedy.changes
        ccas = [each.partition("=")[2] for each in changes if ".cca=" in each]
        own, usual = (each.partition("@")[0] for each in (cca, self.reference))
        ccas += [own] if own != usual and not has_several_flows(own) else []
        return room_condition(scenario, ccas, changes)

    def losses(self, after: Comparison, cca: str, reference: str) -> tuple[MetricChange, ...]:
        """Returns the metrics that get worse, against a compared congestion control alone."""
        return _losses_among(self._changes(after, cca, reference))

    def _changes(self, after: Comparison, cca: str, reference: str) -> list[MetricChange]:
        """Returns the changes of the metrics of others, and of the goodput of frames."""
        changes = []
        several = len(FlowUnderTest.each(self.comparison.results.about)) > 1
        for flow, metric in self.price_metrics():
            old = self.metric_of(self.comparison, reference, flow, metric)
            new = self.metric_of(after, cca, flow, metric)
            count = min(len(old), len(new))
            changes.append(MetricChange(flow if several else "", metric, old[:count], new[:count]))
        if self.flows and self.metric in (*COMPLETIONS, LAST_COMPLETION):
            resent = self._resent_change((self.comparison, reference), (after, cca))
            changes.append(resent._replace(flow=self.flows[0] if several else ""))
        return changes

    def resent_gain(self, one: Alternative, other: Alternative) -> float:
        """Returns the logarithm of the ratio by which one sends less of a transfer again; else 0."""
        if not self.flows or self.metric not in (*COMPLETIONS, LAST_COMPLETION):
            return 0.0
        return self._resent_change((other.comparison, other.cca), (one.comparison, one.cca)).gain

    def _resent_change(self, *pairs: tuple[Comparison, str]) -> ResentChange:
        """Returns the share that is sent again: it costs volume, and others of the link."""
        tested = FlowUnderTest.named(self.comparison.results.about, self.flows[0])
        old, new = ([retransmitted_share(each, tested, name)] for each, name in pairs)
        return ResentChange("", RETRANSMISSIONS, old, new)


def application_of(comparison: Comparison, flow: str) -> Application | None:
    """Returns the application of a flow; None for one that only has a goodput."""
    return next((each for each in comparison.applications if each.flow == flow), None)


def first_need(comparison: Comparison) -> Need | None:
    """Returns the first need of a comparison, of its CCA mixes, or of a single CCA; or None."""
    choice = next(iter(choices_of(comparison)), None)
    if len(comparison.ranked_ccas) == 1 == len(comparison.ccas):
        choice = _single_choice(comparison)
    if choice is not None:
        is_single = len(comparison.ccas) == 1
        chosen = comparison.ccas[0] if is_single else cca_for_need(comparison, choice)
        return Need(comparison, choice, chosen)
    for stake in mix_stakes(comparison):
        if stake.verdict.leader is not None:
            choice = Choice(stake.question, stake.metric, stake.verdict, (stake.flow,))
            return Need(comparison, choice, stake.verdict.best)
    return None


def needs_of(comparison: Comparison, by: Sequence[str] = ()) -> list[Need]:
    """Returns the needs by metrics asked for, the first one of a comparison, and of further flows."""
    asked = [Need(comparison, each, each.verdict.best) for each in choices_by(comparison, by)]
    first = first_need(comparison)
    further = [
        Need(comparison, choice, cca_for_need(comparison, choice))
        for choice in choices_of(comparison)[1:]
        if choice.flows
    ]
    return asked if first is None else [*asked, first, *further]


def _single_choice(comparison: Comparison) -> Choice | None:
    """Returns the need of a single CCA: that of the first application, or else of the network.

    None behind a split, where no performance metric ranks.
    """
    verdict = Verdict(comparison.ccas[0], ())
    application = next(iter(comparison.applications), None)
    if application is None:
        metric = comparison.requirements.get("balanced")
        return None if metric is None else Choice(NEED_TEXTS["balanced"], metric, verdict)
    need = f"{application.flow} ({application.ranking.title})"
    return Choice(need, application.ranking.metric, verdict, (application.flow,))


def best_by_place(need: Need, alternatives: Iterable[Alternative]) -> list[Alternative]:
    """Returns the reference, then at each place the alternatives without a better one there.

    The need and others gain more by them than others lose.
    Of those that are set at several places only the best is shown, and only if it is better than what
    each of these places reaches alone, or gains far more than its CCA and its changes alone.
    """
    alternatives = list(alternatives)
    reference = next(each for each in alternatives if _is_alone(each, need.reference))
    rest = [
        each
        for each in alternatives
        if each is not reference
        and (
            _is_alone(each, need.best_cca)
            or (each.gain >= need.min_gain and each.gain + each.other_gain > each.loss)
        )
    ]
    shown = [reference]
    for places in sorted(dict.fromkeys(each.places for each in rest), key=len):
        here = [each for each in rest if each.places == places]
        front = _front(need, here)
        parts = [each for each in shown[1:] if {*each.places} < {*places}]
        if parts:
            best = max(here, key=lambda each: each.net_gain)
            least = max(each.net_gain for each in parts) + need.min_gain
            front = [best] if best.net_gain >= least else _joint(need, here, rest, parts)
        shown += sorted(front, key=lambda each: (each.gain, each.cca))
    return shown


def _joint(
    need: Need,
    here: Sequence[Alternative],
    alternatives: Iterable[Alternative],
    parts: Sequence[Alternative],
) -> list[Alternative]:
    """Returns the best of the alternatives at several places that gain twice as much as their parts.

    Their parts are the congestion control alone, and the changes with that of the reference. None is
    returned if one of its places alone reaches as much.
    """
    gains = {(each.cca, each.changes): each.gain for each in alternatives}
    joint = [
        each
        for each in here
        if each.gain
        >= max(gains.get((each.cca, ()), 0.0), gains.get((need.reference, each.changes), 0.0))
        + _MIN_JOINT_LOG
        and not any(part.is_as_good(each, need.min_gain) for part in parts)
    ]
    return [max(joint, key=lambda each: each.net_gain)] if joint else []


def _front(need: Need, alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Returns the congestion control to set, and the alternatives without a better one.

    Of those as good there is one: first that under the congestion control of the reference.
    """
    front: list[Alternative] = []
    in_order = sorted(
        alternatives,
        key=lambda each: (
            each.cca != need.reference,
            -each.net_gain,
            -each.other_gain,
            -each.next_net_gain,
            # Large gains have a bound.
            -need.signed_mean(each),
        ),
    )
    for each in in_order:
        has_better = any(
            other.is_as_good(each) and not each.is_as_good(other, need.min_gain)
            for other in alternatives
            # Whoever keeps the congestion control sees what its own settings reach.
            if each.cca != need.reference or other.cca == need.reference
            if each.condition or not other.condition
        )
        has_alike = any(other.is_as_good(each, need.min_gain) for other in front)
        if _is_alone(each, need.best_cca) or not (has_better or has_alike):
            front.append(each)
    return front


def recommended(need: Need, shown: Sequence[Alternative]) -> list[Alternative]:
    """Returns the alternative of each place with the largest gain less losses.

    Of the congestion controls alone that is the one to set, where one is, unless a remedy of their
    place is better. Of those as good it is the one with the best next metric, and then with the fewest
    changes. Of several values of a field that is the knee.
    """
    best = []
    for _, group in itertools.groupby(shown[1:], key=lambda each: each.places):
        here = list(group)
        usual = next((each for each in here if _is_alone(each, need.chosen)), None)
        candidates = [each for each in here if each.remedy is not None or need.chosen is None]
        if usual is not None:
            candidates = [
                each
                for each in candidates
                if need.net_gain(each, usual.cca) >= need.min_gain
                or each.failing < usual.failing
                or (each.is_as_good(usual, need.min_gain) and _is_next_better(each, usual))
            ] or [usual]
        candidates = with_fewest_failing(each for each in candidates if each.net_gain >= MIN_HELP_LOG)
        if candidates:
            largest = max(each.net_gain for each in candidates)
            alike = [each for each in candidates if largest - each.net_gain < need.min_gain]
            alike = [each for each in alike if not any(_is_next_better(other, each) for other in alike)]
            chosen = min(
                alike,
                key=lambda each: (
                    each.remedy is not None,
                    -each.other_gain,
                    len(each.changes),
                    -need.signed_mean(each),
                ),
            )
            knee = knee_of_values(need, chosen, [shown[0], *candidates])
            best.append(chosen if knee is None else knee.best)
    return best


def _is_next_better(one: Alternative, other: Alternative) -> bool:
    """Returns whether the next metric of one alternative is better, for its price."""
    return one.next_net_gain - other.next_net_gain >= MIN_HELP_LOG


def with_fewest_failing(alternatives: Iterable[Alternative]) -> list[Alternative]:
    """Returns the alternatives with which the fewest applications are unusable."""
    alternatives = list(alternatives)
    fewest = min((len(each.failing) for each in alternatives), default=0)
    return [each for each in alternatives if len(each.failing) == fewest]


def _paired(metric: str, first: Sequence[float], second: Sequence[float]) -> tuple[Estimate, int]:
    """Returns the paired difference of a metric's values, and the number of pairs."""
    count = min(len(first), len(second))
    return metric_gap(metric, first[:count], second[:count]), count


def _losses_among(changes: Iterable[MetricChange]) -> tuple[MetricChange, ...]:
    return tuple(each for each in changes if each.gain <= -MIN_HELP_LOG)


def _is_alone(alternative: Alternative, cca: str | None) -> bool:
    return alternative.remedy is None and alternative.cca == cca
