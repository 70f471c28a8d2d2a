"""Sentences on the conditions of a sweep, such as a loss rate: how metrics change with them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.loss_laws import law_note
from celltcp.comparison.metrics import words_of
from celltcp.comparison.sweep.best_values import FieldRanking, is_condition
from celltcp.comparison.sweep.parameter_sweep import SCENARIO
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantities import quantities
from celltcp.scenarios.quantity_texts import size_text

if TYPE_CHECKING:
    from celltcp.comparison.sweep.parameter_sweep import Sweep
    from celltcp.comparison.verdicts.stakes import Stake

#: Field of the number of connections of a flow, each of which transfers as much.
_COUNT = re.compile(r"flows\.(\d+)\.count")
#: Maximum number of values that are all listed.
_MAX_LISTED_VALUES = 5
#: Maximum ratio of means up to which an insignificant difference counts as none.
_MAX_UNDECIDED_RATIO = 1.2


def condition_texts(sweep: Sweep, by: Sequence[str] = ()) -> list[str]:
    """Returns the change of each metric with each condition of a sweep, a line each.

    Other varied fields have the values of the scenario, or else the first ones. `by` are chosen ranking
    metrics, as in `Comparison.best_by`.
    """
    names = labels(sweep.ccas)
    texts = []
    for field, group in itertools.groupby(_usual_rankings(sweep), key=lambda each: each.field):
        by_metric: dict[tuple[str, str, str], list[tuple[FieldRanking, Stake]]] = {}
        for ranking in group:
            parts = (
                value if axis == SCENARIO else f"{axis}={value}"
                for axis, value in ranking.fixed.items()
            )
            where = "".join(f"{part}: " for part in parts)
            for stake in ranking.deciding_stakes(by):
                by_metric.setdefault((where, stake.flow, stake.metric), []).append((ranking, stake))
        for (where, flow, metric), rows in by_metric.items():
            subject = f"{where}{rows[0][0].without_flow(f'{flow} {words_of(metric).name}')}"
            changes = [(names[str(each.cca)], *_change(each, stake)) for each, stake in rows]
            if len(sweep.ccas) == 1:
                ((_, direction, means),) = changes
                texts.append(f"{subject} {direction} with {field}: {means}")
            else:
                by_cca = "; ".join(f"{name} {direction}: {means}" for name, direction, means in changes)
                texts.append(f"{subject} with {field}: {by_cca}")
    return [*texts, *filter(None, (law_note(sweep.points.values()),))]


def _in_order(ranking: FieldRanking) -> list[str]:
    """Returns the values of a field, amounts in their order."""
    values = [*ranking.choices]
    amounts = quantities(values)
    return (
        values if amounts is None else [value for _, value in sorted(zip(amounts, values, strict=True))]
    )


def _usual_rankings(sweep: Sweep) -> Iterator[FieldRanking]:
    """Yields the rankings of conditions under each CCA, at the usual values of the other fields."""
    rankings = [
        ranking
        for ranking in sweep.field_rankings
        if is_condition(ranking.field) and ranking.cca is not None
    ]
    usual: dict[tuple[str, str], Mapping[str, str]] = {}
    for ranking in rankings:
        key = ranking.field, ranking.fixed.get(SCENARIO, "")
        others = {axis: value for axis, value in ranking.fixed.items() if axis != SCENARIO}
        if key not in usual or others == {axis: sweep.present.get(axis) for axis in others}:
            usual[key] = ranking.fixed
    for ranking in rankings:
        if usual[ranking.field, ranking.fixed.get(SCENARIO, "")] == ranking.fixed:
            yield ranking


def _change(ranking: FieldRanking, stake: Stake) -> tuple[str, str]:
    """Returns the direction of a metric along the values in their order, and some of its means."""
    values = _in_order(ranking)
    listed = _listed(stake, values)
    numbers = [estimate(stake.values[value]).mean for value in listed]
    words = words_of(stake.metric).suited(*numbers)
    # The last mean has the unit, unless nothing was complete there.
    last = max((index for index, mean in enumerate(numbers) if not math.isnan(mean)), default=-1)
    means = [
        words.own_text(mean) if index == last else words.number(mean)
        for index, mean in enumerate(numbers)
    ]
    pairs = zip(means, listed, strict=True)
    # One run of what is random shows no change, only values.
    direction = _direction(stake, values) if ranking.decides else "is undecided (more --runs)"
    return direction, ", ".join(
        f"{mean} ({value}{_amount_text(ranking, value)})" for mean, value in pairs
    )


def _amount_text(ranking: FieldRanking, value: str) -> str:
    """Returns the bytes that a number of connections transfers in all; empty for other fields."""
    match = _COUNT.fullmatch(ranking.field)
    if match is None:
        return ""
    flow = ranking.scenario_at(value)["flows"][int(match[1])]
    size = in_unit(flow.get("workload", {}).get("bytes"), "B")
    return f": {size_text(int(flow.get('count', 1)) * size)} in all" if size else ""


def _listed(stake: Stake, values: Sequence[str]) -> list[str]:
    """Returns a few of the ordered values: the ends, the steepest step and the extremes."""
    means = [estimate(stake.values[value]).mean for value in values]
    known = [index for index, mean in enumerate(means) if math.isfinite(mean)]
    if len(values) <= _MAX_LISTED_VALUES or len(known) < 2:
        return list(values)
    steps = itertools.pairwise(known)
    steepest = max(steps, key=lambda step: abs(means[step[1]] - means[step[0]]))
    extremes = (extreme(known, key=means.__getitem__) for extreme in (min, max))
    return [values[index] for index in sorted({0, *steepest, *extremes, len(values) - 1})]


def _direction(stake: Stake, values: Sequence[str]) -> str:
    """Returns how a metric changes along ordered values, as a predicate: significantly or not."""
    pairs = list(itertools.combinations(values, 2))
    has_gains = any(stake.is_gain(after, before) for before, after in pairs)
    has_losses = any(stake.is_gain(before, after) for before, after in pairs)
    if has_gains and has_losses:
        return _turns(stake, values)
    if has_gains or has_losses:
        return "falls" if has_gains == stake.is_less_better else "grows"
    means = [abs(estimate(stake.values[value]).mean) for value in values]
    # With wide intervals, an insignificant difference may be large.
    is_large = max(means) - min(means) > min_difference(stake.metric)
    if is_large and max(means) > _MAX_UNDECIDED_RATIO * min(means):
        return "is undecided (more --runs)"
    return "does not change significantly"


def _turns(stake: Stake, values: Sequence[str]) -> str:
    """Returns how a metric turns along ordered values: once, or several times."""
    signed = [stake.signed_mean(value) for value in values]
    means = [-each for each in signed] if stake.is_less_better else signed
    is_lowest_inside, is_highest_inside = (
        means.index(extreme(means)) not in (0, len(means) - 1) for extreme in (min, max)
    )
    if is_lowest_inside == is_highest_inside:
        return "rises and falls"
    return "falls, then rises" if is_lowest_inside else "rises, then falls"
