"""Alike explanations: one text for congestion controls whose metrics tie for the same causes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from celltcp.results.statistics import MARGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.explanation.explained_cca import ExplainedCca

#: Number in a text, with a space before each group of three digits; no part of a name.
_NUMBER = re.compile(r"(?<![\w.])\d+(?: \d{3})*(?:\.\d+)?")
#: Maximum difference of the shares of the segments that alike congestion controls send again.
_MAX_RESENT_DIFFERENCE = 0.01
#: Minimum weight of a cause that distinguishes congestion controls, and minimum difference of weights.
_MIN_WEIGHT, _MIN_WEIGHT_DIFFERENCE = 0.01, 0.05


def alike_groups(ccas: Sequence[ExplainedCca]) -> list[list[ExplainedCca]]:
    """Returns explanations in groups of the same flow, with metrics that tie and the same causes."""
    groups: list[list[ExplainedCca]] = []
    for explained in ccas:
        for group in groups:
            if all(_are_alike(explained, other) for other in group):
                group.append(explained)
                break
        else:
            groups.append([explained])
    return groups


def _are_alike(one: ExplainedCca, other: ExplainedCca) -> bool:
    standings = one.standing, other.standing
    are_leading = all(each.leads and each.leader is not None for each in standings)
    if one.flow != other.flow or not (are_leading or _are_close(*(each.value for each in standings))):
        return False
    metrics = [(one.rtt_mean_ms, other.rtt_mean_ms)]
    if not one.is_intermittent:
        metrics.append((one.goodput_mbps, other.goodput_mbps))
    if not all(_are_close(*pair) for pair in metrics):
        return False
    weights, other_weights = (
        {cause.name: cause.weight for cause in each.causes if cause.weight >= _MIN_WEIGHT}
        for each in (one, other)
    )
    if _has_overflow_in_slow_start(one) != _has_overflow_in_slow_start(other):
        return False
    if abs(one.resent_share - other.resent_share) > _MAX_RESENT_DIFFERENCE:
        return False
    return weights.keys() == other_weights.keys() and all(
        abs(weight - other_weights[name]) < _MIN_WEIGHT_DIFFERENCE for name, weight in weights.items()
    )


def _has_overflow_in_slow_start(explained: ExplainedCca) -> bool:
    """Returns whether the longest events have an overflow at the end of slow start."""
    return any(event.kind == "overflow" and "in slow start" in event.text for event in explained.events)


def _are_close(value: float, other: float) -> bool:
    if math.isnan(value) or math.isnan(other):
        return math.isnan(value) and math.isnan(other)
    return abs(value - other) <= MARGIN * max(abs(value), abs(other))


def with_ranges(texts: Sequence[str]) -> str | None:
    """Returns texts that differ by their numbers as one, with ranges; None for other differences."""
    if len({_NUMBER.sub("#", text) for text in texts}) != 1:
        return None
    parts = _NUMBER.split(texts[0])
    result = parts[0]
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    for numbers, part in zip(columns, parts[1:], strict=True):
        ordered = sorted(set(numbers), key=lambda number: float(number.replace(" ", "")))
        result += ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
        result += part
    return result
