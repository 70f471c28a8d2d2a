"""Replication baseline: agreement of two measurements of the published values.

It is a yardstick for the agreement of ours. A second measurement scatters about the published means as
those scatter about their true values, and as our means do about theirs. The draws of the CCAs are
independent. Published means whose intervals are not known are taken to scatter as ours do, as a share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celltcp.publications.ranks import correlated, ranks

_DRAWS = 2000


@dataclass(frozen=True)
class Figure:
    """A published mean, and the standard deviation of its difference from a second measurement."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class Replication:
    """Agreement of the published values with a second measurement of them."""

    #: Mean rank correlation; NaN where no group has ranks.
    rho: float
    #: Ends between which 95 % of the draws of that lie.
    low: float
    high: float
    #: Mean error, without signs.
    error: float


def replicate(groups: Sequence[Sequence[Figure]]) -> Replication | None:
    """Returns the agreement of a second measurement; None without values.

    Args:
        groups: figures of each scenario and part that the agreement is over. Groups of fewer than three
            have errors, but no ranks.
    """
    if not any(groups):
        return None
    random = np.random.default_rng(1)
    rhos: list[NDArray[np.float64]] = []
    errors: list[NDArray[np.float64]] = []
    for group in filter(None, groups):
        means = np.array([figure.mean for figure in group])
        resampled = random.normal(
            means, [figure.deviation for figure in group], size=(_DRAWS, len(group))
        )
        known = means != 0
        errors.append(np.abs(resampled[:, known] / means[known] - 1))
        if len(group) >= 3:
            mean_ranks = np.broadcast_to(ranks(means[None, :]), resampled.shape)
            rhos.append(np.nan_to_num(correlated(ranks(resampled), mean_ranks)))
    every = np.concatenate(errors, axis=1)
    error = float(every.mean()) if every.size else math.nan
    if not rhos:
        return Replication(math.nan, math.nan, math.nan, error)
    mean = np.mean(rhos, axis=0)
    low, high = np.quantile(mean, [0.025, 0.975])
    return Replication(float(mean.mean()), float(low), float(high), error)
