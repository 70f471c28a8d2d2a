"""Leftovers: losses of a full queue that no RTT near them shows, next to others that do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import Evidence, records

#: Minimum episodes of losses at a short queue at which they are random; fewer against those of a full
#: queue look like leftovers of these, and so do some beside four times as many.
_SEVERAL = 3
_CLEARLY = 4
#: Rule that tells their kind, in the column `reason`.
_REASON = "others of its round trip were lost in a full queue"


def with_leftovers(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the tables with leftovers of full queues as congestion, in losses and in their counts.

    A few of them would be a rate of random loss that turns a comparison of CCAs round.
    """
    columns = ("file", "connection", "losses_random", "losses_congestion")
    rows = zip(*(tables["connections"][name].to_pylist() for name in columns), strict=True)
    mixed = {
        (file, connection)
        for file, connection, random, congestion in rows
        if 0 < _CLEARLY * random <= congestion
    }
    if not mixed:
        return dict(tables)
    losses = tables["losses"].to_pandas()
    connections = tables["connections"].to_pandas()
    intervals = tables["intervals"].slice(0, 0).to_pandas()
    places = losses.groupby(["file", "connection"], observed=True).indices
    moved = np.zeros(len(losses), bool)
    counts = np.zeros(len(connections), np.int64)
    for index, row in enumerate(records(connections)):
        key = (row["file"], row["connection"])
        if key in mixed:
            own = losses.iloc[places[key]]
            chosen = _leftovers(Evidence(row, own, intervals))
            moved[places[key]] = chosen
            counts[index] = int(chosen.sum())
    kind = np.where(moved, "congestion", losses["kind"].astype(str))
    reason = np.where(moved, _REASON, losses["reason"].astype(str))
    result = dict(tables)
    result["losses"] = _replaced(tables["losses"], {"kind": kind, "reason": reason})
    changed = {
        name: connections[name].to_numpy(np.int64) + sign * counts
        for name, sign in (("losses_random", -1), ("losses_congestion", 1))
    }
    result["connections"] = _replaced(tables["connections"], changed)
    return result


def are_few(own: Sequence[Episode]) -> bool:
    """Returns whether episodes at short queues are too few, against those of full ones, for a rate.

    They look like leftovers of these.
    """
    full = [episode for episode in own if episode.queue == "full"]
    short = [episode for episode in own if episode.queue == "short" and not episode.is_tail]
    return bool(full) and (len(short) < _SEVERAL or len(full) >= _CLEARLY * len(short))


def _leftovers(evidence: Evidence) -> NDArray[np.bool_]:
    """Returns which losses of a connection are leftovers: few, in round trips of a full queue."""
    own = evidence.episodes
    if not are_few(own):
        return np.zeros(len(evidence.losses), bool)
    full = [episode for episode in own if episode.queue == "full"]
    # Behind the capture, the RTT at a loss is that of its own time, and shows that it was random.
    losses = evidence.losses
    is_random = ((losses["kind"] == "random") & (losses["is_upstream"] == 1)).to_numpy()
    times = evidence.losses["t_s"]
    within = np.zeros(len(times), bool)
    for episode in full:
        within |= times.between(episode.start_s, episode.start_s + episode.span_s).to_numpy()
    return within & is_random


def _replaced(table: pa.Table, columns: Mapping[str, NDArray[np.generic]]) -> pa.Table:
    """Returns a table with other values in some columns."""
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        table = table.set_column(place, field, pa.array(values, field.type))
    return table
