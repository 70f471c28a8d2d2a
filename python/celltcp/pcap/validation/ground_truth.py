"""Ground truth: the kind of each loss of a run, from the table `fates` of its segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import loss_kinds

#: Kinds that the ground truth distinguishes.
KINDS = tuple(loss_kinds())

#: Minimum time without an arrival, while segments are on the path, of an outage, ns.
_MIN_OUTAGE_NS = 200_000_000

#: Fates that are losses.
_LOST = ("overflow", "aqm", "policer", "loss", "radio", "mtu")


def ground_truth_losses(fates: pd.DataFrame, *, has_timestamps: bool = True) -> pd.DataFrame:
    """Returns the losses of one connection: `seq`, `len`, `t_ns` of sending, and `kind`.

    The kinds of dropped segments, in this order: an outage if the radio dropped it or nothing moved
    at that time; a tail loss if no later segment was reported before its retransmission; congestion
    if a queue dropped it; random otherwise. A segment that was retransmitted although its last copy
    arrived is spurious. One that arrived after later ones without a retransmission was reordered.
    One that the receiver discarded for an old timestamp is "discarded" if it was retransmitted; no
    kind fits it.
    """
    rows = fates.sort_values("sent_ns", kind="stable").reset_index(drop=True)
    begin = int(rows["seq"].min()) if len(rows) else 0
    seq = rows["seq"].to_numpy(np.int64) - begin
    sent = rows["sent_ns"].to_numpy(np.int64)
    ended = np.minimum(rows["ended_ns"].to_numpy(np.uint64), np.uint64(2**62)).astype(np.int64)
    fate = rows["fate"].to_numpy(str)
    arrived = fate == "received"
    if has_timestamps:
        fate = np.where(
            _discarded(seq, rows["len"].to_numpy(np.int64), sent, ended, arrived), "discarded", fate
        )
    outages = _outages(sent, ended, arrived)
    following, previous = _same_start(seq, -1), _same_start(seq, 1)
    reported = rows["reported"].to_numpy(np.int64) - begin
    ends = seq + rows["len"].to_numpy(np.int64)
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
    highest_arrived = np.maximum.accumulate(seq[by_arrival]) if len(by_arrival) else by_arrival
    for index in np.flatnonzero(np.isin(fate, _LOST)).tolist():
        repair = following[index]
        if repair < 0:
            continue
        is_in_outage = any(start <= ended[index] < end for start, end in outages)
        if fate[index] == "radio" or is_in_outage:
            add(index, "outage")
        elif reported[repair] <= ends[index]:
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
        is_overtaken = highest_arrived[order[index] - 1] > seq[index]
        if is_overtaken and following[index] < 0 and highest[index] == seq[index]:
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
    timestamps = sent // 1_000_000
    discarded = np.zeros(len(seq), bool)
    latest = expected = 0
    # Ends of segments out of order, by their first bytes.
    ahead: dict[int, int] = {}
    indices = np.flatnonzero(arrived)
    for index in indices[np.argsort(ended[indices], kind="stable")].tolist():
        first, timestamp = int(seq[index]), int(timestamps[index])
        if latest - timestamp > 1:
            discarded[index] = True
            continue
        if first > expected:
            ahead[first] = max(first + int(lengths[index]), ahead.get(first, 0))
            continue
        latest = max(latest, timestamp)
        expected = max(expected, first + int(lengths[index]))
        while (end := ahead.pop(expected, 0)) > expected:
            expected = end
    return discarded


def _outages(
    sent: NDArray[np.int64], ended: NDArray[np.int64], arrived: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Returns start and end, ns, of each time in which nothing arrived although segments were sent."""
    order = np.argsort(ended[arrived], kind="stable")
    times, departures = ended[arrived][order], sent[arrived][order]
    gaps = np.flatnonzero(np.diff(times) >= _MIN_OUTAGE_NS)
    min_delay_ns = (times - departures).min(initial=0)
    result = []
    for index in gaps.tolist():
        last_arrival, departure, arrival = (
            int(t_ns) for t_ns in (times[index], departures[index + 1], times[index + 1])
        )
        if departure <= last_arrival + _MIN_OUTAGE_NS // 4:
            result.append((last_arrival, arrival))
        elif arrival - departure >= _MIN_OUTAGE_NS + min_delay_ns:
            result.append((departure, arrival))
    return result


def _same_start(seq: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Returns the previous (`step` 1) or next (-1) segment with the same first byte, or -1."""
    indices = pd.Series(np.arange(len(seq)))
    return indices.groupby(seq).shift(step, fill_value=-1).to_numpy(np.int64)
