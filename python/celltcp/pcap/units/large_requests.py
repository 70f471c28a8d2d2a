"""Requests that are larger than their responses, as uploads of pictures: their sizes, pauses and waits.

The client sends most of the payload, and waits for each response before it sends the next request.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Minimum number of responses, and maximum share of them that overlap with data of the client.
_MIN_RESPONSES, _MAX_OVERLAPPED = 3, 0.5
#: Maximum time by which a response may come within the RTT between capture and server, s.
_MAX_EARLY_S = 0.001
#: Minimum share of requests of one size, which is then that of all.
_MIN_EQUAL = 0.5


class LargeRequests(NamedTuple):
    """Requests of a client, one at a time: their number, sizes in bytes, and times in s."""

    number: int
    request_bytes: int
    response_bytes: int
    #: Median time of the server until its response.
    think_s: float
    #: Mean pause of the client between a response and the next request.
    gap_s: float

    @property
    def workload(self) -> str:
        """The application of the flow from server to client, as TOML."""
        return (
            f'workload = {{ kind = "request-response", request = "{self.request_bytes}B", '
            f'response = "{self.response_bytes}B", think = "{self.think_s:.3f}s", '
            f'gap = "{self.gap_s:.3f}s", count = {self.number} }}'
        )


def large_requests(
    row: Mapping[Hashable, Any], units: pd.DataFrame, intervals: pd.DataFrame
) -> LargeRequests | None:
    """Returns the requests of a connection whose client sends most; None without any.

    Args:
        row: the connection.
        units: its units of work.
        intervals: intervals of the data of its client.
    """
    responses = units[units["unit"] == "response"]
    number = len(responses)
    if row["direction"] != "up" or number < _MIN_RESPONSES:
        return None
    server_s, client_s = (np.nan_to_num(row[f"{side}_rtt_min_ms"]) / 1e3 for side in ("far", "near"))
    waits_s = responses["first_s"] - responses["requested_s"]
    is_early = waits_s + _MAX_EARLY_S < server_s
    are_overlapped = (responses["requests"] > 1) | is_early
    # A server that speaks first is the one that asks.
    before = int(row["bytes_down"]) - int(responses["bytes"].sum())
    if are_overlapped.mean() > _MAX_OVERLAPPED or before >= responses["bytes"].median():
        return None
    # The last byte goes to the client, and the next request comes from it through its queue.
    starts_s = responses["start_s"].shift(-1)
    pauses_s = starts_s - responses["last_s"] - client_s - _queued_s(starts_s, intervals, row)
    think_s = max(float((waits_s - server_s).min()), 0.0)
    is_whole = responses["losses"] == 0
    return LargeRequests(
        number,
        _size(responses["request_bytes"], int(row["bytes_up"]) / number),
        _size(responses["bytes"], int(row["bytes_down"]) / number),
        # Repairs are a part of the waits behind losses, of which the shortest may have none.
        float(responses["server_s"][is_whole].median() if is_whole.any() else think_s),
        max(float(pauses_s.mean()), 0.0),
    )


def _size(sizes: pd.Series, mean: float) -> int:
    """Returns the size that most have, bytes, else a mean, with what was lost before the capture."""
    usual = sizes.median()
    return round(float(usual) if (sizes == usual).mean() >= _MIN_EQUAL else mean)


def _queued_s(
    starts_s: pd.Series, intervals: pd.DataFrame, row: Mapping[Hashable, Any]
) -> NDArray[np.float64]:
    """Returns the waits of first packets before the capture, s, by RTTs of data that follow them."""
    known = intervals[intervals["near_rtt_mean_ms"].notna()].sort_values("t_s")
    if known.empty:
        return np.zeros(len(starts_s))
    # The interval of a start has data that echo the response, and others behind it.
    places = np.searchsorted(known["t_s"].to_numpy(float), starts_s.to_numpy(float))
    rtts_ms = known["near_rtt_mean_ms"].to_numpy(float)[places.clip(max=len(known) - 1)]
    queued_s: NDArray[np.float64] = (rtts_ms - float(row["near_rtt_min_ms"])) / 1e3
    return queued_s.clip(min=0.0)
