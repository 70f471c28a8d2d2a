"""Starts of the changes of a sweep: the given values that stand for those of the scenario."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.results.limits import MIN_PEAK_SHARE
from celltcp.scenarios.changes import UNSET
from celltcp.scenarios.quantities import quantities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from celltcp.comparison.best_values import FieldRanking
    from celltcp.comparison.stakes import Stake

#: Limits of a sender by the fields that are upper bounds of them.
_BOUNDS = {
    "tcp.receive_window_max": "receive_window",
    "tcp.receive_buffer_max": "receive_window",
    "tcp.send_buffer_max": "send_buffer",
}


def start_values(
    ranking: FieldRanking, stakes: Sequence[Stake], present: Mapping[str, str]
) -> dict[str, str]:
    """Returns for each field the given value that is that of the scenario, or does the same.

    That is a bound which no flow reaches, if the scenario has a higher one or none, or the closer of
    two values that are as good as each other, if that of the scenario is between them.

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
    """Returns the value of a field that does the same as that of the scenario; empty without one."""
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
        limit = _BOUNDS.get(ranking.fields[index], "")
        value = by_amount[low]
        return value if limit and _max_share(ranking, index, value, limit) < MIN_PEAK_SHARE else ""
    pairs = _pairs(ranking, index, by_amount[low], by_amount[high])
    if not all(stake.is_tied(*pair) for pair in pairs for stake in stakes):
        return ""
    return by_amount[low if own_amount**2 <= low * high else high]


def _max_share(ranking: FieldRanking, index: int, value: str, limit: str) -> float:
    """Returns the largest share of time for which a limit holds for a flow, with a value of a field."""
    points = {
        choice.value
        for choice in ranking.choices.values()
        if ranking.coordinates(choice)[index] == value
    }
    shares = (each.shares for point in points for each in ranking.results_at(point).flow_limits)
    return max((share.get(limit, math.nan) for share in shares), default=math.nan)


def _pairs(ranking: FieldRanking, index: int, one: str, other: str) -> list[tuple[str, str]]:
    """Returns the choices that differ in a field alone, which has one of two values in each."""
    names: dict[tuple[str, ...], dict[str, str]] = {}
    for name, choice in ranking.choices.items():
        values = ranking.coordinates(choice)
        rest = (*values[:index], *values[index + 1 :], choice.cca)
        names.setdefault(rest, {})[values[index]] = name
    return [(each[one], each[other]) for each in names.values() if {one, other} <= each.keys()]
