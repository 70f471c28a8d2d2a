"""Best of all that was compared or tried for the first need, so that the advice has one conclusion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.choices import cca_to_set, choices_of
from celltcp.comparison.explanation.trials import MIN_HELP_LOG, MetricChange, values_of
from celltcp.comparison.linux_lines import cca_line
from celltcp.comparison.metrics import GOODPUT, words_of
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.choices import Choice
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.outcome import BestTriedRow
    from celltcp.comparison.explanation.proposals import ProposedRemedy
    from celltcp.comparison.explanation.trials import Trials

#: Ends of the fields that change the capacity, by which performance metrics weigh goodput.
_CAPACITY_FIELDS = (".rate", ".down", ".up")
#: Beginnings of the fields of networks, which users may not set, and of hops, which may be theirs.
_NETWORK_FIELDS, _HOP_FIELDS = ("path.", "radio."), "path.wired."
#: Minimum logarithm of the ratio of performance metrics: within 1 % they are ties.
_MIN_PERFORMANCE_LOG = 0.01


class _Candidate(NamedTuple):
    """A congestion control with a remedy, the ranking metric of the need per run, and its costs."""

    cca: str
    remedy: ProposedRemedy
    after: Comparison
    values: list[float]
    #: Changes of the goodput or ranking metric of other flows that lose by it.
    costs: list[MetricChange]

    @property
    def is_of_network(self) -> bool:
        """Whether it changes the network, other than hops of their own."""
        return any(
            change.startswith(_NETWORK_FIELDS) and not change.startswith(_HOP_FIELDS)
            for change in self.remedy.remedy.changes
        )

    @property
    def changes_text(self) -> str:
        """The changes of fields as text, with a space before it; empty without any."""
        changes = self.remedy.remedy.changes
        return f" with {' and '.join(changes)}" if changes else ""

    @property
    def cost_text(self) -> str:
        """The costs as text, with a space before it; empty without any."""
        texts = [each.text(names_flow=bool(each.flow), has_range=False) for each in self.costs]
        others = len(self.remedy.other_values)
        balance = f", one of {others + 1} values above" if others else ""
        return f" at the cost of {', '.join(texts)}{balance}" if texts else ""


class BestTried(NamedTuple):
    """The best congestion control with a remedy for a need, beside the one to set without it."""

    need: str
    metric: str
    #: Congestion control of the best, and its remedy.
    cca: str
    remedy: ProposedRemedy
    #: Whether the congestion control to set is another, and is worse with the remedy, too.
    replaces_setting: bool
    text: str

    @property
    def lines(self) -> list[str]:
        """Lines for Linux and other systems, with that of the CCA where the one to set is another."""
        cca = cca_line(self.cca, self.remedy.scenario) if self.replaces_setting else ""
        return list(dict.fromkeys(filter(None, [*self.remedy.lines, cca])))

    def to_json(self) -> BestTriedRow:
        """Returns the conclusion as JSON."""
        return {
            "need": self.need,
            "metric": self.metric,
            "cca": self.cca,
            "options": self.remedy.options,
            "text": self.text,
        }


def best_tried(
    trials: Trials, comparison: Comparison, remedies: Sequence[ProposedRemedy]
) -> BestTried | None:
    """Returns the best of all remedies that were tried for the first need.

    None if none of them beats the congestion control to set, or if there is only one. Where that was
    not tried with the best remedy, it is, and is the best if that is as good.
    """
    need = _first_need(comparison)
    if need is None:
        return None
    candidates = [each for remedy in remedies for each in need.candidates(remedy)]
    best = need.best_of(candidates)
    if best is None:
        return None
    worse: _Candidate | None = None
    if need.chosen not in (None, best.cca) and best.remedy.remedy.changes:
        after = trials.after(best.remedy._replace(ccas=(need.reference,)))
        own = need.candidates(best.remedy._replace(ccas=(need.reference,), after=after))
        if own and need.gain(own[0].values, best.values) < need.min_gain:
            best = own[0]
        else:
            worse = next(iter(own), None)
    return BestTried(
        need.name,
        need.metric,
        best.cca,
        best.remedy,
        worse is not None,
        need.text(best, worse, candidates),
    )


def with_new_leaders(
    comparison: Comparison, remedies: Sequence[ProposedRemedy]
) -> list[ProposedRemedy]:
    """Returns remedies with the CCAs as leading that beat the one to set by their trials."""
    need = _first_need(comparison)
    if need is None:
        return list(remedies)
    return [each._replace(leading=each.leading | need.new_leaders(each)) for each in remedies]


def _first_need(comparison: Comparison) -> _Need | None:
    """Returns the first need of a comparison; None with a single CCA or CCA mixes."""
    choice = next(iter(choices_of(comparison)), None)
    if choice is None or any(map(has_several_flows, comparison.ccas)):
        return None
    return _Need(comparison, choice, cca_to_set(comparison, choice))


class _Need:
    """The need of a comparison, the congestion control to set for it, and what a candidate gains."""

    def __init__(self, comparison: Comparison, choice: Choice, chosen: str | None) -> None:
        self._comparison, self._choice = comparison, choice
        #: Ranking metric.
        self.metric = choice.metric
        #: Name and metric of the need, without what holds for the compared CCAs only.
        self.name = re.sub(r"; [^;)]*\)$", ")", choice.need)
        #: Congestion control to set; None where any will do, or the best one is undecided.
        self.chosen = chosen
        #: Congestion control to set, or the leader where none is.
        self.reference = chosen or str(choice.verdict.leader)

    @property
    def min_gain(self) -> float:
        """Minimum logarithm of the ratio of metrics that sets two candidates apart."""
        return MIN_HELP_LOG if self._choice.flows else _MIN_PERFORMANCE_LOG

    def candidates(self, remedy: ProposedRemedy) -> list[_Candidate]:
        """Returns a remedy under each CCA that it helped; none where its trial lacks the metric."""
        after = remedy.after
        fields = {change.partition("=")[0] for change in remedy.remedy.changes}
        is_comparable = self._choice.flows or not any(map(_changes_capacity, fields))
        if after is None or not is_comparable:
            return []
        return [
            _Candidate(cca, remedy, after, values, self._costs(after, cca))
            for cca in dict.fromkeys(remedy.replacement_ccas)
            if cca in after.ccas and (values := self._values(after, cca))
        ]

    def best_of(self, candidates: Sequence[_Candidate]) -> _Candidate | None:
        """Returns the best by the metric less what other flows lose, as logarithms.

        Of those alike by that it is the one of the congestion control to set, or else the first, which
        has the best sum of gains. None if none is better than that congestion control without it.
        """
        before = self._values(self._comparison, self.reference)
        helpful = [each for each in candidates if self.gain(before, each.values) >= MIN_HELP_LOG]
        if not helpful:
            return None
        nets = [self._net_gain(before, each) for each in helpful]
        alike = [
            each
            for each, net in zip(helpful, nets, strict=True)
            if max(nets) - net < self.min_gain and each.changes_text
        ] or [helpful[nets.index(max(nets))]]
        return next((each for each in alike if each.cca == self.reference), alike[0])

    def new_leaders(self, remedy: ProposedRemedy) -> set[str]:
        """Returns the CCAs that are better with a remedy than the one to set is without it."""
        before = self._values(self._comparison, self.reference)
        better = {
            each.cca for each in self.candidates(remedy) if self._net_gain(before, each) >= MIN_HELP_LOG
        }
        pairs = zip(remedy.ccas, remedy.replacement_ccas, strict=True)
        return {cca for cca, replacement in pairs if replacement in better}

    def gain(self, before: list[float], after: list[float]) -> float:
        """Returns the logarithm of the ratio by which the metric improved, on the same seeds."""
        count = min(len(before), len(after))
        return MetricChange("", self.metric, before[:count], after[:count]).gain

    def _net_gain(self, before: list[float], candidate: _Candidate) -> float:
        """Returns the gain of a candidate less what other flows lose, as logarithms."""
        return self.gain(before, candidate.values) + sum(cost.gain for cost in candidate.costs)

    def text(self, best: _Candidate, worse: _Candidate | None, candidates: Sequence[_Candidate]) -> str:
        """Returns the conclusion in sentences.

        Args:
            best: the best candidate.
            worse: the congestion control to set with the remedy of the best, if it is worse.
            candidates: all of them, of which the best that no network changes is named, too.
        """
        own = None
        if best.is_of_network:
            own = self.best_of([each for each in candidates if not each.is_of_network])
        shown = [each for each in (best, worse, own) if each is not None]
        texts = self._texts([(each.after, each.cca) for each in shown], len(best.values))
        names = labels([*self._comparison.ccas, *(each.cca for each in (*shown, *candidates))])
        alike = [
            names[each.cca]
            for each in candidates
            if each.remedy.remedy == best.remedy.remedy
            and each.cca != best.cca
            and abs(self.gain(each.values, best.values)) < self.min_gain
        ]
        alike_text = f" ({', '.join(alike)} alike)" if alike else ""
        it = " without it" if best.changes_text else ""
        with_it = f", {texts[1]} with it" if worse is not None else ""
        sentences = [
            f"Best of all that was tried for {self.name}: {texts[0]} by {names[best.cca]}{alike_text}"
            f"{best.changes_text}{best.cost_text}.",
            f"{names[self.reference]} has {texts[-1]}{it}{with_it}.",
        ]
        if own is not None:
            sentences.append(
                f"Where that is not yours to set: {texts[-2]} by {names[own.cca]}{own.changes_text}"
                f"{own.cost_text}."
            )
        return " ".join(sentences)

    def _costs(self, after: Comparison, cca: str) -> list[MetricChange]:
        """Returns what other flows lose, against the CCA to set without a remedy.

        That is the goodput of bulk flows, and the ranking metric of others.
        """
        changes = []
        flows = FlowUnderTest.each_with_workload(self._comparison.results.about)
        for flow, workload in flows if self._choice.flows else ():
            if is_endless(workload):
                old = self._comparison.values_of(flow, self.reference, GOODPUT)
                new = after.values_of(flow, cca, GOODPUT)
                name = flow.name if len(flows) > 1 else ""
                changes.append(MetricChange(name, GOODPUT, list(old[: len(new)]), list(new)))
        applications = {each.flow: each for each in after.applications}
        for application in self._comparison.applications if self._choice.flows else ():
            metric, name = application.ranking.metric, application.flow
            metrics = applications[name].metrics.get(cca, {}) if name in applications else {}
            if name not in self._choice.flows and (values := metrics.get(metric)):
                old = application.values(metric)[self.reference][: len(values)]
                changes.append(MetricChange(name, metric, list(old), list(values)))
        return [each for each in changes if each.gain <= -MIN_HELP_LOG]

    def _values(self, comparison: Comparison, cca: str) -> list[float]:
        """Returns the ranking metric under a congestion control, per run; empty without it."""
        if not self._choice.flows:
            return list(comparison.values(cca, self.metric))
        applications = {each.flow: each for each in comparison.applications}
        application = applications.get(self._choice.flows[0])
        if application is None:
            return []
        metrics, metric = application.metrics[cca], self.metric
        return values_of(metric, metrics, is_divided=application.is_divided) or []

    def _texts(self, ways: Sequence[tuple[Comparison, str]], count: int) -> list[str]:
        """Returns the metric in comparisons, in one unit; goodput and delay for the network.

        The last one is of the congestion control to set without a remedy.

        Args:
            ways: comparisons, each with a congestion control.
            count: number of runs, the first ones of each.
        """
        ways = [*ways, (self._comparison, self.reference)]
        is_network = not self._choice.flows
        names = [GOODPUT, self._comparison.delay_metric] if is_network else [self.metric]
        columns = []
        for name in names:
            means = [
                estimate(
                    (list(each.values(cca, name)) if is_network else self._values(each, cca))[:count]
                ).mean
                for each, cca in ways
            ]
            words = words_of(name).suited(*means)
            is_share = name.endswith("_share")
            columns.append([f"{100 * x:.3g} %" if is_share else words.own_text(x) for x in means])
        return [" and ".join(row) for row in zip(*columns, strict=True)]


def _changes_capacity(field: str) -> bool:
    """Returns whether a field changes the capacity."""
    return field.endswith(_CAPACITY_FIELDS)
