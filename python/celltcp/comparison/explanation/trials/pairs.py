"""Pairs of remedies or changes: two that are tried together, as the second may help after the first."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import (
    Alternative,
    Need,
    best_by_place,
    recommended,
)
from celltcp.comparison.lines.linux_lines import field_of_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
    from celltcp.comparison.explanation.trials.trials import Trials

#: Minimum gain beyond that of the better remedy alone, as a logarithm of ratios.
_MIN_FURTHER_GAIN = 0.1
#: Number of changes, the best ones of their places, of which two at a time are tried.
_MAX_TOGETHER = 3
#: Table of the settings of hosts.
_TCP = "tcp."


def best_pair(trials: Trials, remedies: Sequence[ProposedRemedy]) -> ProposedRemedy | None:
    """Tries remedies that suit each other together; returns the first pair that gains notably more.

    None without such a pair, or without budget. The gain of a pair counts by the metrics of both
    causes, under the CCAs of both.
    """
    pairs = itertools.combinations([each for each in remedies if each.trial], 2)
    tried = (_tried_pair(trials, pair) for pair in pairs if _suit(*pair))
    return next(filter(None, tried), None)


def _tried_pair(trials: Trials, pair: tuple[ProposedRemedy, ProposedRemedy]) -> ProposedRemedy | None:
    """Returns two remedies as one with its trial; None unless it gains notably more than each."""
    both = joined(*pair)
    after = trials.after(both)
    if after is None:
        return None
    for single in pair:
        trial = trials.judged(both._replace(cause=single.cause), after)
        further = [trial.net_gains.get(cca, 0.0) - single.net_gains[cca] for cca in both.ccas]
        if min(further) < _MIN_FURTHER_GAIN:
            return None
    return both.with_trial(trials.judged(both, after))


def _suit(first: ProposedRemedy, second: ProposedRemedy) -> bool:
    """Returns whether two remedies can be made together, and are of different kinds.

    Those of one cause are other ways to the same end, unless one of them is a CCA.
    """
    one, other = first.remedy, second.remedy
    fields = [{change.partition("=")[0] for change in remedy.changes} for remedy in (one, other)]
    flows = [
        each for remedy in (one, other) for each in (remedy.cca, remedy.parameter, remedy.middlebox)
    ]
    are_apart = fields[0].isdisjoint(fields[1]) and sum(map(bool, flows)) <= 1
    have_kinds = first.cause != second.cause or bool(one.cca) != bool(other.cca)
    is_family = bool(one.family) and one.family == other.family
    return are_apart and have_kinds and not is_family and not set(first.ccas).isdisjoint(second.ccas)


def joined(first: ProposedRemedy, second: ProposedRemedy) -> ProposedRemedy:
    """Returns two remedies as one, with the cause of the first."""
    one, other = first.remedy, second.remedy
    effects = dict.fromkeys(each.against.partition(": ")[0] for each in (one, other))
    # An effect with a clause of its own would take the next one into that.
    joint = ", and against " if any("," in effect for effect in effects) else " and "
    remedy = Remedy(
        f"{joint.join(effects)}, by both together",
        (*one.changes, *other.changes),
        one.cca or other.cca,
        one.parameter or other.parameter,
        one.middlebox or other.middlebox,
        "; ".join(filter(None, (one.linux, other.linux))),
        "; ".join(filter(None, (one.network, other.network))),
        direction=one.direction or other.direction,
    )
    ccas = tuple(cca for cca in first.ccas if cca in second.ccas)
    return first._replace(remedy=remedy, ccas=ccas, trial="", other_values=())


def changes_for_tail(
    trials: Trials, need: Need, alternatives: Sequence[Alternative]
) -> list[Alternative]:
    """Returns the best change with the one that helps the tail most, if that gains by both.

    They cure different units of work: the window the usual ones, and a timer those with losses.
    """
    best = recommended(need, best_by_place(need, alternatives))
    best = [each for each in best if each.changes and each.cca == need.reference]
    tail = next(iter(need.for_tail()), None)
    first = max(best, key=lambda each: each.net_gain, default=None)
    if first is None or first.remedy is None or tail is None:
        return []
    remedies = [each.remedy for each in alternatives if each.remedy and each.cca == need.reference]
    of_tail = [
        each
        for remedy in remedies
        for each in tail.with_remedy(remedy)
        if each.cca == need.reference and each.gain >= tail.min_gain and each.net_gain > 0
    ]
    others = [each for each in of_tail if _are_apart(each, first)]
    other = max(others, key=lambda each: each.net_gain, default=None)
    if other is None or other.remedy is None:
        return []
    both = joined(first.remedy, other.remedy)._replace(ccas=(need.reference,))
    both = both._replace(after=trials.after(both))
    least = max(each.gain for each in of_tail if each.changes in (first.changes, other.changes))
    gains = {each.cca: each.gain for each in tail.with_remedy(both)}
    return [
        each
        for each in need.with_remedy(both)
        if gains[each.cca] >= least + tail.min_gain
        and each.gain >= first.gain - need.min_gain
        and each.net_gain > 0
    ]


def changes_together(
    trials: Trials, need: Need, alternatives: Sequence[Alternative]
) -> list[Alternative]:
    """Returns changes two at a time, under the CCA of the reference.

    They are the best ones of a host that help alone, and then the best ones of different places.
    """
    own = [each for each in alternatives if each.changes and each.cca == need.reference]
    helping = [each for each in own if each.gain >= need.min_gain and each.net_gain > 0]
    of_hosts = [each for each in helping if all(field.startswith(_TCP) for field in each.fields)]
    together: list[Alternative] = []
    for places in dict.fromkeys(each.places for each in of_hosts):
        group = [each for each in of_hosts if each.places == places]
        together += _pairs(trials, need, group, alternatives)
    best = recommended(need, best_by_place(need, [*alternatives, *together]))
    best = [each for each in best if each.changes and each.cca == need.reference]
    return [*together, *_pairs(trials, need, best, [*alternatives, *together])]


def _pairs(
    trials: Trials, need: Need, singles: Sequence[Alternative], tried: Iterable[Alternative]
) -> Iterator[Alternative]:
    """Yields the best of some alternatives two at a time, if they change other fields."""
    changes_tried = {frozenset(each.changes) for each in tried}
    best = sorted(singles, key=lambda each: -each.net_gain)[:_MAX_TOGETHER]
    for one, other in itertools.combinations(best, 2):
        changes = {*one.changes, *other.changes}
        if _are_apart(one, other) and changes not in changes_tried and one.remedy and other.remedy:
            both = joined(one.remedy, other.remedy)._replace(ccas=(need.reference,))
            yield from need.with_remedy(both._replace(after=trials.after(both)))


def _are_apart(one: Alternative, other: Alternative) -> bool:
    """Returns whether two alternatives change other fields, of whichever hosts."""
    fields, others = ({*map(field_of_all, each.fields)} for each in (one, other))
    return fields.isdisjoint(others)
