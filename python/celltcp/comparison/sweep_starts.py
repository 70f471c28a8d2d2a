"""Starts of the changes of a sweep: the given values that stand for those of the scenario."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.scenarios.changes import UNSET
from celltcp.scenarios.quantities import quantities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from celltcp.comparison.best_values import FieldRanking
    from celltcp.comparison.stakes import Stake

#: Fields that are upper bounds.
_BOUNDS = ("tcp.receive_window_max", "tcp.receive_buffer_max", "tcp.send_buffer_max")


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
        return by_amount[low] if ranking.fields[index] in _BOUNDS else ""
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
