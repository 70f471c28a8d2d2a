"""Sums and means of groups of numbers, the same to the last bit wherever they are computed.

Groups that lie one after another are added up by NumPy, in pairs. All others are added up in their
order with compensation (Kahan), as are columns with NaN, which are left out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)


def group_sums(values: NDArray[Any], groups: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Returns the sum of each group; zero for those without a value.

    Args:
        values: what is added up.
        groups: number of the group of each value, from 0 to `count - 1`.
        count: of groups.
    """
    if np.isnan(values).any() or (np.diff(groups) < 0).any():
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=count))
        parts = np.split(values[order], ends[:-1])
        return np.array([_compensated(part.tolist()) for part in parts], np.float64)
    sums = np.zeros(count)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sums[groups[starts]] = np.add.reduceat(values, starts) if len(starts) else ()
    return sums


def group_means(values: NDArray[Any], groups: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Returns the mean of each group, as `group_sums` adds up; NaN for those without a value."""
    sums = group_sums(values, groups, count)
    known = np.bincount(groups[~np.isnan(values)], minlength=count)
    means = np.full(count, math.nan)
    np.divide(sums, known, out=means, where=known > 0)
    return means


def sums_by(keys: Sequence[Key], values: Sequence[float]) -> dict[Key, float]:
    """Returns the sum of the values of each key, in the order in which the keys first come."""
    known = list(dict.fromkeys(keys))
    return _by(known, group_sums(np.array(values, np.float64), _numbered(keys, known), len(known)))


def means_by(
    keys: Sequence[Key], values: Sequence[float], order: Iterable[Key] | None = None
) -> dict[Key, float]:
    """Returns the mean of the values of each key; NaN where none is known.

    Args:
        keys: of the values.
        values: what is averaged.
        order: of the keys, by which is decided whether groups lie one after another; that in which they
            first come unless given.
    """
    known = list(dict.fromkeys(keys if order is None else order))
    return _by(known, group_means(np.array(values, np.float64), _numbered(keys, known), len(known)))


def _numbered(keys: Sequence[Key], known: Sequence[Key]) -> NDArray[np.intp]:
    numbers = {key: number for number, key in enumerate(known)}
    return np.array([numbers[key] for key in keys], np.intp)


def _by(known: Sequence[Key], result: NDArray[np.float64]) -> dict[Key, float]:
    return dict(zip(known, result.tolist(), strict=True))


def _compensated(values: Iterable[float]) -> float:
    total = lost = 0.0
    for value in values:
        if math.isnan(value):
            continue
        gain = value - lost
        after = total + gain
        lost = (after - total) - gain
        # Beyond infinity there is nothing to compensate.
        lost = 0.0 if math.isnan(lost) else lost
        total = after
    return total
