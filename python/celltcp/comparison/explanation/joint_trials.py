"""Joint trials: changes that help alone are tried two at a time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.alternatives import Alternative, Need, best_by_place, recommended
from celltcp.comparison.explanation.pairs import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from celltcp.comparison.explanation.trials import Trials

#: Number of changes, the best ones of their places, of which two at a time are tried.
_MAX_TOGETHER = 3
#: Table of the settings of hosts.
_TCP = "tcp."


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
    others = [each for each in of_tail if {*each.fields}.isdisjoint(first.fields)]
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
        fields = {each.partition("=")[0] for each in changes}
        are_apart = len(fields) == len(one.changes) + len(other.changes)
        if are_apart and changes not in changes_tried and one.remedy and other.remedy:
            both = joined(one.remedy, other.remedy)._replace(ccas=(need.reference,))
            yield from need.with_remedy(both._replace(after=trials.after(both)))
