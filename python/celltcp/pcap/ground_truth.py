"""Ground truth: the kind of each loss of a run, from the fates of its segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import loss_kinds

#: Kinds that the ground truth distinguishes.
KINDS = tuple(loss_kinds())

#: Minimum time without an arrival while segments wait on the path that is an outage, ns.
_OUTAGE_NS = 200_000_000

#: Fates that are losses.
_LOST = ("overflow", "aqm", "policer", "loss", "radio", "mtu")


def ground_truth_losses(fates: pd.DataFrame, *, timestamps: bool = True) -> pd.DataFrame:
    """Returns the losses of one connection: `seq`, `len`, `t_ns` of sending, and `kind`.

    The kinds of dropped segments, in this order: an outage if the radio dropped it or nothing moved
    at that time; a tail loss if no later segment was reported before its retransmission; congestion
    if a queue dropped it; random otherwise. A segment that was retransmitted although its last copy
    arrived is spurious. One that arrived after later ones without a retransmission was reordered.
    One that the receiver discarded for an old timestamp is "discarded" if it was retransmitted; no
    kind fits it.

    Args:
        fates: rows of one connection.
        timestamps: whether its segments have timestamps.
    """
    rows = fates.sort_values("sent_ns", kind="stable").reset_index(drop=True)
    begin = int(rows["seq"].min()) if len(rows) else 0
    seq = rows["seq"].to_numpy(np.int64) - begin
    sent = rows["sent_ns"].to_numpy(np.int64)
    ended = np.minimum(rows["ended_ns"].to_numpy(np.uint64), np.uint64(2**62)).astype(np.int64)
    fate = rows["fate"].to_numpy(str)
    arrived = fate == "received"
    if timestamps:
        fate = np.where(
            _discarded(seq, rows["len"].to_numpy(np.int64), sent, ended, arrived), "discarded", fate
        )
    outages = _outages(sent, ended, arrived)
    again = _sent_again(seq)
    reported = rows["reported"].to_numpy(np.int64) - begin
    ends = seq + rows["len"].to_numpy(np.int64)
    previous = _previous(seq)
    highest = np.maximum.accumulate(seq) if len(seq) else seq
    result: list[dict[str, Any]] = []

    def add(index: int, kind: str) -> None:
        result.append(
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
            add(before, "discarded" if fate[before] == "discarded" else "spurious")
    order = np.searchsorted(arrivals, ended)
    for index in by_arrival.tolist():
        if previous[index] >= 0 or order[index] == 0:
            continue
        overtaken = most_before[order[index] - 1] > seq[index]
        if overtaken and again[index] < 0 and highest[index] == seq[index]:
            add(index, "reordering")
    return pd.DataFrame(result, columns=["seq", "len", "t_ns", "kind"])


def _discarded(
    seq: NDArray[np.int64],
    lengths: NDArray[np.int64],
    sent: NDArray[np.int64],
    ended: NDArray[np.int64],
    arrived: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Returns which segments came with a timestamp too old for the receiver (PAWS, RFC 7323 section 5).

    The latest timestamp is that of the last segment that came in order or earlier. Linux accepts one
    that is up to a millisecond older.
    """
    stamps = sent // 1_000_000
    discarded = np.zeros(len(seq), bool)
    latest = expected = 0
    ahead: dict[int, int] = {}
    indices = np.flatnonzero(arrived)
    for index in indices[np.argsort(ended[indices], kind="stable")].tolist():
        first, stamp = int(seq[index]), int(stamps[index])
        if latest - stamp > 1:
            discarded[index] = True
            continue
        if first > expected:
            ahead[first] = max(first + int(lengths[index]), ahead.get(first, 0))
            continue
        latest = max(latest, stamp)
        expected = max(expected, first + int(lengths[index]))
        while (end := ahead.pop(expected, 0)) > expected:
            expected = end
    return discarded


def _outages(
    sent: NDArray[np.int64], ended: NDArray[np.int64], arrived: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Returns the times in which nothing arrived although segments were on the path."""
    order = np.argsort(ended[arrived], kind="stable")
    times, departures = ended[arrived][order], sent[arrived][order]
    gaps = np.flatnonzero(np.diff(times) >= _OUTAGE_NS)
    least = (times - departures).min(initial=0)
    result = []
    for index in gaps.tolist():
        last, departure, arrival = (
            int(at) for at in (times[index], departures[index + 1], times[index + 1])
        )
        if departure <= last + _OUTAGE_NS // 4:
            result.append((last, arrival))
        elif arrival - departure >= _OUTAGE_NS + least:
            result.append((departure, arrival))
    return result


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
