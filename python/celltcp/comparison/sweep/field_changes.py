"""Texts on a sweep: trade-offs between values, and the gain by each field and by the CCA."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.sweep.best_values import FieldRanking, advice_rankings, is_network
from celltcp.comparison.sweep.parameter_sweep import SCENARIO
from celltcp.comparison.sweep.sentences import Sentences
from celltcp.comparison.sweep.swept_buffers import buffer_texts
from celltcp.comparison.sweep.trade_off_texts import MAX_LISTED_VALUES
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.changes import UNSET
from celltcp.scenarios.quantities import quantities

if TYPE_CHECKING:
    from celltcp.comparison.sweep.parameter_sweep import Sweep
    from celltcp.comparison.verdicts.stakes import Stake

#: Last parts of the names of fields that are upper bounds.
_BOUNDS = ("receive_window_max", "receive_buffer_max", "send_buffer_max", "max_pacing_rate")


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
            both = sentences_of(ranking, by, sweep.present)
            texts += [f"{where}{text}" for text in _texts(*both)]
    return texts


def sentences_of(
    ranking: FieldRanking, by: Sequence[str], present: Mapping[str, str]
) -> tuple[Sentences, dict[str, Sentences]]:
    """Returns the sentences on a ranking, and by CCA those apart where the network has a trade-off.

    The owner of a shaper or a buffer seldom sets the CCA of the senders.
    """
    # Commands for shapers and buffers need hops, queues and RTT of the scenario at these conditions.
    scenario = ranking.scenario
    starts = start_values(ranking, ranking.deciding_stakes(by), present)
    origin = "as in the scenario" if starts.items() <= present.items() else "closest to the scenario"
    unset = [field for field, value in starts.items() if present[field] == UNSET != value]
    if unset:
        values = ",".join(
            dict.fromkeys(ranking.coordinates(each)[0] for each in ranking.choices.values())
        )
        origin += f", which leaves {' and '.join(unset)} unset, and that was not compared"
        if len(ranking.fields) == 1:
            origin += f": --vary {unset[0]}={UNSET},{values}"

    def of_part(part: FieldRanking) -> Sentences:
        stakes = part.deciding_stakes(by)
        return Sentences(part, stakes, starts, scenario, origin=origin, count_by=len(by))

    sentences = of_part(ranking)
    are_of_network = all(map(is_network, ranking.fields))
    if len(ranking.ccas) < 2 or not are_of_network or not sentences.has_front:
        return sentences, {}
    each = {of.ccas[0]: of_part(of) for of in ranking.by_cca()}
    if not any(of.has_front for of in each.values()):
        return sentences, {}
    usual = each[ranking.usual_cca]
    if not starts and usual.trade_off and usual.trade_off.knee.name:
        # CCAs are compared where nobody has a value at that which is advised.
        starts = dict(zip(ranking.fields, usual.advised[0], strict=True))
        sentences = of_part(ranking)
    names = labels(ranking.ccas)
    return sentences, {names[cca]: of for cca, of in each.items()}


def with_advice(each: Mapping[str, Sentences]) -> Mapping[str, Sentences]:
    """Returns the sentences of those CCAs under which the network has a best value; all without any.

    An end of a trade-off without a knee is no advice.
    """
    with_knee = {cca: of for cca, of in each.items() if of.trade_off is None or of.trade_off.knee.name}
    return with_knee or each


def _texts(sentences: Sentences, each: Mapping[str, Sentences]) -> list[str]:
    """Returns the texts of sentences on a ranking; `each` has those of each CCA apart, if any."""
    if not each:
        return sentences.all()
    lines = {cca: of.linux_texts() for cca, of in with_advice(each).items()}
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


def start_values(
    ranking: FieldRanking, stakes: Sequence[Stake], present: Mapping[str, str]
) -> dict[str, str]:
    """Returns for each field the given value that is that of the scenario, or stands for it.

    That is the largest of bounds, if the scenario has a higher one or none, or the closer of two values
    that are as good as each other, if that of the scenario is between them.

    Args:
        ranking: ranking of the choices.
        stakes: stakes of the flows.
        present: values of the scenario by field, `UNSET` for a field that it leaves unset.
    """
    starts = {}
    for index, field in enumerate(ranking.fields):
        values = [*dict.fromkeys(ranking.coordinates(each)[index] for each in ranking.choices.values())]
        own = present.get(field)
        value = own if own in values else own and _stand_in(ranking, stakes, index, values, own)
        if value:
            starts[field] = value
    return starts


def _stand_in(
    ranking: FieldRanking, stakes: Sequence[Stake], index: int, values: Sequence[str], own: str
) -> str:
    """Returns the value of a field that stands for that of the scenario; empty without one."""
    amounts = quantities(values if own == UNSET else [*values, own])
    if amounts is None:
        return ""
    by_amount = dict(zip(amounts, values, strict=False))
    own_amount = math.inf if own == UNSET else amounts[-1]
    low = max((amount for amount in by_amount if amount < own_amount), default=None)
    high = min((amount for amount in by_amount if amount > own_amount), default=None)
    if low is None:
        return ""
    if high is None:
        # The largest bound is the closest to none.
        return by_amount[low] if ranking.fields[index].split(".")[-1] in _BOUNDS else ""
    pairs = _pairs(ranking, index, by_amount[low], by_amount[high])
    if not all(stake.is_tied(*pair) for pair in pairs for stake in stakes):
        return ""
    return by_amount[low if own_amount**2 <= low * high else high]


def _pairs(ranking: FieldRanking, index: int, one: str, other: str) -> list[tuple[str, str]]:
    """Returns the choices that differ in a field alone, which has one of two values in each."""
    names: dict[tuple[str, ...], dict[str, str]] = {}
    for name, choice in ranking.choices.items():
        values = ranking.coordinates(choice)
        rest = (*values[:index], *values[index + 1 :], choice.cca)
        names.setdefault(rest, {})[values[index]] = name
    return [(each[one], each[other]) for each in names.values() if {one, other} <= each.keys()]
