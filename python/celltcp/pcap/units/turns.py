"""Times that applications take for their turns: clients between calls, and servers for answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa

from celltcp.pcap.diagnosis.evidence import records
from celltcp.pcap.uplink_queues import UplinkQueues

#: Minimum time that counts, s, if the RTT is shorter: a host needs some time to ask, or to answer.
_MIN_TURN_S = 0.005
_KEYS = ["file", "connection"]


def with_client_turns(connections: pa.Table, units: pa.Table) -> pa.Table:
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
    shortest_s = (responses["far_rtt_min_ms"] / 1e3).clip(lower=_MIN_TURN_S)
    return _with_turns(connections, responses, pauses_s.where(pauses_s >= shortest_s), "up")


def with_server_turns(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Returns connections whose waits for the server have no time that requests took to it.

    A request waits behind what its client uploads, as the segments of the upload do, and after a loss.
    """
    connections, queues = tables["connections"], UplinkQueues.of_tables(tables)
    rows = [
        row for row in records(connections.to_pandas()) if queues.has_upload(row) and row["turns_down"]
    ]
    if not rows:
        return connections
    units, losses = (tables[name].to_pandas() for name in ("units", "losses"))
    units = units[units["unit"] == "response"]
    unit_indices, loss_indices = (
        each.groupby(_KEYS, observed=True).indices for each in (units, losses[losses["up"] == 1])
    )
    losses = losses[losses["up"] == 1]
    parts = []
    for row in rows:
        key = tuple(row[name] for name in _KEYS)
        own = units.iloc[unit_indices.get(key, [])]
        lost = losses.iloc[loss_indices.get(key, [])]
        taken_s = own["first_s"] - own["requested_s"] - queues.waits_s(row, own["requested_s"])
        for t_s, repaired_s in zip(lost["t_s"], lost["repaired_s"], strict=True):
            taken_s -= (
                own["first_s"].clip(upper=repaired_s) - own["requested_s"].clip(lower=t_s)
            ).clip(lower=0)
        rtt_s = row["rtt_min_ms"] / 1e3
        parts.append(own.assign(turn_s=(taken_s - rtt_s).where(taken_s >= rtt_s + _MIN_TURN_S)))
    responses = pd.concat(parts)
    return _with_turns(connections, responses, responses["turn_s"], "down")


def _with_turns(
    connections: pa.Table, units: pd.DataFrame, turns_s: pd.Series, direction: str
) -> pa.Table:
    """Returns connections with number and sum of turns: those of units of work, where there are any."""
    keys = [units[key] for key in _KEYS]
    sums = turns_s.groupby(keys, observed=True).agg(["count", "sum"])
    index = pd.MultiIndex.from_frame(connections.select(_KEYS).to_pandas())
    for name, column in ((f"turns_{direction}", "count"), (f"turns_{direction}_s", "sum")):
        number = connections.schema.get_field_index(name)
        field = connections.schema.field(number)
        known = sums[column].reindex(index).to_numpy()
        values = np.where(np.isnan(known), connections[name].to_numpy(), known)
        connections = connections.set_column(number, field, pa.array(values).cast(field.type))
    return connections
