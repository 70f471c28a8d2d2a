"""Queues that transfers of different clients share, by RTTs that rise and fall together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import INTERVAL_S
from celltcp.pcap.shared_queue import may_share
from celltcp.pcap.transfers import Transfers, client_of, hosts_of

#: Intervals of a block: changes of RTTs are those within blocks, as slow ones may go along by chance.
#: Minimum number of such blocks.
_BLOCK, _MIN_BLOCKS = 20, 4
#: Minimum share of the variance of one RTT that another one has, too.
_MIN_COMMON_VARIANCE = 0.8
#: Minimum coefficient of variation of the smaller share of two transfers in what both carry: each on
#: an own link has that of the links, and equal ones may have equal RTTs.
_MIN_SHARE_VARIATION = 0.02
#: Intervals over which a rate is a mean.
_RATE_INTERVALS = 10


class _Series(NamedTuple):
    """RTTs and rates of a transfer in intervals with an RTT, in the order of their numbers."""

    #: Numbers of the intervals since the epoch, shape (intervals,).
    numbers: NDArray[np.int64]
    #: Mean RTTs, ms, and rates, bytes per second, shape (intervals,).
    rtts_ms: NDArray[np.float64]
    rates: NDArray[np.float64]


class CommonQueues:
    """RTTs of captured transfers over time, which show those of other clients in the same queue."""

    def __init__(self, transfers: Transfers, intervals: pd.DataFrame) -> None:
        """Reads nothing yet; RTTs are read once they are compared.

        Args:
            transfers: transfers of the captures.
            intervals: their intervals, with `t_s`, `acked_bytes` and mean RTTs.
        """
        self._transfers, self._intervals = transfers, intervals
        self._series: dict[Hashable, _Series] = {}
        self._pairs: dict[frozenset[Hashable], bool] = {}

    def others(self, row: Mapping[Hashable, Any]) -> list[dict[Hashable, Any]]:
        """Returns the transfers of other clients in the queue of another one, meanwhile."""
        return [
            other
            for other in self._transfers.in_direction(row)
            if client_of(other) != client_of(row) and hosts_of(other)[0] != hosts_of(row)[1]
            if may_share(other, row) and self._rise_together(row, other)
        ]

    @cached_property
    def _indices(self) -> Mapping[Hashable, Any]:
        """Rows of the intervals of each transfer."""
        return self._intervals.groupby(["file", "connection", "up"], observed=True).indices

    def _rise_together(self, row: Mapping[Hashable, Any], other: Mapping[Hashable, Any]) -> bool:
        """Returns whether two transfers have the same changes of RTTs, and divide a rate meanwhile."""
        pair = frozenset({_key(row), _key(other)})
        if pair not in self._pairs:
            self._pairs[pair] = _have_one_queue(self._by_time(row), self._by_time(other))
        return self._pairs[pair]

    def _by_time(self, row: Mapping[Hashable, Any]) -> _Series:
        """Returns RTTs and rates of a transfer, without second intervals of one number."""
        key = _key(row)
        if key not in self._series:
            table = self._intervals.iloc[self._indices.get(key, [])]
            numbers = ((table["t_s"] + row["start_ns"] / 1e9) / INTERVAL_S).round().to_numpy(np.int64)
            side = "near_rtt_mean_ms" if row["place"] == "receiver" else "rtt_mean_ms"
            rates = (table["acked_bytes"].rolling(_RATE_INTERVALS).mean() / INTERVAL_S).to_numpy(float)
            rtts_ms = table[side].to_numpy(float)
            is_known = ~(np.isnan(rates) | np.isnan(rtts_ms))
            known, first = np.unique(numbers[is_known], return_index=True)
            self._series[key] = _Series(known, rtts_ms[is_known][first], rates[is_known][first])
        return self._series[key]


def _key(row: Mapping[Hashable, Any]) -> Hashable:
    """Returns the values by which the intervals of the sender of a connection are found."""
    return row["file"], row["connection"], int(row["direction"] == "up")


def _have_one_queue(own: _Series, others: _Series) -> bool:
    """Returns whether two transfers have the same changes of RTTs, and divide a rate meanwhile."""
    numbers, places, other_places = np.intersect1d(
        own.numbers, others.numbers, assume_unique=True, return_indices=True
    )
    rates, other_rates = own.rates[places], others.rates[other_places]
    total = rates + other_rates
    is_known = total > 0
    shares = rates[is_known] / total[is_known]
    if not len(shares):
        return False
    smaller = min(shares.mean(), 1 - shares.mean())
    variance = _common_variance(numbers // _BLOCK, own.rtts_ms[places], others.rtts_ms[other_places])
    are_equal = variance >= _MIN_COMMON_VARIANCE
    return bool(are_equal and shares.std() >= _MIN_SHARE_VARIATION * smaller)


def _common_variance(
    blocks: NDArray[np.int64], own_ms: NDArray[np.float64], others_ms: NDArray[np.float64]
) -> float:
    """Returns the share of the variance of RTTs within blocks that two transfers have in common.

    The block with most of it counts for nothing: at their start, all transfers fill their queues.
    """
    _, indices = np.unique(blocks, return_inverse=True)
    counts = np.bincount(indices)

    def squares(values: NDArray[np.float64]) -> NDArray[np.float64]:
        means = np.bincount(indices, values) / counts
        return np.bincount(indices, (values - means[indices]) ** 2).astype(float)

    most = np.maximum(squares(own_ms), squares(others_ms))
    if len(most) < _MIN_BLOCKS or np.sort(most)[:-1].sum() == 0:
        return 0.0
    is_counted = np.arange(len(most)) != most.argmax()
    different = squares(own_ms - others_ms)[is_counted].sum()
    return float(1 - different / most[is_counted].sum())
