"""Token bucket of a policer: the rate and burst that explain which segments it dropped.

A segment is dropped if the bucket has fewer tokens than its bytes. A full queue drops the same ones,
but delays others by up to its size over its rate.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.causes import POLICERS, names
from celltcp.pcap.diagnosis.evidence import records
from celltcp.pcap.outcome import POLICER_COLUMNS
from celltcp.pcap.segments import MAX_PACKETS, of_sender, payload_segments
from celltcp.pcap.shared_queue import start_s, transfers_beside
from celltcp.pcap.transfers import Transfers

#: Number of rates that are tried, and their range as multiples of the mean rate; half are near it.
_RATES, _MIN_RATIO, _NEAR_RATIO, _MAX_RATIO = 100, 0.95, 1.05, 5.0
#: Ranges around the best rate in which further ones are tried, as shares of it.
_STEPS = (0.05, 0.004, 0.0004)
#: Number of bursts that are tried for each rate.
_BURSTS = 41
#: Side with the RTT of the path by the place of a capture, and maximum sum of the shares of segments,
#: passed and dropped, that a bucket does not explain. In draws, policers had 0.03 or less, and random
#: losses 0.5 or more; beside the receiver, drops have no times of their own.
_SIDES = {"sender": ("far", 0.06), "receiver": ("near", 0.4)}
#: Minimum size of a bucket, segments.
_MIN_BURST_SEGMENTS = 3
#: Minimum number of drops by the place of a capture: beside the receiver, fewer give rates far off.
_MIN_DROPS = {"sender": 20, "receiver": 50}
#: Maximum delay of the path, as a share of that of a queue of the same size.
_MAX_DELAY_SHARE = 0.5
#: Maximum time in which a burst passes beside the receiver, s: over longer ones, other rates explain as
#: many of the drops, whose times are not known.
_MAX_BURST_S = 3.0
#: Maximum rate, as a share of that of the link by gaps: its own queue drains at that.
_MAX_LINK_SHARE = 0.9
#: Rates, as multiples of that of the link, at which its queue may explain the drops, and maximum error
#: with which it does whatever a bucket has. In draws, queues had 0.0003 and policers 0.06 or more.
_LINK_RATIOS, _MAX_LINK_ERROR = (0.95, 1.0, 1.05), 0.01
#: Maximum delay of the path of a candidate beyond its lowest RTT: a share of it, and ms.
_MAX_QUEUE_SHARE, _MAX_QUEUE_MS = 0.35, 5.0


class TokenBucket(NamedTuple):
    """Rate and burst of a policer, in payload."""

    mbps: float
    burst_bytes: float


def with_token_buckets(connections: pa.Table, losses: pa.Table, readable: Collection[str]) -> pa.Table:
    """Returns the connections with the policer that explains their losses, from a second look at them.

    Only captures that can be read again are `readable`.
    """
    rows = records(connections.to_pandas())
    candidates = [row for row in rows if str(row["file"]) in readable and _is_candidate(row)]
    buckets: dict[tuple[Any, Any], TokenBucket] = {}
    all_losses = losses.to_pandas() if candidates else pd.DataFrame()
    for file in {str(row["file"]) for row in candidates}:
        own = [row for row in candidates if str(row["file"]) == file]
        sent = payload_segments(file, {int(row["connection"]) for row in own})
        lost = all_losses[all_losses["file"] == file]
        lost = lost[~lost["kind"].isin(["spurious", "reordering"])]
        offered = {
            row["connection"]: _offered(row, of_sender(sent, row), of_sender(lost, row)) for row in own
        }
        transfers = Transfers(pd.DataFrame(own))
        for row in own:
            rtt_ms = float(of_sender(lost, row)["rtt_ms"].quantile(0.5))
            bucket = token_bucket(row, offered[row["connection"]], rtt_ms)
            if bucket is None and (beside := transfers_beside(transfers, row)):
                # A bucket for all of a client has the tokens that its other transfers left.
                joint = _joint([row, *beside], offered)
                bucket = token_bucket(row, joint, rtt_ms)
            if bucket is not None:
                buckets[file, row["connection"]] = bucket
    found = [buckets.get((str(row["file"]), row["connection"])) for row in rows]
    for name, meaning in POLICER_COLUMNS.items():
        values = [np.nan if each is None else float(getattr(each, name[8:])) for each in found]
        field: pa.Field[Any] = pa.field(name, pa.float64(), metadata={"meaning": meaning})
        connections = connections.append_column(field, pa.array(values, pa.float64()))
    return connections


def _is_candidate(row: Mapping[Hashable, Any]) -> bool:
    """Returns whether a sender has lost many segments of a connection without a long queue."""
    lost = row["losses_congestion"] + row["losses_random"] + row["losses_tail"]
    side, _ = _SIDES.get(str(row["place"]), ("far", 0.0))
    lowest_ms = row[f"{side}_rtt_min_ms"]
    max_ms = lowest_ms + max(_MAX_QUEUE_SHARE * lowest_ms, _MAX_QUEUE_MS)
    packets = row["packets_up"] + row["packets_down"]
    is_short = row[f"{side}_rtt_p95_ms"] <= max_ms and packets <= MAX_PACKETS
    return bool(row["place"] in _SIDES and lost >= _MIN_DROPS[row["place"]] and is_short)


#: Times at which segments came to a policer, s, their bytes, and whether each was dropped.
_Offered = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]


def token_bucket(
    row: Mapping[Hashable, Any], offered: _Offered, lost_rtt_ms: float
) -> TokenBucket | None:
    """Returns the token bucket that explains losses; None if there is none.

    Args:
        row: row of the connection.
        offered: what came to the policer, of this connection or of all behind it.
        lost_rtt_ms: median RTT at its losses; NaN without.
    """
    side, max_error = _SIDES[str(row["place"])]
    times_s, sizes, is_lost = offered
    if is_lost.sum() < _MIN_DROPS[str(row["place"])]:
        return None
    link_rate = 125e3 * float(row[f"{side}_train_mbps"])
    error, rate, burst = _fit(times_s, sizes, is_lost, _MAX_LINK_SHARE * link_rate)
    # Beside the losses, a queue has its full length, which the rest of a transfer may never see.
    rtt_ms = np.fmax(float(row[f"{side}_rtt_p95_ms"]), lost_rtt_ms)
    delay_ms = rtt_ms - float(row[f"{side}_rtt_min_ms"])
    is_link = rate >= _MAX_LINK_SHARE * link_rate
    # Above the rate, a full bucket passes its burst at that of the link.
    burst_s = burst / (link_rate - rate) if link_rate > rate else 0.0
    if row["place"] == "receiver" and burst_s > _MAX_BURST_S:
        return None
    if error > max_error or is_link or delay_ms > _MAX_DELAY_SHARE * 1e3 * burst / rate:
        return None
    if _queue_error(times_s, sizes, is_lost, link_rate) <= max(error, _MAX_LINK_ERROR):
        return None
    return TokenBucket(8e-6 * rate, burst)


def are_too_few(row: Mapping[Hashable, Any]) -> bool:
    """Returns whether losses are too few to distinguish a token bucket from other reasons."""
    lost = row["losses_congestion"] + row["losses_random"] + row["losses_tail"]
    min_drops = _MIN_DROPS.get(str(row["place"]), math.inf)
    return bool(lost < min_drops) and names(row, *POLICERS)


def _offered(row: Mapping[Hashable, Any], passed: pd.DataFrame, losses: pd.DataFrame) -> _Offered:
    """Returns what a connection offered to a policer.

    Args:
        row: row of the connection.
        passed: segments with payload of its sender that the capture has; at the sender with lost ones.
        losses: its losses, without spurious ones and reordering.
    """
    return (_at_sender if row["place"] == "sender" else _at_receiver)(passed, losses)


def _joint(rows: Sequence[Mapping[Hashable, Any]], offered: Mapping[Any, _Offered]) -> _Offered:
    """Returns what several connections offered, by time."""
    parts = [offered[row["connection"]] for row in rows]
    starts_s = [start_s(row, int(rows[0]["start_ns"])) for row in rows]
    times_s = np.concatenate([part[0] + start for part, start in zip(parts, starts_s, strict=True)])
    order = np.argsort(times_s, kind="stable")
    sizes, is_lost = (np.concatenate([part[index] for part in parts])[order] for index in (1, 2))
    return times_s[order], sizes, is_lost


def _at_sender(sent: pd.DataFrame, losses: pd.DataFrame) -> _Offered:
    """Returns what a sender sent."""
    sent = sent.sort_values("t_s")
    keys = (pd.MultiIndex.from_frame(each[["t_s", "seq"]]) for each in (sent, losses))
    all_keys, lost_keys = keys
    return sent["t_s"].to_numpy(float), sent["len"].to_numpy(float), all_keys.isin(lost_keys)


def _at_receiver(arrived: pd.DataFrame, losses: pd.DataFrame) -> _Offered:
    """Returns what a policer before a receiver met: lost segments came evenly between their neighbours.

    Nothing shows when repairs were dropped.
    """
    arrived = arrived.sort_values("t_s", kind="stable")
    new = arrived[arrived["seq"] >= arrived["seq"].cummax()]
    lost = losses.drop_duplicates("seq")
    lost = lost[lost["seq"].between(new["seq"].min(), new["seq"].max())]
    seqs, new_s = new["seq"].to_numpy(float), new["t_s"].to_numpy(float)
    lost_seqs = lost["seq"].to_numpy(float)
    before = np.searchsorted(seqs, lost_seqs, "right") - 1
    # A burst that a bucket cuts off goes on at its rate: the next segment may come an RTT later.
    behind = (lost_seqs - seqs[before]) / float(arrived["len"].max())
    usual_s = new_s[before] + behind * float(np.median(np.diff(new_s)))
    lost_s = np.minimum(np.interp(lost_seqs, seqs, new_s), usual_s)
    times_s = np.append(arrived["t_s"].to_numpy(float), lost_s)
    order = np.argsort(times_s, kind="stable")
    sizes = np.append(arrived["len"].to_numpy(float), lost["len"].to_numpy(float))
    return times_s[order], sizes[order], (np.arange(len(times_s)) >= len(arrived))[order]


def _fit(
    times_s: NDArray[np.float64],
    sizes: NDArray[np.float64],
    is_lost: NDArray[np.bool_],
    max_rate: float,
) -> tuple[float, float, float]:
    """Returns the error, rate and burst of the token bucket that explains most segments."""
    before = _bytes_before(sizes, is_lost)
    mean = float(sizes[~is_lost].sum()) / max(float(times_s[-1] - times_s[0]), 1e-3)
    fits: list[tuple[float, float, float]] = []
    # Near the mean, a bucket is seldom full, and its tokens are the sum of a long time: a rate that
    # is off by its burst over that time explains nothing.
    highest = float(np.fmin(_MAX_RATIO * mean, max_rate))
    near = mean * np.linspace(_MIN_RATIO, _NEAR_RATIO, _RATES // 2)
    rates = np.append(near, np.geomspace(near[-1], max(highest, near[-1]), _RATES // 2))
    for step in _STEPS:
        fits += [_fit_burst(rate, times_s, sizes, before, is_lost) for rate in rates]
        rates = min(fits)[1] * np.linspace(1 - step, 1 + step, _RATES // 2)
    return min(fits)


def _queue_error(
    times_s: NDArray[np.float64],
    sizes: NDArray[np.float64],
    is_lost: NDArray[np.bool_],
    link_rate: float,
) -> float:
    """Returns the error with which a queue of the link explains the drops; infinite without its rate.

    Bursts above the rate of the link overflow a short queue as they empty a bucket, but at that rate.
    """
    if not link_rate > 0:
        return math.inf
    before = _bytes_before(sizes, is_lost)
    rates = [link_rate * ratio for ratio in _LINK_RATIOS]
    return min(_fit_burst(rate, times_s, sizes, before, is_lost)[0] for rate in rates)


def _bytes_before(sizes: NDArray[np.float64], is_lost: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Returns the bytes that passed before each segment."""
    passed = np.where(is_lost, 0.0, sizes)
    before: NDArray[np.float64] = np.cumsum(passed) - passed
    return before


def _fit_burst(
    rate: float,
    times_s: NDArray[np.float64],
    sizes: NDArray[np.float64],
    before: NDArray[np.float64],
    is_lost: NDArray[np.bool_],
) -> tuple[float, float, float]:
    """Returns the error of the best burst at a rate, the rate and the burst.

    `before` has the bytes that passed before each segment.
    """
    used = before - rate * times_s
    # Tokens taken by the segment and those before it, since the bucket was full.
    needed = used - np.minimum.accumulate(used) + sizes
    needed_passed = np.sort(needed[~is_lost])
    needed_lost = np.sort(needed[is_lost])
    # A bucket of one segment would drop by gaps alone, as those of paced segments.
    bursts = np.quantile(needed_lost, np.linspace(0, 1, _BURSTS))
    bursts = np.maximum(bursts, _MIN_BURST_SEGMENTS * sizes.max())
    above = 1 - np.searchsorted(needed_passed, bursts, "right") / len(needed_passed)
    below = np.searchsorted(needed_lost, bursts, "left") / len(needed_lost)
    best = int(np.argmin(above + below))
    return float(above[best] + below[best]), float(rate), float(bursts[best])
