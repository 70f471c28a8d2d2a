"""Queues that transfers of different clients share, by RTTs that rise and fall together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import INTERVAL_S
from celltcp.pcap.opposite import hosts_of
from celltcp.pcap.shared_queue import client_of, may_share, transfers_of

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


class CommonQueues:
    """RTTs of captured transfers over time, which show those of other clients in the same queue."""

    def __init__(self, connections: pd.DataFrame, intervals: pd.DataFrame) -> None:
        """Indexes the intervals; RTTs are read once they are compared.

        Args:
            connections: table of connections.
            intervals: their intervals, with `t_s`, `acked_bytes` and mean RTTs.
        """
        self._connections, self._intervals = connections, intervals
        keys = ["file", "connection", "up"]
        many = len(connections) > 1
        self._indices = intervals.groupby(keys, observed=True).indices if many else {}
        self._series: dict[Hashable, pd.DataFrame] = {}

    def others(self, row: Mapping[Hashable, Any]) -> list[dict[Hashable, Any]]:
        """Returns the transfers of other clients in the queue of another one, meanwhile."""
        return [
            other
            for other in transfers_of(self._connections, row)
            if client_of(other) != client_of(row) and hosts_of(other)[0] != hosts_of(row)[1]
            if may_share(other, row) and self._rise_together(row, other)
        ]

    def _rise_together(self, row: Mapping[Hashable, Any], other: Mapping[Hashable, Any]) -> bool:
        """Returns whether two transfers have the same changes of RTTs, and divide a rate meanwhile."""
        own, others = self._by_time(row), self._by_time(other)
        times, places, other_places = np.intersect1d(own.index, others.index, return_indices=True)
        own, others = own.iloc[places], others.iloc[other_places]
        rates = [each["rate"].to_numpy(float) for each in (own, others)]
        total = rates[0] + rates[1]
        is_known = total > 0
        shares = rates[0][is_known] / total[is_known]
        if not len(shares):
            return False
        smaller = min(shares.mean(), 1 - shares.mean())
        delays_ms = [each["rtt_ms"].to_numpy(float) for each in (own, others)]
        are_equal = _common_variance(times // _BLOCK, *delays_ms) >= _MIN_COMMON_VARIANCE
        return bool(are_equal and shares.std() >= _MIN_SHARE_VARIATION * smaller)

    def _by_time(self, row: Mapping[Hashable, Any]) -> pd.DataFrame:
        """Returns RTT, ms, and rate, bytes per second, of intervals with an RTT, by their number."""
        key = (row["file"], row["connection"], int(row["direction"] == "up"))
        if key not in self._series:
            table = self._intervals.iloc[self._indices.get(key, [])]
            numbers = ((table["t_s"] + row["start_ns"] / 1e9) / INTERVAL_S).round().astype(int)
            side = "near_rtt_mean_ms" if row["place"] == "receiver" else "rtt_mean_ms"
            rate = table["acked_bytes"].rolling(_RATE_INTERVALS).mean() / INTERVAL_S
            result = pd.DataFrame({"rtt_ms": table[side], "rate": rate}).set_axis(numbers).dropna()
            self._series[key] = result[~result.index.duplicated()]
        return self._series[key]


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
