"""Pairs of remedies: two that are tried together, as the second may still help after the first."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.remedy import Remedy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.explanation.proposals import ProposedRemedy
    from celltcp.comparison.explanation.trials import Trials

#: Minimum gain beyond that of the better remedy alone, as a logarithm of ratios.
_MIN_FURTHER_GAIN = 0.1


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
