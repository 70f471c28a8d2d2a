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


def _of(
    measure: Callable[[Digest, Published], float],
    spread: Callable[[Measured, Published], list[float]] | None = None,
) -> Quantity:
    def values(measured: Measured, entry: Published) -> list[float]:
        return [measure(digest, entry) for digest in measured.digests_of(entry)]

    return Quantity(values, spread, log=True)


def _wasted_per_s(digest: Digest, entry: Published) -> float:
    """Wasted opportunities per second of TTIs whose MCS is in the zone."""
    low, high = entry.zone or (-math.inf, math.inf)
    numbers = np.arange(len(digest.ttis))
    within = (numbers >= low) & (numbers <= high)
    total = digest.ttis[within].sum()
    return float(digest.wasted[within].sum() / (total * digest.tti_s)) if total else math.nan


def _mean(counts: NDArray[Any]) -> float:
    numbers = np.asarray(counts, float)
    return float(numbers @ np.arange(len(numbers)) / numbers.sum()) if numbers.sum() else math.nan


def _deviation(counts: NDArray[Any]) -> float:
    numbers = np.asarray(counts, float)
    places = np.arange(len(numbers))
    if not numbers.sum():
        return math.nan
    mean = _mean(numbers)
    return math.sqrt(float(numbers @ (places - mean) ** 2 / numbers.sum()))


def _stays(step: int) -> Quantity:
    """Share of the blocks with an MCS in the zone that the block `step` later has, too."""

    def measure(digest: Digest, entry: Published) -> float:
        low, high = entry.zone or (0, math.inf)
        pairs = digest.pairs[step - 1]
        rows = [index for index in range(len(pairs)) if low <= index <= high]
        total = pairs[rows].sum()
        return float(sum(pairs[row, row] for row in rows) / total) if total else math.nan

    return _of(measure)


def _cqi_spread(measured: Measured, entry: Published) -> list[float]:
    counts = np.sum([digest.cqi for digest in measured.digests_of(entry)], axis=0)
    return [float(cqi) for cqi, count in enumerate(counts) for _ in range(int(count))]


#: Quantities that need the log of the radio.
OF_BLOCKS: dict[str, Quantity] = {
    "wasted": _of(_wasted_per_s),
    "mcs_mean": _of(lambda digest, _: _mean(digest.pairs[0].sum(axis=1))),
    "mcs_sd": _of(lambda digest, _: _deviation(digest.pairs[0].sum(axis=1))),
    "mcs_stays_1": _stays(1),
    "mcs_stays_2": _stays(2),
    "mcs_stays_3": _stays(3),
    "cqi_mean": _of(lambda digest, _: _mean(digest.cqi), _cqi_spread),
    "cqi_sd": _of(lambda digest, _: _deviation(digest.cqi)),
    "cqi_change": _of(lambda digest, _: digest.cqi_change),
}
