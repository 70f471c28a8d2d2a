"""Losses of other kinds than the RTT near them shows: in a blackout, or leftovers of a full queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.pcap.blackouts import are_in_blackouts
from celltcp.pcap.diagnosis import INTERVAL_COLUMNS
from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import Evidence, records

#: Fewer episodes at a short queue than this are leftovers, if there are any at a full queue.
_MIN_EPISODES = 3
#: Minimum ratio of losses at a full queue to others at which the others are leftovers.
_MIN_FULL_RATIO = 4
#: Value of the column `reason` for leftovers.
_REASON = "others of its round trip were lost in a full queue"
#: That of losses in blackouts, and kinds of losses.
_BLACKOUT_REASON = "nothing passed of what was sent at its time"
_KINDS = ("congestion", "random", "tail", "outage")


def reclassify_leftovers(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the tables with leftovers as losses by congestion, and with their counts.

    Taken for random losses, even a few would decide a comparison of CCAs on the estimated path.
    """
    columns = ("file", "connection", "losses_random", "losses_congestion")
    rows = zip(*(tables["connections"][name].to_pylist() for name in columns), strict=True)
    mixed_keys = {
        (file, connection) for file, connection, random, congestion in rows if random and congestion
    }
    if not mixed_keys:
        return dict(tables)
    losses = tables["losses"].to_pandas()
    connections = tables["connections"].to_pandas()
    intervals = tables["intervals"].slice(0, 0).to_pandas()
    row_indices = losses.groupby(["file", "connection"], observed=True).indices
    is_leftover = np.zeros(len(losses), bool)
    counts = np.zeros(len(connections), np.int64)
    for index, row in enumerate(records(connections)):
        key = (row["file"], row["connection"])
        if key in mixed_keys:
            evidence = Evidence(row, losses.iloc[row_indices[key]], intervals)
            is_leftover[row_indices[key]] = _find_leftovers(evidence)
            counts[index] = int(is_leftover[row_indices[key]].sum())
    kind = np.where(is_leftover, "congestion", losses["kind"].astype(str))
    reason = np.where(is_leftover, _REASON, losses["reason"].astype(str))
    changed_counts = {
        name: connections[name].to_numpy(np.int64) + sign * counts
        for name, sign in (("losses_random", -1), ("losses_congestion", 1))
    }
    return {
        **tables,
        "losses": _with_columns(tables["losses"], {"kind": kind, "reason": reason}),
        "connections": _with_columns(tables["connections"], changed_counts),
    }


def reclassify_in_blackouts(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the tables with all losses in blackouts as losses by outage, and with their counts.

    A queue that is full when a blackout begins overflows only because nothing passes.
    """
    connections = tables["connections"].to_pandas()
    is_mixed = connections["losses_outage"].between(1, connections["losses"] - 1)
    if not is_mixed.any():
        return dict(tables)
    losses = tables["losses"].to_pandas()
    intervals = tables["intervals"].select([*INTERVAL_COLUMNS, "rtt_max_ms"]).to_pandas()
    keys = ["file", "connection"]
    loss_rows, interval_rows = (
        table.groupby(keys, observed=True).indices for table in (losses, intervals)
    )
    kind, reason = (losses[name].astype(str).to_numpy(object) for name in ("kind", "reason"))
    counts = {name: connections[f"losses_{name}"].to_numpy(np.int64, copy=True) for name in _KINDS}
    for index, row in enumerate(records(connections[is_mixed])):
        key = (row["file"], row["connection"])
        own = np.asarray(loss_rows[key])
        evidence = Evidence(row, losses.iloc[own], intervals.iloc[interval_rows[key]])
        changed = own[are_in_blackouts(evidence)]
        place = int(np.flatnonzero(is_mixed)[index])
        for name in _KINDS:
            counts[name][place] -= int((kind[changed] == name).sum())
        counts["outage"][place] += len(changed)
        reason[changed[kind[changed] != "outage"]] = _BLACKOUT_REASON
        kind[changed] = "outage"
    columns = {f"losses_{name}": values for name, values in counts.items()}
    return {
        **tables,
        "losses": _with_columns(tables["losses"], {"kind": kind, "reason": reason}),
        "connections": _with_columns(tables["connections"], columns),
    }


def are_leftovers(episodes: Sequence[Episode]) -> bool:
    """Returns whether the episodes at short queues of a connection are leftovers of full ones.

    They are then too few for a rate of random loss.
    """
    full = [episode for episode in episodes if episode.queue == "full"]
    short = [episode for episode in episodes if episode.queue == "short" and not episode.is_tail]
    return bool(full) and (len(short) < _MIN_EPISODES or len(full) >= _MIN_FULL_RATIO * len(short))


def _find_leftovers(evidence: Evidence) -> NDArray[np.bool_]:
    """Returns which losses of a connection are leftovers: during episodes at a full queue.

    Those with an RTT are leftovers if they are few, and before the capture: for a loss after it the RTT
    of its own time is known, and shows that it was random. Where more segments are overtaken than lost,
    it shows nothing, and an episode is that of most of its losses.
    """
    losses, row = evidence.losses, evidence.row
    is_leftover = losses["rtt_ms"].isna()
    is_overtaken = row["reordered"] > row["losses"]
    are_few = _MIN_FULL_RATIO * row["losses_random"] <= row["losses_congestion"]
    if is_overtaken:
        is_leftover[:] = True
    elif are_few and are_leftovers(evidence.episodes):
        is_leftover |= losses["is_upstream"] == 1
    is_random, is_full = losses["kind"] == "random", losses["kind"] == "congestion"
    is_during = np.zeros(len(losses), bool)
    for episode in evidence.episodes:
        is_own = losses["t_s"].between(episode.start_s, episode.start_s + episode.span_s)
        is_mostly_full = is_overtaken and (is_own & is_full).sum() > (is_own & is_random).sum()
        if episode.queue == "full" or is_mostly_full:
            is_during |= is_own.to_numpy()
    return is_during & (is_leftover & is_random).to_numpy()


def _with_columns(table: pa.Table, columns: Mapping[str, NDArray[np.generic]]) -> pa.Table:
    """Returns a table with other values in some columns, of the same types."""
    for name, values in columns.items():
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        table = table.set_column(index, field, pa.array(values, field.type))
    return table
