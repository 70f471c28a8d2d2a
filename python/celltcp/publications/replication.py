"""Replication baseline: agreement of two measurements of the published values.

It shows which agreement can be expected of ours. The deviation of a second measurement from a published
mean has the variances of the published mean and of ours. The draws of the CCAs are independent. Without
a published interval, the standard error of ours, as a share of the mean, stands for the published one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celltcp.publications.ranks import DRAWS, correlate_rows, ranks


@dataclass(frozen=True)
class UncertainMean:
    """A published mean, and the standard deviation of its difference from a second measurement."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class Replication:
    """Agreement of the published values with a second measurement of them."""

    #: Mean rank correlation; NaN if no group has ranks.
    rho: float
    #: 2.5 % and 97.5 % quantiles of the rank correlation.
    low: float
    high: float
    #: Mean absolute error, as a share.
    error: float


def replicate(groups: Sequence[Sequence[UncertainMean]]) -> Replication | None:
    """Returns the agreement of a second measurement; None without values.

    Args:
        groups: means of each condition and part of the run. Groups of fewer than three have errors, but
            no ranks.
    """
    if not any(groups):
        return None
    random = np.random.default_rng(1)
    rhos: list[NDArray[np.float64]] = []
    errors: list[NDArray[np.float64]] = []
    for group in filter(None, groups):
        means = np.array([mean.mean for mean in group])
        deviations = [mean.deviation for mean in group]
        resampled = random.normal(means, deviations, size=(DRAWS, len(group)))
        is_nonzero = means != 0
        errors.append(np.abs(resampled[:, is_nonzero] / means[is_nonzero] - 1))
        if len(group) >= 3:
            mean_ranks = np.broadcast_to(ranks(means[None, :]), resampled.shape)
            rhos.append(np.nan_to_num(correlate_rows(ranks(resampled), mean_ranks)))
    all_errors = np.concatenate(errors, axis=1)
    error = float(all_errors.mean()) if all_errors.size else math.nan
    if not rhos:
        return Replication(math.nan, math.nan, math.nan, error)
    mean = np.mean(rhos, axis=0)
    low, high = np.quantile(mean, [0.025, 0.975])
    return Replication(float(mean.mean()), float(low), float(high), error)
