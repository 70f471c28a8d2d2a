"""Best of all that was compared or tried for the first need, so that the advice has one conclusion."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.choices import cca_to_set, choices_of
from celltcp.comparison.explanation.trials import MIN_HELP_LOG, MetricChange
from celltcp.comparison.metrics import GOODPUT, words_of
from celltcp.results.statistics import estimate
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
    """A congestion control with a remedy, and the ranking metric of the need, per run."""

    cca: str
    remedy: ProposedRemedy
    after: Comparison
    values: list[float]

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
    choice = next(iter(choices_of(comparison)), None)
    if choice is None or any(map(has_several_flows, comparison.ccas)):
        return None
    chosen = cca_to_set(comparison, choice)
    candidates = _candidates(remedies, choice, chosen)
    best = _first_best(choice, candidates)
    if best is None:
        return None
    reference = chosen or best.cca.partition("@")[0]
    if reference not in comparison.ccas:
        reference = str(choice.verdict.leader)
    before = _values(comparison, choice, reference)
    if _gain(choice, before, best.values) < MIN_HELP_LOG:
        return None
    worse: Comparison | None = None
    if chosen not in (None, best.cca) and best.remedy.remedy.changes:
        after = trials.after(best.remedy._replace(ccas=(reference,)))
        values = [] if after is None else _values(after, choice, reference)
        if after is not None and _gain(choice, values, best.values) < _min_gain(choice):
            best = _Candidate(reference, best.remedy, after, values)
        else:
            worse = after
    own = None
    if best.is_of_network:
        own = _first_best(choice, [each for each in candidates if not each.is_of_network])
        own = own if own is not None and _gain(choice, before, own.values) >= MIN_HELP_LOG else None
    ways = [(best.after, best.cca), (comparison, reference)]
    ways += [(worse, reference)] if worse is not None else []
    ways += [(own.after, own.cca)] if own is not None else []
    texts = _texts(choice, ways, len(best.values))
    names = labels([*comparison.ccas, best.cca, *([own.cca] if own else [])])
    it = " without it" if best.changes_text else ""
    text = (
        f"Best of all that was tried for {choice.need}: {texts[0]} by {names[best.cca]}"
        f"{best.changes_text}. {names[reference]} has {texts[1]}{it}"
        f"{f', {texts[2]} with it' if worse else ''}."
    )
    if own is not None:
        text += f" Where that is not yours to set: {texts[-1]} by {names[own.cca]}{own.changes_text}."
    return BestTried(choice.need, choice.metric, best.cca, best.remedy, worse is not None, text)


def _first_best(choice: Choice, candidates: Sequence[_Candidate]) -> _Candidate | None:
    """Returns the best by the metric of a need; None without any.

    Of those that nobody can tell apart by it, the first has the best sum of gains.
    """
    best: _Candidate | None = None
    for candidate in candidates:
        if best is None or _gain(choice, best.values, candidate.values) >= _min_gain(choice):
            best = candidate
    return best


def _min_gain(choice: Choice) -> float:
    """Returns the minimum logarithm of the ratio of metrics that sets two candidates apart."""
    return MIN_HELP_LOG if choice.flows else _MIN_PERFORMANCE_LOG


def _candidates(
    remedies: Sequence[ProposedRemedy], choice: Choice, chosen: str | None
) -> list[_Candidate]:
    """Returns remedies with trials whose results have the metric, each under every CCA it helped.

    The one to set, `chosen`, is before others.
    """
    candidates = []
    for remedy in remedies:
        after = remedy.after
        changed = {change.partition("=")[0] for change in remedy.remedy.changes}
        is_comparable = choice.flows or not any(field.endswith(_CAPACITY_FIELDS) for field in changed)
        if after is None or not is_comparable:
            continue
        for cca in sorted(dict.fromkeys(remedy.replacement_ccas), key=lambda each: each != chosen):
            if cca in after.ccas and (values := _values(after, choice, cca)):
                candidates.append(_Candidate(cca, remedy, after, values))
    return candidates


def _values(comparison: Comparison, choice: Choice, cca: str) -> list[float]:
    """Returns the ranking metric of a need under a congestion control, per run; empty without it."""
    if not choice.flows:
        return list(comparison.values(cca, choice.metric))
    applications = {each.flow: each for each in comparison.applications}
    application = applications.get(choice.flows[0])
    return list(application.metrics[cca].get(choice.metric, [])) if application else []


def _gain(choice: Choice, before: list[float], after: list[float]) -> float:
    """Returns the logarithm of the ratio by which the metric improved; 0 for too little."""
    count = min(len(before), len(after))
    return MetricChange("", choice.metric, before[:count], after[:count]).gain


def _texts(choice: Choice, ways: Sequence[tuple[Comparison, str]], count: int) -> list[str]:
    """Returns the metric of a need in comparisons, in one unit; goodput and delay for the network.

    Args:
        choice: the need.
        ways: comparisons, each with a congestion control.
        count: number of runs, the first ones of each.
    """
    names = [choice.metric] if choice.flows else [GOODPUT, ways[0][0].delay_metric]
    means = [
        [
            estimate(
                (_values(each, choice, cca) if choice.flows else list(each.values(cca, name)))[:count]
            ).mean
            for each, cca in ways
        ]
        for name in names
    ]
    columns = [
        [f"{100 * mean:.3g} %" for mean in of_name]
        if name.endswith("_share")
        else [words_of(name).suited(*of_name).own_text(mean) for mean in of_name]
        for name, of_name in zip(names, means, strict=True)
    ]
    return [" and ".join(row) for row in zip(*columns, strict=True)]
