"""Times in which requests and responses pass at the rate that the link has then, beside others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import INTERVAL_S, path_rtts_ms
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.transfers import client_of
from celltcp.pcap.units.queue_waits import least_queue_ms

#: Columns of intervals that are needed.
INTERVAL_COLUMNS = [
    *("file", "connection", "up", "t_s", "acked_bytes", "rtt_mean_ms", "near_rtt_mean_ms"),
]


class LinkTimes:
    """Parts of the time for which each connection had its link, by what all of a client had of it."""

    def __init__(self, connections: pd.DataFrame, intervals: pd.DataFrame) -> None:
        keys = ["file", "connection"]
        clients = [client_of(row) for row in connections[["client"]].to_dict("records")]
        own = connections[[*keys, "start_ns"]].assign(client=clients)
        rows = intervals[intervals["acked_bytes"] > 0].merge(own, on=keys)
        number = np.rint((rows["start_ns"] / 1e9 + rows["t_s"]) / INTERVAL_S)
        joint = rows.groupby([rows["file"], rows["client"], rows["up"], number], observed=True)
        rows["share"] = rows["acked_bytes"] / joint["acked_bytes"].transform("sum")
        self._rows = dict(iter(rows.groupby([*keys, "up"], observed=True)))

    def of_responses(self, units: pd.DataFrame, row: Mapping[Hashable, Any]) -> NDArray[np.float64]:
        """Returns the times in which the responses of a connection passed on a link with a queue, s.

        Of uploads it is that of the requests. Others on the link take the rest of the time: what waits
        for them waits in the queue.
        """
        up = int(row["direction"] == "up")
        own = self._rows.get((row["file"], row["connection"], up))
        if own is None:
            return np.zeros(len(units))
        least_ms = float(row["rtt_min_ms"]) + least_queue_ms(row)
        # Beside the receiver, samples of a queue that begins come as late as it is long.
        is_queued = path_rtts_ms(own, str(row["place"])).bfill().ffill() >= least_ms
        sums_s = INTERVAL_S * np.cumsum(own["share"].where(is_queued, 0).to_numpy(float))
        starts_s = own["t_s"].to_numpy(float)
        times_s = np.column_stack([starts_s, starts_s + INTERVAL_S]).ravel()
        totals_s = np.column_stack([np.append(0.0, sums_s[:-1]), sums_s]).ravel()
        since_s, until_s = (
            np.interp(units[name].to_numpy(float), times_s, totals_s)
            for name in (("start_s", "requested_s") if up else ("first_s", "end_s"))
        )
        result: NDArray[np.float64] = np.nan_to_num(until_s - since_s).clip(min=0.0)
        rate = link_rate(row)
        if rate is None or up:
            return result
        # Behind data of others, even of clients elsewhere, only its own bytes pass at the rate.
        own_s = 8e-6 * units["bytes"].to_numpy(float) / rate.mbps
        return np.where(units["filler"] != "", np.minimum(result, own_s), result)
