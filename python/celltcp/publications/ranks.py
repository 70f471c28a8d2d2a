"""Rank correlation of our means with those of a paper."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Half width of a 95 % interval of a normal distribution, standard deviations.
HALF_WIDTH = 1.96
_DRAWS = 2000
#: Maximum distance from the best of tied values, as a share.
TIE = 0.02
#: Maximum of values whose orders are all enumerated.
_MAX_PERMUTED = 7


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation of our means with the published ones.

    Values within 2 % of each other share a rank. `low` and `high` are the ends of the 95 % bootstrap
    interval: runs are drawn with replacement, with the same seeds for all if they have as many, and the
    published means normally within their own intervals. `chance` is the p-value of the permutation
    test: the share of all orders that agree as well.
    """

    rho: float
    low: float
    high: float
    p_value: float
    count: int

    def __str__(self) -> str:
        if math.isnan(self.rho):
            return "none, as all are tied"
        chance = "" if math.isnan(self.p_value) else f"; p = {self.p_value:.2g}"
        return f"{self.rho:+.2f} (bootstrap 95 % interval {self.low:+.2f} to {self.high:+.2f}{chance})"


def rank_correlation(
    ours: Mapping[str, Sequence[float]], published: Mapping[str, tuple[float, float]]
) -> RankCorrelation | None:
    """Correlates the names that both have; returns None for fewer than three.

    Args:
        ours: values of the runs by name, in the order of the seeds.
        published: mean and half width of its 95 % interval by name.
    """
    names = [name for name in ours if name in published and len(ours[name])]
    if len(names) < 3:
        return None
    values = [np.asarray(ours[name], dtype=float) for name in names]
    means, widths = np.array([published[name] for name in names], dtype=float).T
    mine = ranks(np.array([[value.mean() for value in values]]))
    mean_ranks = ranks(means[None, :])
    rho = float(correlated(mine, mean_ranks)[0])
    random = np.random.default_rng(1)
    sampled_ranks = ranks(_drawn_means(values, random))
    scattered = ranks(random.normal(means, widths / HALF_WIDTH, size=(_DRAWS, len(names))))
    rhos = correlated(sampled_ranks, scattered)
    known = rhos[~np.isnan(rhos)]
    low, high = np.quantile(known, [0.025, 0.975]) if known.size else (math.nan, math.nan)
    return RankCorrelation(rho, float(low), float(high), _chance(rho, mine, mean_ranks), len(names))


def _drawn_means(
    values: Sequence[NDArray[np.float64]], random: np.random.Generator
) -> NDArray[np.float64]:
    """Returns means of values drawn with replacement, a row per draw.

    The same places are drawn for all, so that seeds stay together, unless some have more values than
    others, as downloads can.
    """
    count = len(values[0])
    if all(len(value) == count for value in values):
        resampled = random.integers(count, size=(_DRAWS, count))
        return np.array([value[resampled].mean(axis=1) for value in values]).T
    draws = ((value, random.integers(len(value), size=(_DRAWS, len(value)))) for value in values)
    return np.array([each[resampled].mean(axis=1) for each, resampled in draws]).T


def joint_p_value(orders: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Returns the p-value of a mean of rank correlations: the share of random orders as good.

    Args:
        orders: our means and the published ones, for each correlation.
    """
    if not orders:
        return math.nan
    random = np.random.default_rng(1)
    result = 0.0
    sampled_ranks = np.zeros(_DRAWS)
    for ours, published in orders:
        mine, published_ranks = ranks(np.array([ours])), ranks(np.array([published]))
        result += float(np.nan_to_num(correlated(mine, published_ranks))[0])
        shuffled = random.permuted(np.repeat(mine, _DRAWS, axis=0), axis=1)
        sampled_ranks += np.nan_to_num(
            correlated(shuffled, np.broadcast_to(published_ranks, shuffled.shape))
        )
    # The observed order is itself one of the possible ones.
    return float((np.sum(sampled_ranks >= result - 1e-9) + 1) / (_DRAWS + 1))


def mean_correlation(orders: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Returns the mean of the rank correlations of pairs of values; one without order counts as 0."""
    result = 0.0
    for pairs in orders:
        mine, other = np.array(pairs, dtype=float).T
        result += float(np.nan_to_num(correlated(ranks(mine[None, :]), ranks(other[None, :])))[0])
    return result / len(orders)


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the ranks of each row; values that are within the tie of a better one share theirs."""
    import pandas as pd

    order = np.argsort(-values, axis=1, kind="stable")
    falling = np.take_along_axis(values, order, axis=1)
    groups = np.zeros(values.shape)
    leader = falling[:, 0]
    group = np.zeros(len(values))
    for index in range(1, values.shape[1]):
        behind = falling[:, index] < leader - TIE * np.abs(leader)
        leader = np.where(behind, falling[:, index], leader)
        group = group - behind
        groups[:, index] = group
    back = np.empty_like(groups)
    np.put_along_axis(back, order, groups, axis=1)
    ranks: NDArray[np.float64] = pd.DataFrame(back).rank(axis=1).to_numpy(np.float64)
    return ranks


def correlated(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlates ranks row by row; NaN where those of a row are all equal."""
    a = first - first.mean(axis=1, keepdims=True)
    b = second - second.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        result: NDArray[np.float64] = (a * b).sum(axis=1) / np.sqrt(
            (a**2).sum(axis=1) * (b**2).sum(axis=1)
        )
    return result


def _chance(rho: float, mine: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    if mine.shape[1] > _MAX_PERMUTED or math.isnan(rho):
        return math.nan
    orders = np.array(list(itertools.permutations(mine[0])))
    return float(np.mean(correlated(orders, np.broadcast_to(other, orders.shape)) >= rho - 1e-9))
