"""Means with intervals, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its 95 % interval; `ci95` is None where there is no spread."""

    mean: float
    ci95: float | None

    @property
    def includes_zero(self) -> bool:
        """Whether zero lies in the interval; without an interval, whether the mean is zero."""
        if self.ci95 is None:
            return math.isclose(self.mean, 0.0, abs_tol=1e-12)
        return abs(self.mean) <= self.ci95


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and Student's t interval at 95 %; NaN values are left out.

    There is no interval for fewer than two values, nor where all are the same: that is a scenario
    without randomness, not a certain one.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Estimate(math.nan, None)
    mean = math.fsum(known) / len(known)
    if len(known) < 2:
        return Estimate(mean, None)
    variance = math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1)
    if variance <= (1e-12 * max(abs(mean), 1e-300)) ** 2:
        return Estimate(mean, None)
    from scipy.special import stdtrit  # scipy.stats takes half a second to import

    quantile = float(stdtrit(len(known) - 1, 0.975))
    return Estimate(mean, quantile * math.sqrt(variance / len(known)))


def best_and_ties(values: Mapping[str, Sequence[float]]) -> list[str]:
    """Names with the highest mean: the best first, then those that are tied with it.

    Values are paired by position (the same seed, the same channel). A name is tied with the best if
    the interval of the paired difference includes zero.
    """
    means = {name: estimate(series).mean for name, series in values.items()}
    known = [name for name in values if not math.isnan(means[name])]
    # Where nobody got anything, nobody is the best.
    if not any(means[name] for name in known):
        return []
    best = max(known, key=lambda name: means[name])
    tied = [
        name
        for name in known
        if name != best and paired_difference(values[best], values[name]).includes_zero
    ]
    return [best, *sorted(tied, key=lambda name: -means[name])]


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Mean and interval of `first - second`, pair by pair."""
    return estimate([a - b for a, b in zip(first, second, strict=True)])
