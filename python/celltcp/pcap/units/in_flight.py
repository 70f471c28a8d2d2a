"""Time of senders whose data are all in flight: no window, pacing or buffer holds any back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from celltcp.pcap.diagnosis.evidence import records
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.pcap.outcome import IN_FLIGHT_COLUMN

_KEYS = ["file", "connection"]


def with_all_in_flight(connections: pa.Table, units: pa.Table) -> pa.Table:
    """Returns connections whose share `limit_network` has no time in which all data were in flight.

    That is the time from the last segment of a unit of work to its ACK, or to the next unit. A response
    has none behind it that could wait; of messages, those at regular times wait for no window.
    """
    rows = connections.to_pandas()
    rows = rows[rows["limit_network"] > 0]
    names = [*_KEYS, "unit", "up", "is_part", "first_s", "last_s", "acked_s", "retransmissions"]
    own = units.select(names).to_pandas().merge(rows[[*_KEYS, "direction"]], on=_KEYS)
    own = own[(own["up"] == 1) == (own["direction"] == "up")].sort_values([*_KEYS, "first_s"])
    next_s = own.groupby(_KEYS, observed=True)["first_s"].shift(-1)
    times_s = (own["acked_s"].clip(upper=next_s.fillna(np.inf)) - own["last_s"]).clip(lower=0)
    are_whole = (own["retransmissions"] == 0) & (own["is_part"] == 0)
    streams = {
        (row["file"], row["connection"]) for row in records(rows) if messages_of(row) is not None
    }
    keys = pd.MultiIndex.from_frame(own[_KEYS])
    are_sent = (own["unit"] == "response") | keys.isin(list(streams))
    counted_s = times_s.where(are_whole & are_sent, 0.0)
    in_flight_s = counted_s.groupby([own[key] for key in _KEYS], observed=True).sum()
    all_rows = connections.select([*_KEYS, "limit_network", "download_s"]).to_pandas()
    waited_s = in_flight_s.reindex(pd.MultiIndex.from_frame(all_rows[_KEYS])).fillna(0.0).to_numpy()
    network = all_rows["limit_network"].to_numpy(float)
    shares = np.minimum(waited_s / all_rows["download_s"].clip(lower=1e-9).to_numpy(float), network)
    index = connections.schema.get_field_index("limit_network")
    rest = pa.array(network - shares, pa.float64())
    connections = connections.set_column(index, connections.schema.field(index), rest)
    ((name, meaning),) = IN_FLIGHT_COLUMN.items()
    field: pa.Field[Any] = pa.field(name, pa.float64(), metadata={"meaning": meaning})
    return connections.append_column(field, pa.array(shares, pa.float64()))
