"""Waits of responses in queues that stand before they come, by the first RTTs of their data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import INTERVAL_S
from celltcp.pcap.transfers import Transfers, payload_of
from celltcp.pcap.uplink_queues import max_error_s

#: Columns of intervals that are needed.
INTERVAL_COLUMNS = ["file", "connection", "up", "t_s", "rtt_mean_ms", "rtt_max_ms"]
#: Minimum queue, ms and as a share of the lowest RTT.
_MIN_QUEUE_MS, _MIN_QUEUE_SHARE = 5.0, 0.1
#: Minimum share of responses in the queue of another transfer that wait as long as its data, and
#: maximum difference of these waits, in errors of one.
_MIN_COMMON, _MAX_ERRORS = 0.8, 2


class QueueWaits:
    """Waits of first data of responses beyond the lowest RTT: queues of others.

    A sender that had nothing in flight before has no part in the queue that these find. They show where
    ACKs come back to the capture, away from the client.
    """

    def __init__(self, transfers: Transfers, intervals: pd.DataFrame) -> None:
        """Reads the RTTs.

        Args:
            transfers: transfers of the captures.
            intervals: rows with `INTERVAL_COLUMNS`.
        """
        known = intervals[intervals["rtt_mean_ms"].notna()]
        self._intervals = dict(iter(known.groupby(["file", "connection", "up"], observed=True)))
        self._transfers = transfers

    def with_waits(self, units: pd.DataFrame, row: Mapping[Hashable, Any]) -> pd.DataFrame:
        """Returns responses of a connection with their waits in a queue at first byte and round trips.

        `waits_s` is that of the first data, and `filler` the number of the connection that fills it.
        """
        waits_s, are_alone = self._waits_s(units, row)
        number, others_s = self._filler(units["first_s"].to_numpy(float), waits_s, are_alone, row)
        waits_s = np.where(are_alone, waits_s, np.maximum(waits_s, others_s))
        count = units["round_trips"].to_numpy(float)
        # A further round trip is the RTT of the first data: what exceeds the lowest one is the queue.
        beyond_s = (units["round_trips_s"] - count * units["rtt_s"]).to_numpy(float).clip(min=0)
        each_s = beyond_s / count.clip(min=1)
        is_wait = (waits_s > 0) & (each_s <= waits_s + _MAX_ERRORS * max_error_s(waits_s))
        waits_s = np.where(is_wait, np.maximum(waits_s, each_s), waits_s)
        return units.assign(
            waits_s=waits_s,
            filler=np.where((others_s > 0) & (waits_s > 0), number, ""),
            round_trips_s=units["round_trips_s"] - np.minimum(count * waits_s, beyond_s),
            first_byte_s=units["first_byte_s"] + waits_s,
        )

    def _waits_s(
        self, units: pd.DataFrame, row: Mapping[Hashable, Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Returns how long the first data of responses wait in a queue, s, and which show it alone.

        RTTs of a flight grow evenly by the queue that it makes itself: the first is as far below their
        mean as the last is above it. Those soon after another response have RTTs of that beside theirs.
        """
        own = self._of(row)
        if own is None or row["place"] == "receiver" or not len(units):
            return np.zeros(len(units)), np.ones(len(units), bool)
        starts_s = own["t_s"].to_numpy(float)
        # No ACK comes before the lowest RTT has passed.
        least_s = units["first_s"].to_numpy(float) + float(row["far_rtt_min_ms"]) / 1e3
        first = np.searchsorted(starts_s + INTERVAL_S, least_s, "right")
        at = first.clip(max=len(own) - 1)
        has_rtt = (first < len(own)) & (starts_s[at] <= units["acked_s"].to_numpy(float))
        has_rtt &= units["up"].to_numpy() == int(row["direction"] == "up")
        are_alone = (starts_s[at] >= units["acked_s"].shift().fillna(0).to_numpy(float)) & has_rtt
        firsts_ms = (2 * own["rtt_mean_ms"] - own["rtt_max_ms"]).to_numpy(float)[at]
        beyond_ms = firsts_ms - float(row["far_rtt_min_ms"])
        is_queue = are_alone & (beyond_ms >= least_queue_ms(row))
        return np.where(is_queue, beyond_ms / 1e3, 0.0), are_alone

    def _filler(
        self,
        times_s: NDArray[np.float64],
        waits_s: NDArray[np.float64],
        are_alone: NDArray[np.bool_],
        row: Mapping[Hashable, Any],
    ) -> tuple[str, NDArray[np.float64]]:
        """Returns the number of the transfer that fills the queue, if any, and waits of its data, s.

        Whoever its client is, responses beside its queue wait as long as its data.

        Args:
            times_s: times of the first data of responses, since the first packet of the connection.
            waits_s: how long these wait in a queue.
            are_alone: which show that alone.
            row: row of the connection.
        """
        best, most, best_s = "", 0, np.zeros(len(times_s))
        for other in self._transfers.in_direction(row):
            rtts = self._of(other)
            if rtts is None or other["place"] != row["place"] or payload_of(other) <= payload_of(row):
                continue
            lag_s = (int(row["start_ns"]) - int(other["start_ns"])) / 1e9
            acked_s = times_s + waits_s + float(row["far_rtt_min_ms"]) / 1e3 + lag_s
            at_s = rtts["t_s"].to_numpy(float) + INTERVAL_S / 2
            beyond_s = (rtts["rtt_mean_ms"].to_numpy(float) - float(other["far_rtt_min_ms"])) / 1e3
            other_s = np.interp(acked_s, at_s, beyond_s, left=0.0, right=0.0)
            other_s[other_s < least_queue_ms(other) / 1e3] = 0.0
            is_near = abs(other_s - waits_s) <= _MAX_ERRORS * max_error_s(other_s)
            is_shown = (other_s > 0) & are_alone
            common = int((is_shown & is_near & (waits_s > 0)).sum())
            if common > most and common >= _MIN_COMMON * is_shown.sum():
                best, most, best_s = str(other["connection"]), common, other_s
        return best, best_s

    def _of(self, row: Mapping[Hashable, Any]) -> pd.DataFrame | None:
        key = (row["file"], row["connection"], int(row["direction"] == "up"))
        return self._intervals.get(key)


def least_queue_ms(row: Mapping[Hashable, Any]) -> float:
    """Returns the least wait of a connection that is a queue, ms beyond its lowest RTT."""
    return max(_MIN_QUEUE_MS, _MIN_QUEUE_SHARE * float(row["rtt_min_ms"]))
