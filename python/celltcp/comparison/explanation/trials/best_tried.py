"""Best of all that was compared or tried for the first need, so that the advice has one conclusion."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.remedies.places import has_shaper, is_of_operator
from celltcp.comparison.explanation.trials.alternatives import (
    Alternative,
    Need,
    best_by_place,
    recommended,
    with_fewest_failing,
)
from celltcp.comparison.explanation.trials.alternatives_table import (
    AlternativesTable,
    need_texts,
)
from celltcp.comparison.explanation.trials.pairs import changes_for_tail, changes_together
from celltcp.comparison.explanation.trials.trial_metrics import MIN_HELP_LOG
from celltcp.comparison.explanation.trials.unbeaten import unbeaten
from celltcp.comparison.lines.linux_lines import BOTH_HOSTS
from celltcp.comparison.lines.queue_lines import BEHIND_MODEM
from celltcp.comparison.verdicts.harm import failing_under
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from celltcp.comparison.explanation.outcome import BestTriedRow
    from celltcp.comparison.explanation.trials.confirmation import Confirmation
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
    from celltcp.comparison.explanation.trials.trials import Trials


#: Condition of what nobody else sets, and of what a conclusion is the best, without and with that.
_OF_OPERATOR = "Only the operator of the network can set"
_TRIED, _OF_USER = "was tried", "a user of the network can set"


class BestTried(NamedTuple):
    """The best congestion control with a remedy for a need, beside the one to set without it."""

    need: str
    metric: str
    #: Congestion control of the best, and its remedy.
    cca: str
    remedy: ProposedRemedy
    text: str
    #: Lines that set it, each with its host.
    lines: list[str]
    #: Whether the operator of the network alone can set it.
    is_of_operator: bool = False

    def to_json(self) -> BestTriedRow:
        """Returns the conclusion as JSON."""
        return {
            "need": self.need,
            "metric": self.metric,
            "cca": self.cca,
            "options": self.remedy.options,
            "text": self.text,
        }


class Conclusion(NamedTuple):
    """The conclusion of an explanation: the best of all, and the alternatives at each place."""

    #: None if no remedy beats the congestion control to set.
    best: BestTried | None
    #: None without a remedy that helps.
    alternatives: AlternativesTable | None


def conclusion_of(
    trials: Trials,
    needs: Sequence[Need],
    remedies: Sequence[ProposedRemedy],
    confirmation: Confirmation,
) -> Conclusion:
    """Returns the conclusion for the first of the needs that a remedy helps, from all that were tried.

    If the runs show none of them to help by its ranking metric, but by its median or tail, it is for
    that. What leads by chance is left out.
    """
    tried = [each for each in remedies if each.after is not None]
    for need in itertools.chain.from_iterable(
        (*each.for_deadline(), *_shown_first(each, tried, confirmation)) for each in needs if tried
    ):
        alternatives = need.alone(tried[0].scenario)
        if not any(each.cca == need.reference for each in alternatives):
            continue
        with_remedy = [each for remedy in tried for each in need.with_remedy(remedy)]
        with_remedy += changes_together(trials, need, [*alternatives, *with_remedy])
        # What keeps another application usable under the congestion control to set helps, too.
        failing = next((each.failing for each in alternatives if _is_to_set(need, each)), frozenset())
        if any(
            each.gain >= need.min_gain and (each.net_gain > 0 or each.failing < failing)
            for each in with_remedy
        ):
            every = [*alternatives, *with_remedy]
            conclusion = _conclusion(trials, need, every, confirmation)
            if conclusion.alternatives is not None:
                return conclusion
    return Conclusion(None, None)


def _shown_first(need: Need, tried: Sequence[ProposedRemedy], confirmation: Confirmation) -> list[Need]:
    """Returns a need by its ranking metric, median and tail, first those that runs show to be helped.

    A few runs say little of the largest values of each.
    """

    def is_helped(by: Need) -> bool:
        return any(
            each.gain >= by.min_gain
            and each.net_gain > 0
            and by.is_shown_better(each)
            and confirmation.holds(by, each, by.best_cca)
            for remedy in tried
            for each in by.with_remedy(remedy)
        )

    if need.is_asked_for:
        return [need, *need.for_tail()]
    needs = [need, *need.for_median(), *need.for_tail()]
    return sorted(needs, key=lambda each: not is_helped(each))


def _conclusion(
    trials: Trials, need: Need, alternatives: list[Alternative], confirmation: Confirmation
) -> Conclusion:
    """Returns the conclusion for a need, from its alternatives.

    Where the congestion control to set was not tried with the best remedy, it is, and is the best if
    that is as good.
    """
    alternatives += _not_tried(trials, need, alternatives)
    for_tail = changes_for_tail(trials, need, alternatives)
    wanted = [*best_by_place(need, alternatives), *for_tail]
    wanted += _under_reference(need, wanted, alternatives)
    every = _confirmed(need, _repeated(trials, need, wanted, alternatives), confirmation)
    shown = best_by_place(need, every)
    changes = {each.changes for each in for_tail} - {each.changes for each in shown}
    shown += [each for each in every if each.changes in changes and each.cca == need.reference]
    shown += _under_reference(need, shown, every)
    # Alternatives of a place stand together.
    places = [each.places for each in shown]
    shown = [shown[0], *sorted(shown[1:], key=lambda each: places.index(each.places))]
    table, of_places, best = None, recommended(need, shown), _best_of(need, shown)
    if any(each.remedy is not None for each in shown):
        best_here = unbeaten(need, shown, of_places)
        stars = [each for each in best_here if confirmation.holds(need, each, need.reference)]
        if best is not None and all(best is not each for each in stars):
            stars.append(best)
        table = AlternativesTable(need, shown, stars)
    if best is None and table is not None:
        return Conclusion(_of_operator(need, table, confirmation), table)
    if best is None or best.remedy is None or table is None:
        return Conclusion(None, table)
    remedy = best.remedy
    worse = _under_chosen(need, best, every)
    is_needless = worse is not None and _effort(need, worse) > _effort(need, best)
    if worse is not None and not is_needless and best.net_gain - worse.net_gain < need.min_gain:
        best, remedy, worse = worse, worse.remedy or remedy, None
    other = _elsewhere(need, best, table, of_places)
    scope = _OF_USER if other is not None and other.condition == _OF_OPERATOR else _TRIED
    text = _text(need, best, worse, alternatives, table.run_count, scope)
    lines = table.lines_of(best)
    if other is not None:
        text += f" {other.condition}: {other.text}."
        lines += other.lines
    return Conclusion(BestTried(need.name, need.metric, best.cca, remedy, text, lines), table)


def _confirmed(
    need: Need, alternatives: list[Alternative], confirmation: Confirmation
) -> list[Alternative]:
    """Returns the alternatives without those that would be the best, but lead by chance."""
    while (best := _best_of(need, best_by_place(need, alternatives))) is not None:
        if confirmation.holds(need, best, need.best_cca):
            break
        alternatives = [
            each for each in alternatives if (each.cca, each.changes) != (best.cca, best.changes)
        ]
    return alternatives


def _under_reference(
    need: Need, shown: Sequence[Alternative], alternatives: Iterable[Alternative]
) -> list[Alternative]:
    """Returns recommended changes with another CCA under that of the reference, if these are not shown.

    They say what the CCA gains, and what the changes do.
    """
    others = {each.changes for each in recommended(need, shown) if each.cca != need.reference}
    others -= {(), *(each.changes for each in shown if each.cca == need.reference)}
    return [each for each in alternatives if each.cca == need.reference and each.changes in others]


def _of_operator(need: Need, table: AlternativesTable, confirmation: Confirmation) -> BestTried | None:
    """Returns what is better than the congestion control to set, and only the operator can set."""
    before = next((each for each in table.shown if _is_to_set(need, each)), None)
    better = [
        each
        for each in table.recommended
        if each.remedy is not None
        and _operator_count(each)
        and before is not None
        and each.failing <= before.failing
        and each.net_gain - before.net_gain >= need.min_gain
        and need.is_shown_better(each)
        and confirmation.holds(need, each, need.best_cca)
    ]
    fewest = min((_effort(need, each) for each in better), default=None)
    here = [each for each in better if _effort(need, each) == fewest]
    best = max(here, key=lambda each: each.net_gain, default=None)
    if best is None or best.remedy is None:
        return None
    text = _text(need, best, None, table.shown, table.run_count)
    text = f"{text} {_OF_OPERATOR} it."
    lines = table.lines_of(best)
    return BestTried(need.name, need.metric, best.cca, best.remedy, text, lines, is_of_operator=True)


def _is_to_set(need: Need, alternative: Alternative) -> bool:
    return alternative.remedy is None and alternative.cca == need.best_cca


class _Elsewhere(NamedTuple):
    """Alternative in place of the best one, where that cannot be set, or where others set more."""

    condition: str
    text: str
    #: Lines that set it; those of an operator's are with its row.
    lines: list[str]


def _elsewhere(
    need: Need, best: Alternative, table: AlternativesTable, of_places: Iterable[Alternative]
) -> _Elsewhere | None:
    """Returns the shaper before a queue that may be a modem's, or the better setting of an operator.

    `of_places` has the best alternative of each place.
    """
    is_queue = any(each.endswith("queue") for each in best.places)
    for each in of_places:
        of_operator = _operator_count(each) > _operator_count(best)
        is_better = of_operator and each.net_gain - best.net_gain >= need.min_gain
        if not is_better and not (is_queue and has_shaper(each.changes)):
            continue
        name = table.name_of(each)
        text = need_texts(need, [each], table.run_count)[0]
        text = f"{text} by {name}{each.changes_text} ({', '.join(each.places)}){each.losses_text}"
        if of_operator:
            return _Elsewhere(_OF_OPERATOR, text, [])
        return _Elsewhere(BEHIND_MODEM.capitalize(), text, table.lines_of(each))
    return None


def _under_chosen(
    need: Need, best: Alternative, alternatives: Sequence[Alternative]
) -> Alternative | None:
    """Returns the changes of the best alternative with the congestion control to set; None if alike."""
    same = _with_changes_of(best, alternatives) if best.changes else []
    return next((each for each in same if each.cca == need.chosen != best.cca), None)


def _repeated(
    trials: Trials, need: Need, shown: Sequence[Alternative], alternatives: Sequence[Alternative]
) -> list[Alternative]:
    """Returns the alternatives with more runs than in their trials, where these are cheap.

    They are those shown, and the changes of the best with the congestion control to set.
    """
    best = _best_of(need, shown)
    chosen = None if best is None else _under_chosen(need, best, alternatives)
    is_new = chosen is not None and all(chosen is not each for each in shown)
    wanted = [*shown, *([chosen] if chosen is not None and is_new else [])]
    with_remedy = [(each, each.remedy) for each in wanted if each.remedy is not None]
    proposed = [remedy.under(each.cca) for each, remedy in with_remedy]
    repeated = trials.repeated(proposed, min((each.run_count for each in proposed), default=0))
    if not repeated:
        return wanted
    # Some had more runs than the budget has for all.
    most = [max(pair, key=lambda each: each.run_count) for pair in zip(repeated, proposed, strict=True)]
    alone = need.alone(most[0].scenario)
    return [*alone, *(new for each in most for new in need.with_remedy(each))]


def with_new_leaders(needs: Sequence[Need], remedies: Sequence[ProposedRemedy]) -> list[ProposedRemedy]:
    """Returns remedies with the CCAs as leading that beat the one to set for the first need."""
    if not needs:
        return list(remedies)
    need = needs[0]
    result = []
    for remedy in remedies:
        better = {
            each.cca
            for each in need.with_remedy(remedy)
            if need.net_gain(each, need.best_cca) >= MIN_HELP_LOG
        }
        pairs = zip(remedy.ccas, remedy.replacement_ccas, strict=True)
        leaders = {cca for cca, replacement in pairs if replacement in better}
        result.append(remedy._replace(leading=remedy.leading | leaders))
    return result


def _not_tried(trials: Trials, need: Need, alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Returns changes to be shown under the CCAs of the reference and to set, if not tried with those.

    The cause that a change is for may be that of another one alone, but each has its figures.
    """
    shown = best_by_place(need, alternatives)
    best = _best_of(need, alternatives)
    tried = {(each.cca, each.changes) for each in alternatives}
    wanted = [(need.reference, each) for each in recommended(need, shown)]
    if need.chosen is not None:
        wanted += [(need.chosen, each) for each in ([best] if best is not None else [])]
        wanted += [(need.chosen, each) for _, each in wanted]
    found = []
    for cca, each in wanted:
        if each.remedy is not None and each.changes and (cca, each.changes) not in tried:
            tried.add((cca, each.changes))
            # A congestion control of the remedy is replaced, too.
            changes = each.remedy.remedy._replace(cca="", parameter="")
            own = each.remedy._replace(ccas=(cca,), remedy=changes)
            own = own._replace(after=trials.after(own))
            if own.after is None and cca == need.reference:
                # It says what of the gain is that of the other congestion control.
                own = next(iter(trials.repeated([own], 0)), own)
            found += need.with_remedy(own)
    return found


def _best_of(need: Need, alternatives: Sequence[Alternative]) -> Alternative | None:
    """Returns the alternative with a remedy that has the largest gain less losses.

    With it as few applications are unusable as with any. Of those alike by that, or which the runs do
    not set apart from it, it is one with the fewest places and changes: that of the congestion control
    to set, or else the first. None if the runs show none to be better than that congestion control
    alone, or to leave an application usable that is not with that.
    """
    before = need.values(need.comparison, need.best_cca)
    failing = failing_under(need.comparison, need.best_cca)
    alone_gain = min((each.net_gain for each in alternatives if _is_to_set(need, each)), default=0.0)
    better = with_fewest_failing(
        each
        for each in alternatives
        if each.remedy is not None
        and each.failing <= failing
        and (
            (
                need.gain(before, each.values) >= MIN_HELP_LOG
                and need.net_gain(each, need.best_cca) > 0
                and need.is_shown_better(each)
            )
            or (
                each.failing < failing
                and each.gain >= need.min_gain
                and each.net_gain > min(alone_gain, 0.0)
            )
        )
    )
    # What a user of the network can set comes first, also if it is a congestion control alone.
    own = [each for each in better if not _operator_count(each)]
    alone = [each for each in alternatives if _is_to_set(need, each)]
    fewest = better[0].failing if better else failing
    if own or any(each.net_gain >= MIN_HELP_LOG and each.failing <= fewest for each in alone):
        better = own
    first = max(better, key=lambda each: each.net_gain, default=None)
    better.sort(key=lambda each: (-each.other_gain, -each.net_gain))
    alike = [
        each
        for each in better
        if first is not None
        and (
            first.net_gain - each.net_gain < need.min_gain
            or (each.loss - first.loss < need.min_gain and need.is_undecided(each, first))
        )
    ]
    alike = [each for each in alike if each.changes] or alike
    least = min((_effort(need, each) for each in alike), default=(0, 0, 0))
    alike = [each for each in alike if _effort(need, each) == least]
    return next((each for each in alike if each.cca == need.best_cca), next(iter(alike), None))


def _effort(need: Need, alternative: Alternative) -> tuple[int, int, int]:
    """Returns the numbers of places, first those of the operator, and of changes, with the CCA's."""
    changes = len(alternative.changes) + (alternative.cca != need.reference)
    places = sum(2 if each == BOTH_HOSTS else 1 for each in alternative.places)
    return _operator_count(alternative), places, changes


def _operator_count(alternative: Alternative) -> int:
    """Returns the number of places at which the operator of the network sets an alternative."""
    return sum(map(is_of_operator, alternative.places))


def _with_changes_of(best: Alternative, alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Returns the alternatives with the same changes, under whatever congestion control."""
    return [each for each in alternatives if each.remedy is not None and each.changes == best.changes]


def _text(
    need: Need,
    best: Alternative,
    worse: Alternative | None,
    alternatives: Sequence[Alternative],
    run_count: int,
    scope: str = _TRIED,
) -> str:
    """Returns the conclusion in sentences.

    Args:
        need: the need that it is for.
        best: the best alternative.
        worse: the congestion control to set with the remedy of the best, if it is worse.
        alternatives: all of them, of which those as good as the best are named, too.
        run_count: number of runs that all have, the first ones.
        scope: of what it is the best.
    """
    shown = [each for each in (best, worse) if each is not None]
    texts = need_texts(need, shown, run_count)
    names = labels([*need.comparison.ccas, *(each.cca for each in (*shown, *alternatives))])
    same = _with_changes_of(best, alternatives)
    first = next((each for each in same if each.cca == best.cca), best)
    alike = [
        names[each.cca]
        for each in same
        if each.cca != best.cca
        and max(abs(each.gain - first.gain), abs(each.loss - first.loss)) < need.min_gain
    ]
    alike_text = f" ({', '.join(dict.fromkeys(alike))} alike)" if alike else ""
    it = " without it" if best.changes else ""
    with_it = f", {texts[1]} with it" if worse is not None else ""
    alone = need.comparison
    if best.changes and worse is None and best.cca != need.best_cca and best.cca in alone.ccas:
        # The effect of the changes is that under one congestion control.
        own = best._replace(comparison=alone)
        with_it += f", {names[best.cca]} {need_texts(need, [own], run_count)[0]} without it"
    # Whoever sets a congestion control alone is named with its lines.
    place = f" ({', '.join(best.places)})" if best.changes else ""
    by = f"{names[best.cca]}{alike_text}{best.changes_text}{place}{best.losses_text}"
    has_better = any(each.gain - first.gain >= need.min_gain for each in alternatives)
    price = ", for its price," if best.losses or has_better else ""
    all_runs = int(need.comparison.results.about["runs"])
    count = f" (in the first {run_count} of {all_runs} runs)" if run_count < all_runs else ""
    return (
        f"Best of all that {scope}{price} for {need.name}: {texts[0]} by {by}. "
        f"{names[need.best_cca]} has {texts[-1]}{it}{with_it}{count}."
    )
