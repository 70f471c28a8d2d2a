"""Truth: the kind of each loss of a run, from the fates of its segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Kinds that the truth tells.
KINDS = ("congestion", "random", "outage", "tail", "spurious", "reordering")

#: Least time without an arrival while segments wait on the path that is an outage, ns.
_OUTAGE_NS = 200_000_000

#: Fates that are losses.
_LOST = ("overflow", "aqm", "loss", "radio", "mtu")


def true_losses(fates: pd.DataFrame) -> pd.DataFrame:
    """Returns the losses of one connection: `seq`, `len`, `t_ns` of sending, and `kind`.

    A segment that was dropped is an outage if the radio dropped it or nothing moved at that time;
    else it is a tail loss if nothing sent after it was reported before it was sent again; else the
    place that dropped it tells: a queue is congestion, the air is random. A segment that was sent
    again although its last copy arrived, or was to arrive, is spurious. One that arrived after
    later ones, and was not sent again before, was reordered.
    """
    rows = fates.sort_values("sent_ns", kind="stable").reset_index(drop=True)
    begin = int(rows["seq"].min()) if len(rows) else 0
    seq = rows["seq"].to_numpy(np.int64) - begin
    sent = rows["sent_ns"].to_numpy(np.int64)
    ended = np.minimum(rows["ended_ns"].to_numpy(np.uint64), np.uint64(2**62)).astype(np.int64)
    fate = rows["fate"].to_numpy(str)
    arrived = fate == "received"
    outages = _outages(sent, ended, arrived)
    again = _sent_again(seq)
    reported = rows["reported"].to_numpy(np.int64) - begin
    ends = seq + rows["len"].to_numpy(np.int64)
    previous = _previous(seq)
    highest = np.maximum.accumulate(seq) if len(seq) else seq
    found: list[dict[str, Any]] = []

    def add(index: int, kind: str) -> None:
        found.append(
            {
                "seq": int(seq[index]),
                "len": int(rows["len"][index]),
                "t_ns": int(sent[index]),
                "kind": kind,
            }
        )

    arrivals = np.sort(ended[arrived])
    by_arrival = np.flatnonzero(arrived)[np.argsort(ended[arrived], kind="stable")]
    most_before = np.maximum.accumulate(seq[by_arrival]) if len(by_arrival) else by_arrival
    for index in np.flatnonzero(np.isin(fate, _LOST)).tolist():
        repaired = again[index]
        if repaired < 0:
            continue
        inside = any(start <= ended[index] < end for start, end in outages)
        if fate[index] == "radio" or inside:
            add(index, "outage")
        elif reported[repaired] <= ends[index]:
            add(index, "tail")
        else:
            add(index, "random" if fate[index] == "loss" else "congestion")
    for index in np.flatnonzero(previous >= 0).tolist():
        before = previous[index]
        if not np.isin(fate[before], _LOST):
            add(before, "spurious")
    order = np.searchsorted(arrivals, ended)
    for index in by_arrival.tolist():
        if previous[index] >= 0 or order[index] == 0:
            continue
        overtaken = most_before[order[index] - 1] > seq[index]
        not_repaired = again[index] < 0 or sent[again[index]] > ended[index]
        if overtaken and not_repaired and highest[index] == seq[index]:
            add(index, "reordering")
    return pd.DataFrame(found, columns=["seq", "len", "t_ns", "kind"])


def _outages(
    sent: NDArray[np.int64], ended: NDArray[np.int64], arrived: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Returns the times in which nothing arrived although segments were on the path."""
    order = np.argsort(ended[arrived], kind="stable")
    times, departures = ended[arrived][order], sent[arrived][order]
    gaps = np.flatnonzero(np.diff(times) >= _OUTAGE_NS)
    waiting = [index for index in gaps if departures[index + 1] <= times[index] + _OUTAGE_NS // 4]
    return [(int(times[index]), int(times[index + 1])) for index in waiting]


def _sent_again(seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns for each segment the next one that has the same first byte; -1 without one."""
    following: dict[int, int] = {}
    again = np.full(len(seq), -1, np.int64)
    for index in range(len(seq) - 1, -1, -1):
        again[index] = following.get(int(seq[index]), -1)
        following[int(seq[index])] = index
    return again


def _previous(seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns for each segment the one before it that has the same first byte; -1 without one."""
    last: dict[int, int] = {}
    previous = np.full(len(seq), -1, np.int64)
    for index, first in enumerate(seq.tolist()):
        previous[index] = last.get(first, -1)
        last[first] = index
    return previous
