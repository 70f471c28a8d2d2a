"""Rank correlation of our means with those of a paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Standard deviations that half a 95 % interval of a normal distribution is wide.
_HALF_WIDTH = 1.96
_DRAWS = 2000
#: With more values than this there are too many orders to go through.
_MOST_ORDERED = 7


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation of our means with the published ones.

    `low` and `high` are the ends of the 95 % bootstrap interval: runs are drawn with replacement, with
    the same seeds for all, and the published means normally within their own intervals. `chance` is the
    p-value of the permutation test: the share of all orders that agree as well.
    """

    rho: float
    low: float
    high: float
    chance: float
    count: int

    def __str__(self) -> str:
        chance = "" if math.isnan(self.chance) else f"; p = {self.chance:.2g}"
        return f"{self.rho:+.2f} (bootstrap 95 % interval {self.low:+.2f} to {self.high:+.2f}{chance})"


def rank_correlation(
    ours: Mapping[str, Sequence[float]], published: Mapping[str, tuple[float, float]]
) -> RankCorrelation | None:
    """Correlates the names that both have; returns None for fewer than three.

    Args:
        ours: values of the runs by name, in the order of the seeds.
        published: mean and half width of its 95 % interval by name.
    """
    names = [name for name in ours if name in published]
    if len(names) < 3:
        return None
    values = np.array([ours[name] for name in names], dtype=float)
    means, widths = np.array([published[name] for name in names], dtype=float).T
    rho = float(_spearman(values.mean(axis=1)[None, :], means[None, :])[0])
    random = np.random.default_rng(1)
    again = random.integers(values.shape[1], size=(_DRAWS, values.shape[1]))
    drawn = values[:, again].mean(axis=2).T
    theirs = random.normal(means, widths / _HALF_WIDTH, size=(_DRAWS, len(names)))
    low, high = np.nanquantile(_spearman(drawn, theirs), [0.025, 0.975])
    return RankCorrelation(rho, float(low), float(high), _chance(rho, means), len(names))


def _spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlates row by row; NaN where the values of a row are all equal."""
    a, b = _ranks(first), _ranks(second)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        found: NDArray[np.float64] = (a * b).sum(axis=1) / np.sqrt(
            (a**2).sum(axis=1) * (b**2).sum(axis=1)
        )
    return found


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the ranks in each row from 1 on; equal values share the mean of theirs."""
    mine, others = values[:, :, None], values[:, None, :]
    found: NDArray[np.float64] = (others < mine).sum(axis=2) + ((others == mine).sum(axis=2) + 1) / 2
    return found


def _chance(rho: float, means: NDArray[np.float64]) -> float:
    if len(means) > _MOST_ORDERED or math.isnan(rho):
        return math.nan
    orders = np.array(list(itertools.permutations(range(len(means)))), dtype=float)
    return float(np.mean(_spearman(orders, np.broadcast_to(means, orders.shape)) >= rho - 1e-9))
