"""Losses of other kinds than their RTT shows: in blackouts, and in queues that others fill, too."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.pcap.diagnosis import INTERVAL_COLUMNS
from celltcp.pcap.diagnosis.episodes import QUEUE_BESIDE, QUEUE_OF_OTHER, Episode
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, records
from celltcp.pcap.diagnosis.losses import is_above_lowest
from celltcp.pcap.estimation.blackouts import are_in_blackouts
from celltcp.pcap.shared_queue import transfers_beside
from celltcp.pcap.transfers import Transfers

#: Fewer round trips with losses at a short queue are leftovers, if there are any at a full queue.
_MIN_ROUND_TRIPS = 3
#: Minimum ratio of losses at a full queue to others at which the others are leftovers.
_MIN_FULL_RATIO = 4
#: Value of the column `reason` for leftovers.
_REASON = "others of its round trip were lost in a full queue"
#: Those of losses at the lowest RTTs, of losses in blackouts, and of overflows for two transfers; kinds
#: of losses.
_LOWEST_REASON = "the RTT beside it was near the lowest, as at most losses"
_BLACKOUT_REASON = "nothing passed of what was sent at its time"
_BOTH_REASON = "another transfer on the path had losses at its time"
_KINDS = ("congestion", "random", "tail", "outage")

#: Minimum RTT of a transfer that fills a queue over its RTT at losses, both above the lowest, and
#: maximum probability that as many of another connection are lost at random.
_MIN_FULL_SHARE, _MAX_RANDOM = 0.85, 0.05

#: Maximum time between losses of an overflow for two transfers, RTTs, and the minimum of these, ms.
_TOGETHER_RTTS, _MIN_RTT_MS = 0.2, 5.0
#: Minimum share of losses that others are near, and maximum probability of that by chance.
_MIN_TOGETHER, _MAX_CHANCE = 0.8, 0.01


def reclassify_leftovers(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the tables with leftovers as losses by congestion, and with their counts.

    Taken for random losses, even a few would decide a comparison of CCAs on the estimated path. Beside
    random losses, those at the lowest RTTs are random, too, unless many are lost at once.
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
    is_leftover, is_at_lowest = np.zeros(len(losses), bool), np.zeros(len(losses), bool)
    for row in records(connections):
        key = (row["file"], row["connection"])
        if key in mixed_keys:
            evidence = Evidence(row, losses.iloc[row_indices[key]], intervals)
            is_leftover[row_indices[key]] = _find_leftovers(evidence)
            is_at_lowest[row_indices[key]] = _find_at_lowest(evidence)
    return _with_kind(
        _with_kind(tables, is_leftover, "congestion", _REASON), is_at_lowest, "random", _LOWEST_REASON
    )


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
    is_own = np.zeros(len(losses), bool)
    for row in records(connections[is_mixed]):
        key = (row["file"], row["connection"])
        evidence = Evidence(row, losses.iloc[loss_rows[key]], intervals.iloc[interval_rows[key]])
        is_own[loss_rows[key]] = are_in_blackouts(evidence)
    return _with_kind(
        tables, is_own & (losses["kind"] != "outage").to_numpy(), "outage", _BLACKOUT_REASON
    )


def reclassify_overflows_of_both(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the tables with losses at the times of those of another transfer as losses by congestion.

    Both lose where their common queue overflows, in a shallow buffer before the RTT shows it.
    """
    connections = tables["connections"].to_pandas()
    is_few = _MIN_FULL_RATIO * connections["losses_random"] <= connections["losses_congestion"]
    rows = records(connections[is_few & (connections["losses_random"] > 0)])
    if not rows or len(connections) == 1:
        return dict(tables)
    losses = tables["losses"].to_pandas()
    is_lost = ~losses["kind"].isin(["spurious", "reordering"])
    is_overflow = np.zeros(len(losses), bool)
    transfers = Transfers(connections)
    for row in rows:
        for other in transfers_beside(transfers, row):
            is_random, is_other = (
                is_lost
                & (losses["file"] == each["file"])
                & (losses["connection"] == each["connection"])
                for each in (row, other)
            )
            is_random &= losses["kind"] == "random"
            own, others = (float(each["start_ns"]) / 1e9 for each in (row, other))
            are_together = _are_together(
                losses.loc[is_random, "t_s"].to_numpy(float),
                np.sort(losses.loc[is_other, "t_s"].to_numpy(float)) + others - own,
                _TOGETHER_RTTS * max(float(row["rtt_min_ms"]), _MIN_RTT_MS) / 1e3,
            )
            is_overflow[np.flatnonzero(is_random)[are_together]] = True
    return _with_kind(tables, is_overflow, "congestion", _BOTH_REASON)


def reclassify_in_queues_of_others(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the tables with losses in a queue that another transfer fills as losses by congestion.

    A short flight of requests has no RTT of its own at most of its losses. The other transfer shows
    what the path loses at random, and when its queue is full.
    """
    connections = tables["connections"].to_pandas()
    rows = records(connections[connections["losses"] > 0])
    if len(connections) == 1:
        return dict(tables)
    losses = tables["losses"].to_pandas()
    names = ["file", "connection", "up", "t_s", "rtt_mean_ms", "near_rtt_mean_ms"]
    intervals = tables["intervals"].select(names).to_pandas()
    is_overflow = np.zeros(len(losses), bool)
    transfers = Transfers(connections)
    for row in rows:
        others = transfers_beside(transfers, row)
        if not others:
            continue
        is_own = (losses["file"] == row["file"]) & (losses["connection"] == row["connection"])
        is_unknown = (losses["kind"] == "congestion") & losses["rtt_ms"].isna()
        is_own &= is_unknown | losses["kind"].isin(["random", "tail", "outage"])
        other = max(others, key=lambda each: int(each["losses_congestion"]))
        own = losses[is_own]
        if not len(own) or not _has_none_at_random(row, other, own):
            continue
        up = int(other["direction"] == "up")
        passed, lost = (
            table[
                (table["file"] == other["file"])
                & (table["connection"] == other["connection"])
                & (table["up"] == up)
            ]
            for table in (intervals, losses)
        )
        lag_s = (int(other["start_ns"]) - int(row["start_ns"])) / 1e9
        is_overflow[np.flatnonzero(is_own)] = _are_at_full_queue(own, lag_s, other, passed, lost)
    return _with_kind(tables, is_overflow, "congestion", QUEUE_OF_OTHER)


def _has_none_at_random(
    row: Mapping[Hashable, Any], other: Mapping[Hashable, Any], own: pd.DataFrame
) -> bool:
    """Returns whether losses are too many for the rate at which another transfer loses at random.

    Those that follow each other at once are one event.
    """
    direction = row["direction"]
    rate = (int(other["losses_random"]) + 1) / max(int(other[f"segments_{other['direction']}"]), 1)
    times_s = np.sort(own["t_s"].to_numpy(float))
    near_s = max(float(row["rtt_min_ms"]), _MIN_RTT_MS) / 1e3
    events = 1 + int((np.diff(times_s) > near_s).sum())
    expected = rate * int(row[f"segments_{direction}"])
    # Poisson: as many events, or more.
    terms = np.cumprod(np.append(1.0, expected / np.arange(1, events)))
    return bool(1 - math.exp(-expected) * terms.sum() <= _MAX_RANDOM)


def _are_at_full_queue(
    own: pd.DataFrame,
    lag_s: float,
    other: Mapping[Hashable, Any],
    passed: pd.DataFrame,
    lost: pd.DataFrame,
) -> NDArray[np.bool_]:
    """Returns which losses are at times at which the queue of another transfer was as at its losses.

    Before the capture, a segment is dropped an RTT before later ones show that, and behind it as long
    before its ACKs do.
    """
    results = np.zeros(len(own), bool)
    overflows = lost[(lost["kind"] == "congestion") & lost["rtt_ms"].notna()]
    times_s = passed["t_s"].to_numpy(float) + lag_s
    for number, loss in enumerate(own.to_dict("records")):
        is_before = loss["is_upstream"] == 1
        side = "near_" if is_before else "far_"
        lowest_ms = float(other[f"{side}rtt_min_ms"])
        full_ms = float(overflows.loc[overflows["is_upstream"] == is_before, "rtt_ms"].median())
        column = "near_rtt_mean_ms" if is_before else "rtt_mean_ms"
        span_s = full_ms / 1e3 + INTERVAL_S
        since_s = loss["t_s"] - span_s if is_before else loss["t_s"]
        rtts_ms = passed[column][(times_s >= since_s) & (times_s <= since_s + span_s)]
        least_ms = lowest_ms + _MIN_FULL_SHARE * (full_ms - lowest_ms)
        results[number] = bool((rtts_ms >= least_ms).any())
    return results


def _are_together(
    own_s: NDArray[np.float64], others_s: NDArray[np.float64], near_s: float
) -> NDArray[np.bool_]:
    """Returns which losses are near those of another transfer; none if that may be by chance."""
    if not len(own_s) or not len(others_s):
        return np.zeros(len(own_s), bool)
    after = np.searchsorted(others_s, own_s).clip(1, max(len(others_s) - 1, 1))
    nearest = others_s[np.minimum([after - 1, after], len(others_s) - 1)]
    are_near: NDArray[np.bool_] = np.abs(nearest - own_s).min(axis=0) <= near_s
    span_s = max(others_s[-1], own_s.max()) - min(others_s[0], own_s.min()) + 2 * near_s
    covered = (2 * near_s + np.minimum(np.diff(others_s), 2 * near_s).sum()) / span_s
    is_chance = are_near.mean() < _MIN_TOGETHER or covered ** are_near.sum() > _MAX_CHANCE
    return are_near & (not is_chance)


def are_leftovers(episodes: Sequence[Episode]) -> bool:
    """Returns whether the episodes at short queues of a connection are leftovers of full ones.

    They are then too few for a rate of random loss.
    """
    full = _round_trips(episode for episode in episodes if episode.queue == "full")
    short = _round_trips(
        episode for episode in episodes if episode.queue == "short" and not episode.is_tail
    )
    return full > 0 and (short < _MIN_ROUND_TRIPS or full >= _MIN_FULL_RATIO * short)


def _round_trips(episodes: Iterable[Episode]) -> int:
    """Returns the number of round trips with losses: those in each of several RTTs are one episode."""
    return sum(1 + int(1e3 * each.span_s / np.fmax(each.rtt_ms, _MIN_RTT_MS)) for each in episodes)


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


def _find_at_lowest(evidence: Evidence) -> NDArray[np.bool_]:
    """Returns which losses in a full queue were at an RTT near the lowest; none without many others."""
    losses, row = evidence.losses, evidence.row
    found = np.zeros(len(losses), bool)
    if row["losses_random"] < _MIN_FULL_RATIO * row["losses_congestion"]:
        return found
    for episode in evidence.episodes:
        if not is_above_lowest(episode):
            end_s = episode.start_s + episode.span_s
            found |= losses["t_s"].between(episode.start_s, end_s).to_numpy()
    # The loss of a repair is of the same time.
    found |= losses["seq"].isin(losses["seq"][found]).to_numpy()
    is_single = (losses["kind"] == "congestion") & (losses["reason"] == QUEUE_BESIDE)
    return found & is_single.to_numpy()


def _with_kind(
    tables: Mapping[str, pa.Table], is_changed: NDArray[np.bool_], kind: str, reason: str
) -> dict[str, pa.Table]:
    """Returns the tables with another kind and reason of some losses, and with counts of kinds."""
    losses, connections = tables["losses"], tables["connections"]
    texts = losses.select(["kind", "reason"]).to_pandas().astype(str)
    kinds, reasons = (texts[name].to_numpy(object) for name in texts)
    if not is_changed.any():
        return dict(tables)
    is_moved = is_changed & (kinds != kind)
    keys = ["file", "connection"]
    rows = losses.select(keys).to_pandas().astype({"file": str})
    places = pd.MultiIndex.from_frame(connections.select(keys).to_pandas().astype({"file": str}))
    columns = {}
    for name in _KINDS:
        change = is_moved.astype(int) if name == kind else -(is_moved & (kinds == name)).astype(int)
        sums = rows.assign(change=change).groupby(keys)["change"].sum().reindex(places, fill_value=0)
        counts = connections[f"losses_{name}"].to_numpy().astype(np.int64)
        columns[f"losses_{name}"] = counts + sums.to_numpy(np.int64)
    kinds[is_changed], reasons[is_changed] = kind, reason
    return {
        **tables,
        "losses": _with_columns(losses, {"kind": kinds, "reason": reasons}),
        "connections": _with_columns(connections, columns),
    }


def _with_columns(table: pa.Table, columns: Mapping[str, NDArray[np.generic]]) -> pa.Table:
    """Returns a table with other values in some columns, of the same types."""
    for name, values in columns.items():
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        table = table.set_column(index, field, pa.array(values, field.type))
    return table
