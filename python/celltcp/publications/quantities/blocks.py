"""Quantities of the radio's log: wasted opportunities, MCS from block to block, CQI."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celltcp.publications.digest import Digest
from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity


def _of_digests(
    measure: Callable[[Digest, Published], float],
    distribution: Callable[[Measured, Published], list[float]] | None = None,
) -> Quantity:
    """Returns a measure of the digest of each run."""

    def values(measured: Measured, entry: Published) -> list[float]:
        return [measure(digest, entry) for digest in measured.digests_of(entry)]

    return Quantity(values, distribution, needs_radio_log=True)


def _wasted_per_s(digest: Digest, entry: Published) -> float:
    """Returns wasted opportunities per second of TTIs, with MCS in the zone."""
    low, high = entry.zone or (-math.inf, math.inf)
    mcs = np.arange(len(digest.ttis))
    is_in_zone = (mcs >= low) & (mcs <= high)
    total = digest.ttis[is_in_zone].sum()
    return float(digest.wasted[is_in_zone].sum() / (total * digest.tti_s)) if total else math.nan


def _mean(counts: NDArray[Any]) -> float:
    """Returns the mean of indices with these counts."""
    weights = np.asarray(counts, float)
    return float(weights @ np.arange(len(weights)) / weights.sum()) if weights.sum() else math.nan


def _deviation(counts: NDArray[Any]) -> float:
    """Returns the standard deviation of indices with these counts."""
    weights = np.asarray(counts, float)
    if not weights.sum():
        return math.nan
    distances = np.arange(len(weights)) - _mean(weights)
    return math.sqrt(float(weights @ distances**2 / weights.sum()))


def _same_mcs(lag: int) -> Quantity:
    """Returns the share of the blocks with MCS in the zone whose MCS the block `lag` later has, too."""

    def measure(digest: Digest, entry: Published) -> float:
        low, high = entry.zone or (0, math.inf)
        pairs = digest.pairs[lag - 1]
        mcs_in_zone = [mcs for mcs in range(len(pairs)) if low <= mcs <= high]
        total = pairs[mcs_in_zone].sum()
        return float(sum(pairs[mcs, mcs] for mcs in mcs_in_zone) / total) if total else math.nan

    return _of_digests(measure)


def _cqi_values(measured: Measured, entry: Published) -> list[float]:
    counts = np.sum([digest.cqi for digest in measured.digests_of(entry)], axis=0)
    return [float(cqi) for cqi, count in enumerate(counts) for _ in range(int(count))]


#: Quantities that need the log of the radio.
OF_BLOCKS: dict[str, Quantity] = {
    "wasted": _of_digests(_wasted_per_s),
    "mcs_mean": _of_digests(lambda digest, _: _mean(digest.pairs[0].sum(axis=1))),
    "mcs_sd": _of_digests(lambda digest, _: _deviation(digest.pairs[0].sum(axis=1))),
    "mcs_stays_1": _same_mcs(1),
    "mcs_stays_2": _same_mcs(2),
    "mcs_stays_3": _same_mcs(3),
    "cqi_mean": _of_digests(lambda digest, _: _mean(digest.cqi), _cqi_values),
    "cqi_sd": _of_digests(lambda digest, _: _deviation(digest.cqi)),
    "cqi_change": _of_digests(lambda digest, _: digest.cqi_change),
}
