"""Queues before the uplinks of hosts that are captured, by the RTTs of what they upload."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.causes import Cause, names
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, records
from celltcp.pcap.transfers import MIN_TRANSFER_BYTES, client_of, hosts_of, overlaps, payload_of

#: Columns of connections and of intervals that show the queues.
CONNECTION_COLUMNS = [
    *("file", "connection", "client", "server", "direction", "place", "start_ns"),
    *("duration_s", "bytes_up", "bytes_down", "segments_up", "segments_down"),
    *("far_rtt_min_ms", "far_rtt_p95_ms", "near_rtt_p95_ms"),
]
INTERVAL_COLUMNS = ["file", "connection", "up", "t_s", "rtt_mean_ms"]
#: RTTs to the sender of which the least one has no time of its application.
_NEIGHBOURS = 3
#: Maximum time between a packet and the nearest segment of an upload that shows its queue, s.
_MAX_APART_S = 0.5
#: Maximum error of waits, as a share of them and s: RTTs are means over intervals.
_MAX_ERROR, _MAX_ERROR_S = 0.1, 0.02
#: Maximum segments of payload that the other side sends for each of an upload: ACKs that come with them
#: have the time of its application.
_MAX_ANSWERED_SHARE = 0.05

#: Waits as an array or a column.
Waits = TypeVar("Waits", NDArray[np.float64], pd.Series)


class UplinkQueues:
    """Waits of packets of captured hosts behind their own uploads, beyond the lowest RTT."""

    def __init__(self, connections: pd.DataFrame, intervals: pd.DataFrame) -> None:
        """Reads the RTTs of the uploads.

        Args:
            connections: table with `CONNECTION_COLUMNS`.
            intervals: table with `INTERVAL_COLUMNS`.
        """
        uploads = [
            row
            for row in records(connections[CONNECTION_COLUMNS])
            if row["place"] == "sender" and payload_of(row) >= MIN_TRANSFER_BYTES
            if _answered_share(row) <= _MAX_ANSWERED_SHARE
        ]
        indices = (
            intervals.groupby(["file", "connection", "up"], observed=True).indices if uploads else {}
        )
        self._uploads: dict[tuple[Any, str], dict[Hashable, Any]] = {}
        parts: dict[tuple[Any, str], list[NDArray[np.float64]]] = {}
        for row in uploads:
            key = (row["file"], row["connection"], int(row["direction"] == "up"))
            own = intervals.iloc[indices.get(key, [])].dropna(subset=["rtt_mean_ms"])
            rtts_s = own["rtt_mean_ms"].to_numpy(float) / 1e3
            sent_s = row["start_ns"] / 1e9 + own["t_s"].to_numpy(float) + INTERVAL_S / 2 - rtts_s
            waits_s = (rtts_s - row["far_rtt_min_ms"] / 1e3).clip(min=0)
            host = (row["file"], hosts_of(row)[0])
            parts.setdefault(host, []).append(np.array([sent_s, waits_s]))
            self._uploads[host] = max(row, self._uploads.get(host, row), key=payload_of)
        self._waits = {key: _by_time(np.hstack(each)) for key, each in parts.items()}
        self._of_acks: dict[tuple[Any, int], NDArray[np.float64]] = {}

    @classmethod
    def of_tables(cls, tables: Mapping[str, pa.Table]) -> UplinkQueues:
        """Returns the queues that the tables of captures show."""
        names = (("connections", CONNECTION_COLUMNS), ("intervals", INTERVAL_COLUMNS))
        return cls(*(tables[table].select(columns).to_pandas() for table, columns in names))

    def add_ack_queues(self, tables: Mapping[str, pa.Table]) -> None:
        """Adds the waits of connections whose ACKs, or data, wait in a queue that another host fills.

        RTTs to their senders show it, without what the data waited. They are few beside a receiver, and
        those of first bytes have the time of the server.
        """
        rows = [
            row
            for row in records(tables["connections"].to_pandas())
            if row["place"] == "receiver" and row["direction"] == "down"
            if names(row, Cause.ACKS_IN_QUEUE, Cause.STANDING_QUEUE) and not self.has_upload(row)
        ]
        if not rows:
            return
        columns = ["file", "connection", "up", "t_s", "near_rtt_mean_ms"]
        intervals = tables["intervals"].select(columns).to_pandas().dropna()
        indices = intervals.groupby(["file", "connection", "up"], observed=True).indices
        for row in rows:
            own = intervals.iloc[indices.get((row["file"], row["connection"], 0), [])]
            data_ms = np.nan_to_num(row["late_down_p50_ms"])
            rtts_s = own["near_rtt_mean_ms"].to_numpy(float) / 1e3
            sent_s = row["start_ns"] / 1e9 + own["t_s"].to_numpy(float) + INTERVAL_S / 2 - rtts_s
            waits_s = (rtts_s - (row["near_rtt_min_ms"] + data_ms) / 1e3).clip(min=0)
            sent_s, waits_s = _by_time(np.array([sent_s, waits_s]))
            least_s = pd.Series(waits_s).rolling(_NEIGHBOURS, min_periods=1, center=True).min()
            if len(own):
                self._of_acks[row["file"], row["connection"]] = np.array([sent_s, least_s])

    def has_upload(self, row: Mapping[Hashable, Any]) -> bool:
        """Returns whether the client of a connection uploads something at the capture."""
        return (row["file"], client_of(row)) in self._waits

    def largest_upload(self, row: Mapping[Hashable, Any]) -> dict[Hashable, Any] | None:
        """Returns the largest upload of the client during another connection; None without."""
        upload = self._uploads.get((row["file"], client_of(row)))
        return upload if upload is not None and overlaps(upload, row) else None

    def waits_s(
        self,
        row: Mapping[Hashable, Any],
        times_s: NDArray[np.float64] | pd.Series,
        *,
        is_longest: bool = False,
    ) -> NDArray[np.float64]:
        """Returns how much longer an RTT takes for packets of the client of a connection, s.

        Args:
            row: row of the connection.
            times_s: times at which they are sent, since its first packet.
            is_longest: whether to add the error of means over intervals.
        """
        known = self._waits.get((row["file"], client_of(row)))
        if known is None:
            known = self._of_acks.get((row["file"], row["connection"]))
        if known is None or not len(times_s):
            return np.zeros(len(times_s))
        sent_s, waits_s = known
        at_s = row["start_ns"] / 1e9 + np.asarray(times_s, float)
        after = np.searchsorted(sent_s, at_s).clip(max=len(sent_s) - 1)
        apart_s = np.minimum(abs(sent_s[after] - at_s), abs(sent_s[(after - 1).clip(min=0)] - at_s))
        result: NDArray[np.float64] = np.interp(at_s, sent_s, waits_s)
        if is_longest:
            result = result + max_error_s(result)
        return np.where(apart_s <= _MAX_APART_S, result, 0.0)

    def part_s(
        self,
        row: Mapping[Hashable, Any],
        times_s: NDArray[np.float64] | pd.Series,
        delays_s: NDArray[np.float64] | pd.Series,
    ) -> NDArray[np.float64]:
        """Returns the part of delays that packets sent at these times wait: all up to the error, s."""
        waits_s, longest_s = (self.waits_s(row, times_s, is_longest=each) for each in (False, True))
        positive_s = np.nan_to_num(np.asarray(delays_s, float)).clip(min=0)
        result: NDArray[np.float64] = np.where(
            positive_s <= longest_s, positive_s, np.minimum(waits_s, positive_s)
        )
        return result


def max_error_s(waits_s: Waits) -> Waits:
    """Returns the maximum error of waits, by the change of RTTs in an interval, s."""
    return _MAX_ERROR * waits_s + _MAX_ERROR_S


def _answered_share(row: Mapping[Hashable, Any]) -> float:
    other = "down" if row["direction"] == "up" else "up"
    return float(row[f"segments_{other}"]) / float(row[f"segments_{row['direction']}"])


def _by_time(waits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns columns of times and waits in the order of time."""
    return waits[:, np.argsort(waits[0], kind="stable")]
