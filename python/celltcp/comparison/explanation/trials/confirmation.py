"""Confirmation by other runs: of many changes that were tried in a few runs, some lead by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.answer import metric_texts
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import application_of
from celltcp.comparison.explanation.trials.trial_metrics import COMPLETIONS, MIN_HELP_LOG, complete_runs
from celltcp.comparison.metrics import LAST_COMPLETION, metric_gap, sign_of
from celltcp.present.section import runs_text
from celltcp.results.statistics import p_value
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.trials.alternatives import Alternative, Need
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
    from celltcp.comparison.explanation.trials.trials import Trials

#: Number of runs that an alternative has at most with those of its confirmation, and the minimum of
#: the latter.
_MAX_RUNS, _MIN_OTHERS = 10, 4
#: Significance of what the best of all alternatives gains.
_SIGNIFICANCE = 0.05
#: Minimum share of the gain, as a logarithm, that other runs show where they do not decide.
_MIN_SHARE = 0.5


class Confirmation:
    """Decides whether the gain of an alternative in a few runs holds in others.

    Their interval is for one comparison, but the best of many is chosen (Bonferroni's correction).
    """

    def __init__(self, trials: Trials, alternative_count: int) -> None:
        """Takes the trials, and the number of alternatives of which the best is chosen."""
        self._trials, self._alternative_count = trials, alternative_count
        self._decisions: dict[tuple[object, ...], bool] = {}
        self._others: dict[tuple[object, ...], list[Comparison]] = {}
        #: Alternatives that led by chance, with their needs and sentences.
        self._refused: list[tuple[Alternative, Need, str]] = []

    @property
    def refused_ccas(self) -> set[str]:
        """Congestion controls alone that led by chance."""
        return {one.cca for one, *_ in self._refused if not one.changes}

    def holds(self, need: Need, one: Alternative, reference: str) -> bool:
        """Returns whether the gain of an alternative over a congestion control alone holds.

        Alternatives without a gain, and those for which other runs are too expensive, hold.
        """
        key = (one.cca, one.changes, need.metric, need.flows, reference)
        if key not in self._decisions:
            self._decisions[key] = self._decide(need, one, reference)
        return self._decisions[key]

    def _decide(self, need: Need, one: Alternative, reference: str) -> bool:
        before = need.values(need.comparison, reference)
        count = min(len(one.values), len(before))
        gain = need.gain(before, one.values)
        if one.remedy is None or count < 2 or gain < MIN_HELP_LOG or not need.comparison.randomness:
            return True
        gap = metric_gap(need.metric, one.values[:count], before[:count])
        if p_value(gap, count) * self._alternative_count < _SIGNIFICANCE:
            return True
        if count >= _MAX_RUNS:
            return not gap.includes_zero
        pair = self._in_other_runs(one.remedy.under(one.cca), reference, count)
        if not pair:
            return True
        values, others = (
            need.values(each, cca) for each, cca in zip(pair, (one.cca, reference), strict=True)
        )
        if not values or len(values) != len(others):
            return True
        other_count = len(values)
        if (runs := _complete_runs(need, pair, (one.cca, reference))) is not None:
            # The time of a transfer that a run cuts off is that of the run.
            values, others = ([of[run] for run in runs] for of in (values, others))
            if len(runs) < _MIN_OTHERS:
                return False
        new_gap = metric_gap(need.metric, values, others)
        is_better = sign_of(need.metric) * new_gap.mean > 0
        holds = is_better and (
            not new_gap.includes_zero or need.gain(others, values) >= _MIN_SHARE * gain
        )
        if not holds:
            others_text = f"{len(values)} others"
            if len(values) < other_count:
                others_text = f"{len(values)} of {other_count} others, with complete transfers,"
            text = _text(need, one, reference, count, (values, others), others_text)
            self._refused.append((one, need, text))
        return holds

    def texts_for(self, concluded: Need | None) -> list[str]:
        """Returns sentences on CCAs alone that led by chance, and on changes for a need."""
        return [
            text
            for one, need, text in self._refused
            if not one.changes
            or (
                concluded is not None
                and (need.metric, need.flows) == (concluded.metric, concluded.flows)
            )
        ]

    def _in_other_runs(self, own: ProposedRemedy, reference: str, count: int) -> list[Comparison]:
        """Returns the runs with a remedy, and those of the reference alone, after the first ones."""
        key = (own.remedy, own.ccas, reference, count)
        if key not in self._others:
            both = [own, own._replace(remedy=Remedy(""), ccas=(reference,))]
            most = _MAX_RUNS - count
            self._others[key] = self._trials.in_other_runs(both, count, most, _MIN_OTHERS)
        return self._others[key]


def _complete_runs(
    need: Need, pair: Sequence[Comparison], ccas: tuple[str, str]
) -> tuple[int, ...] | None:
    """Returns the runs whose transfers are complete in both comparisons; None if those of all are."""
    if need.metric not in (*COMPLETIONS, LAST_COMPLETION):
        return None
    own, other = (
        application.metrics[cca]
        for comparison, cca in zip(pair, ccas, strict=True)
        if (application := application_of(comparison, need.flows[0])) is not None
    )
    return complete_runs(other, own)


def _text(
    need: Need,
    one: Alternative,
    reference: str,
    count: int,
    values: tuple[Sequence[float], ...],
    others_text: str,
) -> str:
    """Returns the sentence on an alternative that led by chance, with its metric in other runs."""
    names = labels([one.cca, reference])
    first = one.values[:count], need.values(need.comparison, reference)[:count]
    texts = metric_texts({need.metric: [*first, *values]})
    pairs = [f"{texts[each]}, {names[reference]} {texts[each + 1]}" for each in (0, 2)]
    return (
        f"{names[one.cca]}{one.changes_text} leads for {need.name} in {runs_text(count)} ({pairs[0]}), "
        f"which {others_text} do not show ({pairs[1]})."
    )
