"""Rank correlation of our means with published ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celltcp.results.statistics import NORMAL_HALF_WIDTH

#: Number of bootstrap samples, and of random orders.
DRAWS = 2000
#: Maximum distance of tied values from the best of them, as a share.
_MAX_TIE_SHARE = 0.02
#: Maximum number of values of the permutation test, which enumerates all orders.
_MAX_PERMUTED = 7


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation of our means with the published ones.

    Values within 2 % of each other share a rank. `low` and `high` are the ends of the 95 % bootstrap
    interval. For that, runs are resampled, by the same seeds for all CCAs if these have as many runs.
    Published means are drawn from normal distributions with their intervals. `p_value` is that of the
    permutation test: the share of all orders that agree as well.
    """

    rho: float
    low: float
    high: float
    p_value: float
    #: Number of CCAs.
    count: int

    def __str__(self) -> str:
        if math.isnan(self.rho):
            return "none, as all are tied"
        p_value = "" if math.isnan(self.p_value) else f"; p = {self.p_value:.2g}"
        return f"{self.rho:+.2f} (bootstrap 95 % interval {self.low:+.2f} to {self.high:+.2f}{p_value})"


def rank_correlation(
    ours: Mapping[str, Sequence[float]], published: Mapping[str, tuple[float, float]]
) -> RankCorrelation | None:
    """Returns the rank correlation over the names that both have; None for fewer than three.

    Args:
        ours: values of the runs by name, in the order of the seeds.
        published: mean and half width of its 95 % interval by name.
    """
    names = [name for name in ours if name in published and len(ours[name])]
    if len(names) < 3:
        return None
    values = [np.asarray(ours[name], dtype=float) for name in names]
    means, widths = np.array([published[name] for name in names], dtype=float).T
    our_ranks = ranks(np.array([[value.mean() for value in values]]))
    published_ranks = ranks(means[None, :])
    rho = float(correlate_rows(our_ranks, published_ranks)[0])
    random = np.random.default_rng(1)
    our_samples = ranks(_bootstrap_means(values, random))
    published_samples = ranks(random.normal(means, widths / NORMAL_HALF_WIDTH, (DRAWS, len(names))))
    rhos = correlate_rows(our_samples, published_samples)
    known = rhos[~np.isnan(rhos)]
    low, high = np.quantile(known, [0.025, 0.975]) if known.size else (math.nan, math.nan)
    p_value = _permutation_p_value(rho, our_ranks, published_ranks)
    return RankCorrelation(rho, float(low), float(high), p_value, len(names))


def _bootstrap_means(
    values: Sequence[NDArray[np.float64]], random: np.random.Generator
) -> NDArray[np.float64]:
    """Returns means of resampled values, a row per sample.

    All columns have the same indices, so that seeds stay together, unless some have more values than
    others, as downloads can.
    """
    count = len(values[0])
    if all(len(column) == count for column in values):
        indices = random.integers(count, size=(DRAWS, count))
        return np.array([column[indices].mean(axis=1) for column in values]).T
    draws = ((column, random.integers(len(column), size=(DRAWS, len(column)))) for column in values)
    return np.array([column[indices].mean(axis=1) for column, indices in draws]).T


def joint_p_value(orders: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Returns the p-value of a mean rank correlation: the share of random orders that agree as well.

    Args:
        orders: our means and the published ones, for each correlation.
    """
    if not orders:
        return math.nan
    random = np.random.default_rng(1)
    observed_sum = 0.0
    random_sums = np.zeros(DRAWS)
    for ours, published in orders:
        our_ranks, published_ranks = ranks(np.array([ours])), ranks(np.array([published]))
        observed_sum += float(np.nan_to_num(correlate_rows(our_ranks, published_ranks))[0])
        shuffled = random.permuted(np.repeat(our_ranks, DRAWS, axis=0), axis=1)
        random_sums += np.nan_to_num(
            correlate_rows(shuffled, np.broadcast_to(published_ranks, shuffled.shape))
        )
    # The observed order is itself one of the possible ones.
    return float((np.sum(random_sums >= observed_sum - 1e-9) + 1) / (DRAWS + 1))


def mean_correlation(orders: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Returns the mean rank correlation of lists of value pairs; a list of ties only counts as 0."""
    total = 0.0
    for pairs in orders:
        first, second = np.array(pairs, dtype=float).T
        rho = correlate_rows(ranks(first[None, :]), ranks(second[None, :]))
        total += float(np.nan_to_num(rho)[0])
    return total / len(orders)


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the ranks of each row, 1 for the lowest value; tied values share a mean rank."""
    import pandas as pd

    order = np.argsort(-values, axis=1, kind="stable")
    falling = np.take_along_axis(values, order, axis=1)
    groups = np.zeros(values.shape)
    leader = falling[:, 0]
    group = np.zeros(len(values))
    for index in range(1, values.shape[1]):
        is_behind = falling[:, index] < leader - _MAX_TIE_SHARE * np.abs(leader)
        leader = np.where(is_behind, falling[:, index], leader)
        group = group - is_behind
        groups[:, index] = group
    unsorted = np.empty_like(groups)
    np.put_along_axis(unsorted, order, groups, axis=1)
    ranks: NDArray[np.float64] = pd.DataFrame(unsorted).rank(axis=1).to_numpy(np.float64)
    return ranks


def correlate_rows(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns Pearson's correlation of each pair of rows; NaN if a row has equal values only."""
    a = first - first.mean(axis=1, keepdims=True)
    b = second - second.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        result: NDArray[np.float64] = (a * b).sum(axis=1) / np.sqrt(
            (a**2).sum(axis=1) * (b**2).sum(axis=1)
        )
    return result


def _permutation_p_value(
    rho: float, our_ranks: NDArray[np.float64], published_ranks: NDArray[np.float64]
) -> float:
    """Returns the share of all orders that agree as well; NaN if there are too many orders."""
    if our_ranks.shape[1] > _MAX_PERMUTED or math.isnan(rho):
        return math.nan
    orders = np.array(list(itertools.permutations(our_ranks[0])))
    rhos = correlate_rows(orders, np.broadcast_to(published_ranks, orders.shape))
    return float(np.mean(rhos >= rho - 1e-9))
