"""Pauses of clients between calls where the capture is away from them: from ACKs to next requests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

#: Minimum pause that counts, s, if the RTT is shorter: a host needs some time to ask.
_MIN_PAUSE_S = 0.005
_KEYS = ["file", "connection"]


def with_client_pauses(connections: pa.Table, units: pa.Table) -> pa.Table:
    """Returns connections whose waits for the client begin when it has the last byte of a response.

    The ACK of that byte and the next request take the same way to the capture. A wait that begins one
    lowest RTT after the byte has what the response stood in a queue.
    """
    rows = connections.select([*_KEYS, "place", "direction", "far_rtt_min_ms"]).to_pandas()
    rows = rows[(rows["direction"] == "down") & (rows["place"] != "receiver")]
    responses = units.select([*_KEYS, "unit", "start_s", "acked_s"]).to_pandas()
    responses = responses[responses["unit"] == "response"].merge(rows, on=_KEYS)
    if responses.empty:
        return connections
    keys = [responses[key] for key in _KEYS]
    pauses_s = responses["start_s"] - responses.groupby(keys, observed=True)["acked_s"].shift()
    shortest_s = (responses["far_rtt_min_ms"] / 1e3).clip(lower=_MIN_PAUSE_S)
    sums = pauses_s.where(pauses_s >= shortest_s).groupby(keys, observed=True).agg(["count", "sum"])
    index = pd.MultiIndex.from_frame(connections.select(_KEYS).to_pandas())
    for name, column in (("turns_up", "count"), ("turns_up_s", "sum")):
        number = connections.schema.get_field_index(name)
        field = connections.schema.field(number)
        known = sums[column].reindex(index).to_numpy()
        values = np.where(np.isnan(known), connections[name].to_numpy(), known)
        connections = connections.set_column(number, field, pa.array(values).cast(field.type))
    return connections
