"""Alike explanations: one text for congestion controls whose metrics tie for the same causes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from celltcp.results.statistics import MARGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from celltcp.comparison.explanation.explained_cca import ExplainedCca

#: Number in a text, with a space before each group of three digits, and with its interval; no part of a
#: name.
_NUMBER = re.compile(r"(?<![\w.])\d+(?: \d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?: ±\d+(?:\.\d+)?)?")
#: Words before and after a number of a range in a text.
_ENDS, _STARTS = ("from ", "between ", " to ", " and "), (" to ", " and ")
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


def without_numbers(text: str) -> str:
    """Returns a text with a sign in place of each number, which is the same for alike texts."""
    return _NUMBER.sub("#", text)


def with_ranges(texts: Sequence[str]) -> str | None:
    """Returns texts that differ by their numbers as one, with ranges; None for other differences."""
    return _joined(texts, _range_text)


def in_order(texts: Sequence[str]) -> str | None:
    """Returns texts that differ by their numbers as one, with all numbers in the order of the texts.

    None for other differences.
    """
    return _joined(texts, lambda numbers: f"{', '.join(numbers[:-1])} and {numbers[-1]}")


def _joined(texts: Sequence[str], join: Callable[[Sequence[str]], str]) -> str | None:
    """Returns texts that differ by their numbers as one, with joined numbers where these differ."""
    if len({*map(without_numbers, texts)}) != 1:
        return None
    columns = zip(*(_NUMBER.findall(text) for text in texts), strict=True)
    numbers = (each[0] if len(set(each)) == 1 else join(each) for each in columns)
    first = texts[0]

    def joined(match: re.Match[str]) -> str:
        # Of two ranges in "from ... to ..." or "between ... and ...", each has a dash.
        is_end = first.endswith(_ENDS, 0, match.start()) or first.startswith(_STARTS, match.end())
        number = next(numbers)
        return number.replace(" to ", "–") if is_end else number  # noqa: RUF001

    return _NUMBER.sub(joined, first)


def _range_text(numbers: Sequence[str]) -> str:
    low, high = (
        extreme(numbers, key=lambda number: float(number.partition(" ±")[0].replace(" ", "")))
        for extreme in (min, max)
    )
    return low if low == high else f"{low} to {high}"
