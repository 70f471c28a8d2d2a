"""Conditions of a sweep in sentences: effect on metrics of fields such as the loss rate of a path."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.best_values import FieldRanking, is_condition
from celltcp.comparison.metrics import words_of
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantities import quantities

if TYPE_CHECKING:
    from celltcp.comparison.parameter_sweep import Sweep
    from celltcp.comparison.stakes import Stake

#: Maximum of values that a sentence lists.
_MAX_LISTED_VALUES = 4
#: Maximum ratio of means whose difference, where the runs do not show it, is of no importance.
_MAX_UNDECIDED_RATIO = 1.2


def condition_texts(sweep: Sweep, by: Sequence[str] = ()) -> list[str]:
    """Returns the change of each metric with the values of each condition, a line each.

    Other varied fields have their first values, in each scenario.

    Args:
        sweep: the sweep.
        by: further metrics, as those of `Comparison.best_by`.
    """
    names = labels(sweep.ccas)
    texts = []
    for place, group in itertools.groupby(_first(sweep), key=_place):
        figures: dict[tuple[str, str], list[tuple[FieldRanking, Stake]]] = {}
        for ranking in group:
            for stake in ranking.deciding(by):
                figures.setdefault((stake.flow, stake.metric), []).append((ranking, stake))
        for rows in figures.values():
            ranking, stake = rows[0]
            figure = ranking.without_flow(f"{stake.flow} {words_of(stake.metric).name}")
            field, where = place[0], _where(place[1])
            parts = [(names[str(each.cca)], *_course(each, mine)) for each, mine in rows]
            if len(sweep.ccas) == 1:
                ((_, direction, means),) = parts
                texts.append(f"{where}{figure} {direction} with {field}: {means}")
            else:
                courses = "; ".join(f"{name} {direction}: {means}" for name, direction, means in parts)
                texts.append(f"{where}{figure} with {field}: {courses}")
    return texts


def _first(sweep: Sweep) -> Iterator[FieldRanking]:
    """Yields the rankings of conditions under each CCA, at the first values of the other fields."""
    printed_steps: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for ranking in sweep.field_rankings:
        if is_condition(ranking.field) and ranking.cca is not None:
            field, place = _place(ranking)
            scenario = ranking.place.get("scenario", "")
            if printed_steps.setdefault((field, scenario), place) == place:
                yield ranking


def _place(ranking: FieldRanking) -> tuple[str, tuple[tuple[str, str], ...]]:
    return ranking.field, tuple(ranking.place.items())


def _where(place: tuple[tuple[str, str], ...]) -> str:
    parts = (value if axis == "scenario" else f"{axis}={value}" for axis, value in place)
    return "".join(f"{part}: " for part in parts)


def _course(ranking: FieldRanking, stake: Stake) -> tuple[str, str]:
    """Returns the direction of a metric along the values in their order, and its means there."""
    values = _ordered([*ranking.choices])
    words = words_of(stake.metric)
    shown = (
        [*values]
        if len(values) <= _MAX_LISTED_VALUES
        else [values[0], values[len(values) // 2], values[-1]]
    )
    means = [words.number(estimate(stake.values[value]).mean) for value in shown]
    means[-1] = words.with_unit(means[-1])
    pairs = zip(means, shown, strict=True)
    return _direction(stake, values), ", ".join(f"{mean} ({value})" for mean, value in pairs)


def _direction(stake: Stake, values: Sequence[str]) -> str:
    """Returns whether a metric grows, falls or does neither all the way, beyond chance."""
    sign = -1 if stake.is_less_better else 1
    ups, downs = (
        [
            stake.is_gain(*(pair if rises == (sign > 0) else pair[::-1]))
            for pair in ((after, before) for before, after in itertools.combinations(values, 2))
        ]
        for rises in (True, False)
    )
    if any(ups) and any(downs):
        return "rises and falls"
    if any(ups):
        return "grows"
    if any(downs):
        return "falls"
    means = [abs(estimate(stake.values[value]).mean) for value in values]
    # Where intervals are wide, what the runs do not show may be large.
    if max(means) > _MAX_UNDECIDED_RATIO * min(means):
        return "is undecided (more --runs)"
    return "does not change significantly"


def _ordered(values: Sequence[str]) -> list[str]:
    """Returns values in the order of their amounts, or else as they were given."""
    amounts = quantities(values)
    if amounts is None:
        return list(values)
    return [value for _, value in sorted(zip(amounts, values, strict=True))]
