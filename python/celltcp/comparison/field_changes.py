"""Texts on a sweep: trade-offs between values, and the gain by each field and by the CCA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.best_values import FieldRanking, advice_rankings, is_network
from celltcp.comparison.parameter_sweep import SCENARIO
from celltcp.comparison.sweep_sentences import Sentences
from celltcp.comparison.sweep_starts import start_values
from celltcp.comparison.sweep_trade_off_texts import MAX_LISTED_VALUES
from celltcp.comparison.swept_buffers import buffer_texts
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.comparison.parameter_sweep import Sweep


def field_texts(sweep: Sweep, by: Sequence[str]) -> list[str]:
    """Returns the trade-off between two metrics, helpful changes, and Linux commands for them.

    Changes start from the values of the scenario, or else the first values given, with the usual
    congestion control; each is a gain for some flow. `by` are chosen metrics, as in
    `Comparison.best_by`, in place of those that matter most to the flows.
    """
    texts = []
    for ranking in _shown(advice_rankings(sweep)):
        where = _where(ranking.fixed)
        texts += [f"{where}{text}" for text in buffer_texts(ranking)]
        if ranking.decides:
            if len(ranking.ccas) == 1 < len(sweep.ccas):
                where += f"{labels(sweep.ccas)[ranking.ccas[0]]}: "
            texts += [f"{where}{text}" for text in _texts(ranking, by, sweep.present)]
    return texts


def _texts(ranking: FieldRanking, by: Sequence[str], present: Mapping[str, str]) -> list[str]:
    """Returns the sentences on a ranking, for each CCA apart where the network has a trade-off.

    The owner of a shaper or a buffer seldom sets the CCA of the senders.
    """
    # Commands for shapers and buffers need hops, queues and RTT of the scenario at these conditions.
    scenario = ranking.scenario
    starts = start_values(ranking, ranking.deciding_stakes(by), present)
    is_own = starts.items() <= present.items()

    def sentences_of(part: FieldRanking) -> Sentences:
        stakes = part.deciding_stakes(by)
        return Sentences(part, stakes, starts, scenario, is_own=is_own, count_by=len(by))

    sentences = sentences_of(ranking)
    are_of_network = all(map(is_network, ranking.fields))
    if len(ranking.ccas) < 2 or not are_of_network or not sentences.has_front:
        return sentences.all()
    names = labels(ranking.ccas)
    each = {names[of.ccas[0]]: sentences_of(of) for of in ranking.by_cca()}
    if not any(of.has_front for of in each.values()):
        return sentences.all()
    # An end of a trade-off without a knee is no advice.
    with_knee = [cca for cca, of in each.items() if of.trade_off is None or of.trade_off.knee.name]
    lines = {cca: each[cca].linux_texts() for cca in with_knee or each}
    linux_texts = [f"{cca}: {line}" for cca, of_cca in lines.items() for line in of_cca]
    if len(lines) == len(each) and len(set(map(tuple, lines.values()))) == 1:
        linux_texts = next(iter(lines.values()))
    values = [f"{cca}: {text}" for cca, of in each.items() for text in of.value_texts()]
    failures = sentences.failure_texts()
    return [*sentences.void_texts(), *values, *failures, *linux_texts, *sentences.cca_texts()]


def _shown(rankings: Sequence[FieldRanking]) -> list[FieldRanking]:
    """Returns the rankings of each scenario, or only the first and the last one of many."""
    groups: dict[str | None, list[FieldRanking]] = {}
    for ranking in rankings:
        groups.setdefault(ranking.fixed.get("scenario"), []).append(ranking)
    return [
        ranking
        for group in groups.values()
        for ranking in (group if len(group) <= MAX_LISTED_VALUES else (group[0], group[-1]))
    ]


def _where(fixed: Mapping[str, str]) -> str:
    """Returns the scenario and the conditions as the start of a sentence."""
    parts = (value if axis == SCENARIO else f"{axis}={value}" for axis, value in fixed.items())
    return "".join(f"{part}: " for part in parts)
