"""Choices: the congestion control to set for each need, or none where no difference matters."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.lines.settings_lines import linux_commands
from celltcp.comparison.metrics import GOODPUT, JAIN, SHARE, words_of
from celltcp.comparison.verdicts.equal_flows import joined_stakes
from celltcp.comparison.verdicts.harm import harm_text, harms_of, others_lose_more
from celltcp.results.statistics import Cost, Verdict, estimate, is_tie, paired_gap
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import has_several_flows, labels, ranked_mixes
from celltcp.scenarios.ccas import DEFAULT_CCA
from celltcp.scenarios.requirements import QOE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.verdicts.stakes import Stake

#: Minimum difference of delays that sets CCAs apart which are as good otherwise, as a share.
_MIN_LOWER_DELAY = 0.05
#: Minimum share of the best goodput that the CCA of the best balance has beside other flows.
_MIN_GOODPUT_SHARE = 0.5
#: Maximum loss of goodput by a CCA of those of which any will do, as a share.
_MAX_LOSS = 0.2
#: Amount of a cost by which applications of other flows fail.
_FAILURE_AMOUNT = "the failure of another application"
#: Texts of needs by requirement, the first one first.
NEED_TEXTS = {
    "balanced": "a balance of throughput and delay",
    "goodput": "throughput",
    "delay": "delay",
}


class Choice(NamedTuple):
    """Verdict on the best congestion control for a need."""

    need: str
    #: Metric by which they rank.
    metric: str
    verdict: Verdict
    #: Names of the flows that have the need; empty for needs of the network.
    flows: tuple[str, ...] = ()

    @property
    def whole_need(self) -> str:
        """The need, with what else decides among CCAs which are nearly as good."""
        cost = self.verdict.cost
        is_other = cost is not None and cost.instead is not None and cost.better_for
        return f"{self.need} and {cost.better_for}" if cost is not None and is_other else self.need


def choices_of(comparison: Comparison, by: Sequence[str] = ()) -> list[Choice]:
    """Returns the verdict for each need: first those of flows, then those by network metrics.

    Metrics that were asked for are all needs, as in `choices_by`, unless none has a value.
    """
    if len(comparison.ranked_ccas) < 2:
        return []
    if asked := choices_by(comparison, by):
        return asked
    choices = [
        Choice(joined.stake.question, joined.stake.metric, joined.stake.verdict, joined.flows)
        for joined in (joined_stakes(comparison) if comparison.applications else ())
    ]
    # Flows for which any congestion control will do decide nothing for others.
    choices.sort(key=lambda choice: choice.verdict.are_all_tied)
    verdicts = comparison.network_verdicts
    first = ["goodput"] if _leaves_path(comparison, verdicts) else []
    choices += [
        Choice(NEED_TEXTS[name], comparison.requirements[name], verdicts[name])
        for name in dict.fromkeys([*first, *NEED_TEXTS])
        if name in verdicts
    ]
    return [
        _without_failures(comparison, choice) for choice in choices if choice.verdict.leader is not None
    ]


def _without_failures(comparison: Comparison, choice: Choice) -> Choice:
    """Returns a choice with another CCA to set if applications of other flows fail with the best one.

    It is the best one with which they work, and which loses little itself.
    """
    chosen = cca_to_set(comparison, choice)
    if chosen is None or not choice.flows:
        return choice
    failing = [each for each in harms_of(comparison, chosen, choice.flows) if each.is_failure]
    stakes = [each for each in comparison.stakes if each.flow in choice.flows[:1]]
    if not failing or not stakes:
        return choice
    (stake,) = stakes
    others = [
        name
        for name in stake.values
        if not any(each.is_failure for each in harms_of(comparison, name, choice.flows))
        and _share_lost(stake, name, chosen) <= _MAX_LOSS
    ]
    if not others:
        return choice
    other = max(others, key=stake.signed_mean)
    names = labels(comparison.ccas)
    words = stake.words
    better, worse = (words.own_text(mean) for mean in stake.means(chosen, other))
    has_text = "is as good" if stake.is_tied(chosen, other) else f"has {better} instead of {worse}"
    text = f"{names[chosen]} {has_text}, {harm_text(failing)}"
    short = f"{' and '.join(each.flow for each in failing)} fails"
    cost = Cost(short, harm_text(failing), _FAILURE_AMOUNT, other, text, better_for="")
    return choice._replace(verdict=replace(choice.verdict, cost=cost))


def _share_lost(stake: Stake, cca: str, best: str) -> float:
    """Returns what a flow loses by a CCA in place of a better one, as a share of the larger value."""
    mean, best_mean = stake.means(cca, best)
    larger = max(abs(mean), abs(best_mean))
    if stake.is_void(cca) or cca in stake.bounds:
        return math.inf
    return max(stake.signed_mean(best) - stake.signed_mean(cca), 0.0) / larger if larger else 0.0


def choices_by(comparison: Comparison, by: Iterable[str]) -> list[Choice]:
    """Returns the verdicts by metrics that were asked for, `METRIC` or `METRIC:FLOW`.

    None of shares of the path, which all flows have together, and of metrics without a value. A single
    CCA is the best.
    """
    bests = map(comparison.best_by, by)
    return [
        Choice(f"{flow} ({words_of(metric).name})", metric, verdict, (flow,))
        for each in bests
        for metric, flow in [each.chosen]
        for verdict in [each.verdict if len(comparison.ccas) > 1 else Verdict(comparison.ccas[0], ())]
        if metric not in (JAIN, SHARE) and verdict.leader is not None
    ]


class TieBreak(NamedTuple):
    """CCA to set of those that are as good for a need, and what sets it apart from the others."""

    #: None where nothing that matters sets the CCAs apart.
    cca: str | None
    #: Text that follows the names of the others; empty if the leader needs no further reason.
    reason: str = ""


def cca_to_set(comparison: Comparison, choice: Choice) -> str | None:
    """Returns the best CCA, or one nearly as good with a far lower delay.

    None if the best one is undecided, or if no difference to the others matters.
    """
    verdict = choice.verdict
    if verdict.cost is not None and verdict.cost.instead is not None and verdict.best is not None:
        return verdict.cost.instead
    return tie_break(comparison, choice).cca


def tie_break(comparison: Comparison, choice: Choice) -> TieBreak:
    """Returns which of the CCAs that are as good for a need is to be set.

    First, the metrics of the other flows decide, then the delay of packets. That delay is nothing to
    the viewer of a video, whose buffer hides it.
    """
    verdict = choice.verdict
    chosen = verdict.best
    if chosen is None:
        return TieBreak(None)
    others = [stake for stake in comparison.stakes if stake.flow not in choice.flows]
    for other in (*verdict.tied, *(each.name for each in verdict.dearer)):
        if _gains(others, other, chosen) and not _gains(others, chosen, other):
            chosen = other
    # Of those that others gain by, the one with the best mean.
    for stake in _gains_by(others, chosen, as_good(verdict, chosen)):
        best = max((chosen, *as_good(verdict, chosen)), key=stake.signed_mean)
        if not _gains(others, chosen, best):
            chosen = best
    reason = ""
    gains = [
        gain
        for tied in as_good(verdict, chosen)
        for gain in _gains(others, chosen, tied)
        if all(gain.signed_mean(chosen) >= gain.signed_mean(each) for each in as_good(verdict, chosen))
    ]
    if gains:
        words = words_of(gains[0].metric)
        superlative = "lowest" if gains[0].is_less_better else "highest"
        value_text = words.value_text(estimate(gains[0].values[chosen]).mean)
        reason = f"of these it has the {superlative} {words.name} of {gains[0].flow}, {value_text}"
    if choice.metric == QOE:
        return TieBreak(chosen if reason or not verdict.are_all_tied else None, reason)
    for other in verdict.tied:
        if _has_lower_delay(comparison, other, chosen) and not _gains(others, chosen, other):
            chosen = other
            reason = f"of these it has the lowest {words_of(comparison.delay_metric).name}"
    has_line = [each for each in (chosen, *as_good(verdict, chosen)) if linux_commands(each)]
    if has_line and chosen not in has_line and not _gains(others, chosen, has_line[0]):
        chosen, reason = has_line[0], "of these Linux has it"
    if not reason and _is_default_as_good(comparison, verdict, chosen, others):
        chosen, reason = DEFAULT_CCA, "the default"
    if not reason and (plain := _without_middlebox(chosen, as_good(verdict, chosen))):
        chosen, reason = plain, "of these it needs no middlebox"
    is_alike = verdict.are_all_tied and not reason
    if is_alike and any(
        _has_lower_delay(comparison, chosen, other) for other in as_good(verdict, chosen)
    ):
        is_alike = False
    return TieBreak(None if is_alike else chosen, reason)


def _without_middlebox(cca: str, tied: Iterable[str]) -> str | None:
    """Returns one of those tied with a CCA that needs no middlebox, where it has one; or None.

    First is the same CCA.
    """
    name, _, boxes = cca.partition("@")
    if boxes in ("", "none"):
        return None
    plain = [each for each in tied if each.partition("@")[2] in ("", "none")]
    return min(plain, key=lambda each: each.partition("@")[0] != name, default=None)


def _is_default_as_good(
    comparison: Comparison, verdict: Verdict, chosen: str, others: list[Stake]
) -> bool:
    """Returns whether some CCAs are worse, but the default is as good as another that is chosen."""
    return (
        not verdict.are_all_tied
        and DEFAULT_CCA in as_good(verdict, chosen)
        and not _gains(others, chosen, DEFAULT_CCA)
        and not _has_lower_delay(comparison, chosen, DEFAULT_CCA)
    )


def _gains(stakes: list[Stake], cca: str, instead_of: str) -> list[Stake]:
    """Returns the stakes that gain by a CCA in place of another one."""
    return [stake for stake in stakes if stake.is_gain(cca, instead_of)]


def _gains_by(stakes: list[Stake], cca: str, others: list[str]) -> list[Stake]:
    """Returns the stakes that gain by a CCA in place of any other one."""
    return [stake for stake in stakes if any(stake.is_gain(cca, other) for other in others)]


def _has_lower_delay(comparison: Comparison, cca: str, other: str) -> bool:
    """Returns whether a CCA has a significantly lower delay than another, by an amount that matters."""
    pair = [comparison.values(each, comparison.delay_metric) for each in (cca, other)]
    gap = paired_gap(*pair)
    larger_mean = max(estimate(values).mean for values in pair)
    is_far_lower = gap.mean < -_MIN_LOWER_DELAY * larger_mean
    return is_far_lower and not gap.includes_zero and not is_tie(gap, larger_mean)


def _leaves_path(comparison: Comparison, verdicts: Mapping[str, Verdict]) -> bool:
    """Returns whether the CCA of the best balance leaves most of its goodput to flows beside it.

    Performance metrics do not count what other flows take of the path.
    """
    leaders = [verdicts[name].leader for name in ("balanced", "goodput") if name in verdicts]
    if len(leaders) < 2 or None in leaders or not comparison.competing_flows:
        return False
    balanced, fastest = (estimate(comparison.values(str(each), GOODPUT)).mean for each in leaders)
    return balanced < _MIN_GOODPUT_SHARE * fastest


def as_good(verdict: Verdict, cca: str) -> list[str]:
    """Returns the leader and the CCAs tied with it, without the CCA to set.

    None are as good as a CCA that is set for its delay in place of the leader.
    """
    if instead_text(verdict, cca):
        return []
    return [each for each in (str(verdict.leader), *verdict.tied) if each != cca]


def instead_text(verdict: Verdict, cca: str) -> str:
    """Returns what the leader has over the CCA set in its place, and its price; empty for others."""
    cost = verdict.cost
    return cost.instead_text if cost is not None and cca == cost.instead else ""


def on_flow(comparison: Comparison) -> str:
    """Returns text on the flow under test, or that all flows have the CCA; empty for the only flow."""
    if any(map(has_several_flows, comparison.ranked_ccas)):
        return " in all flows"
    flows = FlowUnderTest.each(comparison.results.about)
    return f" on {comparison.tested.name}" if len(flows) > 1 else ""


def needs_of_any(comparison: Comparison, by: Sequence[str] = ()) -> list[str]:
    """Returns the needs of flows, or else the first need, for which any congestion control will do."""
    choices = choices_of(comparison, by)
    return [
        choice.need
        for choice in choices[: max(_count_of_flows(choices), 1)]
        if will_any_do(comparison, choice)
    ]


def will_any_do(comparison: Comparison, choice: Choice) -> bool:
    """Returns whether no difference between the CCAs matters, to the need or to other flows."""
    is_any = choice.verdict.are_all_tied and cca_to_set(comparison, choice) is None
    return is_any and not _differs_otherwise(comparison, choice)


def _differs_otherwise(comparison: Comparison, choice: Choice) -> bool:
    """Returns whether CCAs that are as good for a need differ for another flow, or in goodput."""
    others = [stake for stake in comparison.stakes if stake.flow not in choice.flows]
    ranked = choice.verdict.ranked
    if any(_gains(others, one, other) for one in ranked for other in ranked):
        return True
    rates = {cca: comparison.values(cca, GOODPUT) for cca in ranked}
    means = {cca: estimate(values).mean for cca, values in rates.items()}
    if not comparison.is_competing or not all(mean > 0 for mean in means.values()):
        return False
    lowest, highest = (extreme(means, key=means.__getitem__) for extreme in (min, max))
    is_far = means[lowest] < (1 - _MAX_LOSS) * means[highest]
    return is_far and not paired_gap(rates[highest], rates[lowest]).includes_zero


def ccas_to_set(comparison: Comparison, by: Sequence[str] = ()) -> dict[str, list[str]]:
    """Returns the congestion controls to set, each with the needs that it is best for.

    They are those for the needs of all flows with a ranking metric, or else for the first need; or for
    metrics that were asked for, as in `choices_of`. None is for a need that gains less by it than
    others lose, against the one set first, or else that of the scenario.
    """
    needs_of: dict[str, list[tuple[str, list[str]]]] = {}
    choices = choices_of(comparison, by)
    # The CCA of an undecided flow needs more runs; the needs of the network are others.
    is_undecided = any(choice.flows and choice.verdict.undecided for choice in choices)
    is_enough = is_undecided or bool(needs_of_any(comparison, by))
    for index, choice in enumerate(choices):
        if (needs_of or is_enough) and index >= _count_of_flows(choices):
            break
        cca = cca_to_set(comparison, choice)
        # A flow for which any will do does not set the CCA of one that is undecided.
        is_of_any = bool(choice.flows) and choice.verdict.are_all_tied and not needs_of
        if cca is None or (is_of_any and is_undecided):
            continue
        need, verdict = choice.whole_need, choice.verdict
        # A CCA that is set already is preferred to another one that is as good.
        candidates = (verdict.leader, *verdict.tied)
        chosen = next((each for each in needs_of if each in candidates), cca)
        if is_refused(comparison, choice, chosen, next(iter(needs_of), None)):
            continue
        tied = as_good(verdict, chosen)
        names = ", ".join(labels(comparison.ccas)[each] for each in tied)
        note = instead_text(verdict, chosen)
        if tied and not note:
            reason = tie_break(comparison, choice).reason if chosen == cca else ""
            note = f"{names} as good{f'; {reason}' if reason else ''}"
        notes = [note] if note else []
        if chosen in candidates:
            notes += verdict.dearer_texts(labels(comparison.ccas))
        if verdict.cost is not None and not notes and chosen == verdict.leader:
            notes = [f"it costs {verdict.cost.text}"]
        harms = harms_of(comparison, chosen, choice.flows) if choice.flows else []
        needs_of.setdefault(chosen, []).append((need, [*notes, harm_text(harms)]))
    return {cca: needs_with_notes(needs) for cca, needs in needs_of.items()}


def is_refused(comparison: Comparison, choice: Choice, cca: str, instead_of: str | None = None) -> bool:
    """Returns whether a CCA is not set for the need of a flow, as other flows lose more by it.

    `instead_of` is the CCA that is set for another need; by default that of the scenario.
    """
    first = comparison.usual_cca if instead_of is None else instead_of
    is_other = bool(choice.flows) and cca != first and first in comparison.ranked_ccas
    return is_other and others_lose_more(comparison, cca, first, choice.flows)


def cca_for_need(comparison: Comparison, choice: Choice) -> str | None:
    """Returns the CCA to set for a need, or that of the scenario where others lose more; or None."""
    cca = cca_to_set(comparison, choice)
    is_kept = cca is not None and is_refused(comparison, choice, cca)
    return comparison.usual_cca if is_kept else cca


def setting_text(comparison: Comparison, choice: Choice) -> str:
    """Returns which CCA is set for a need in place of the leader, or why none is; or empty."""
    cca, names = cca_to_set(comparison, choice), labels(comparison.ccas)
    if cca is None:
        return ""
    if is_refused(comparison, choice, cca):
        harm = harm_text(harms_of(comparison, cca, choice.flows)) or "at a loss of others"
        return f"{names[cca]} is not to be set for it, as that is {harm}"
    if cca not in choice.verdict.tied or instead_text(choice.verdict, cca):
        return ""
    reason = tie_break(comparison, choice).reason
    return f"set {names[cca]}{f': {reason}' if reason else ''}"


def needs_with_notes(needs: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Returns the needs of a CCA, each with its notes; those with the same are one."""
    by_note: dict[str, list[str]] = {}
    for need, notes in needs:
        by_note.setdefault("; ".join(filter(None, notes)), []).append(need)
    return [f"{' and '.join(names)}{f' ({note})' if note else ''}" for note, names in by_note.items()]


def linux_ccas_to_set(comparison: Comparison, by: Sequence[str] = ()) -> dict[str, list[str]]:
    """Returns the CCAs to set of those that Linux has, as `ccas_to_set`.

    It is empty where `ccas_to_set` needs none: Linux has what is best, or any CCA will do.
    """
    best, ccas = ccas_to_set(comparison, by), ranked_mixes(comparison.ccas)
    available = [cca for cca in ccas if linux_commands(cca)]
    is_set = bool(best) and all(map(linux_commands, best))
    if is_set or not 1 < len(available) < len(ccas) or needs_of_any(comparison, by):
        return {}
    needs_of = ccas_to_set(comparison.only(available), by)
    return {
        cca: [*needs, f"{last} of the CCAs that Linux has"]
        for cca, (*needs, last) in needs_of.items()
        if cca not in best
    }


def _count_of_flows(choices: list[Choice]) -> int:
    """Returns the number of choices for needs of flows, which come first."""
    return sum(bool(choice.flows) for choice in choices)
