"""Standing queues, wherever the capture is, and the limit of the sender that bounds one."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import pandas as pd

from celltcp.pcap.diagnosis.causes import Cause, Sentence, named
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, segments_were
from celltcp.scenarios.quantity_texts import ms_text, size_text

#: Minimum delay of a standing queue, ms, and intervals in which it is seen.
_MIN_QUEUE_MS = 5.0
_MIN_QUEUE_INTERVALS = 3
#: Minimum ratio of the RTT to the lowest one for a standing queue.
_MIN_QUEUE_RATIO = 2.0
#: Thresholds for an RTT that changes steadily, as a queue does and jitter does not: ratio to the lowest
#: RTT, delay, ms, number of intervals, and correlation of the RTTs of neighbours.
_MIN_STEADY_RATIO = 1.2
_MIN_STEADY_MS = 10.0
_MIN_STEADY_INTERVALS = 20
_MIN_CORRELATION = 0.8
#: Minimum lateness of data by the clock of their sender, as a share of the delay of RTTs, and relative
#: error of that clock.
_MIN_LATE_SHARE = 0.5
_CLOCK_ERROR = 1e-4
#: Minimum number of RTT samples.
_MIN_SAMPLES = 20
#: Maximum share of the time in pauses of the sender.
_MAX_PAUSED_SHARE = 0.3
#: Maximum range of the rate of a queue before the capture, from the first to the last tenth of the
#: intervals, as a share of its median.
_MAX_RATE_RANGE = 0.25
#: Minimum bound of the flight, BDPs: BBR and delay-based CCAs keep shorter queues of their own accord.
_MIN_BOUND_BDPS = 4.0
#: Maximum growth of the flight at its bound, as a share of it, and in segments: at the sender, and by
#: the RTT to the sender.
_MAX_GROWTH, _MAX_GROWTH_SEGMENTS = 0.003, 4
_MAX_NEAR_GROWTH = 0.05
#: Minimum time at the bound: share of the time of the data, and longest RTTs.
_MIN_BOUND_SHARE = 0.3
_MIN_BOUND_RTTS = 2.0
#: Maximum share of the time with a full receive window, which would be the bound.
_MAX_WINDOW_LIMITED = 0.05
#: Bound up to which a window is not reached where the flight is only estimated, as a share of it.
_MAX_WINDOW_SHARE = 0.8


def standing_queue(evidence: Evidence) -> Sentence:
    """A standing queue: all RTTs of half of the intervals are above twice the lowest.

    Where the RTT changes steadily from interval to interval, a fifth above the lowest is enough. Close
    to the receiver, a queue before the capture lets an even rate pass.
    """
    row = evidence.row
    if stands_before(evidence):
        place, side = "on the path before the capture", "near"
    elif _stands_after(evidence):
        place, side = "on the path", "far"
    else:
        return Sentence()
    lost_text = f"{segments_were(row['losses'])} lost" if row["losses"] else "without loss"
    median_text = ms_text(row[f"{side}_rtt_p50_ms"])
    return named(
        Cause.STANDING_QUEUE,
        f"a queue stands {place}: the RTT is {median_text} in the median and "
        f"{ms_text(row[f'{side}_rtt_min_ms'])} at least, {lost_text}{_bound_text(evidence)}",
    )


def _bound_text(evidence: Evidence) -> str:
    """Returns the limit of the sender that bounds a queue, as text; empty if none is seen."""
    bound = sender_bound(evidence)
    if not bound:
        return ""
    about = "" if evidence.is_at_sender else "about "
    return (
        f"; the {evidence.sender} keeps to {about}{size_text(bound)} in flight (send buffer or "
        "window), which bounds the queue"
    )


def _stands_after(evidence: Evidence) -> bool:
    """Returns whether a queue stands between the capture and the receiver."""
    row = evidence.row
    # Close to the receiver, RTTs are those of its delayed ACKs.
    if row["place"] == "receiver" or row["far_rtt_samples"] < _MIN_SAMPLES:
        return False
    lowest = evidence.steady["rtt_min_ms"].dropna()
    return _is_above(evidence, lowest, float(row["far_rtt_min_ms"]), float(row["far_rtt_p50_ms"]))


def stands_before(evidence: Evidence) -> bool:
    """Returns whether a queue stands between the sender and a capture close to the receiver.

    Echoes of timestamps are old in a queue, and behind a sender that pauses: then the rate is uneven,
    and no packet is late by the sender's own timestamps. A path of varying rate delays them.
    """
    row = evidence.row
    if row["place"] != "receiver" or row["near_rtt_samples"] < _MIN_SAMPLES:
        return False
    steady = evidence.steady
    means = steady.loc[~are_after_gaps(steady, row), "near_rtt_mean_ms"].dropna()
    if not _is_above(evidence, means, float(row["near_rtt_min_ms"]), float(row["near_rtt_p50_ms"])):
        return False
    rates = evidence.bytes_by_interval.iloc[1:-1].rolling(evidence.block, min_periods=1).mean()
    low, median, high = rates[len(rates) // 10 :].quantile([0.1, 0.5, 0.9])
    return bool(high - low <= _MAX_RATE_RANGE * median) or _is_late(row)


def _is_late(row: dict[Hashable, Any]) -> bool:
    """Returns whether data are late, by the clock of their sender, for most of the delay of RTTs."""
    late_ms = row[f"late_{row['direction']}_p50_ms"]
    drift_ms = 1e3 * _CLOCK_ERROR * row["duration_s"]
    delay_ms = row["near_rtt_p50_ms"] - row["near_rtt_min_ms"]
    return bool(late_ms - drift_ms >= max(_MIN_LATE_SHARE * delay_ms, _MIN_QUEUE_MS))


def _is_above(evidence: Evidence, rtts_ms: pd.Series, lowest_ms: float, median_ms: float) -> bool:
    """Returns whether RTTs of intervals are far above the lowest one, and the sender does not pause."""
    row = evidence.row
    is_steady = len(rtts_ms) >= _MIN_STEADY_INTERVALS and rtts_ms.autocorr() >= _MIN_CORRELATION
    min_ratio, min_ms = _MIN_QUEUE_RATIO, _MIN_QUEUE_MS
    if is_steady:
        min_ratio, min_ms = _MIN_STEADY_RATIO, _MIN_STEADY_MS
    min_rtt_ms = max(min_ratio * lowest_ms, lowest_ms + min_ms)
    if not median_ms > min_rtt_ms:
        return False
    paused_s = row[f"pauses_{row['direction']}_s"]
    if paused_s >= _MAX_PAUSED_SHARE * row["download_s"]:
        return False
    return len(rtts_ms) >= _MIN_QUEUE_INTERVALS and bool(rtts_ms.median() > min_rtt_ms)


def queue_delays_ms(
    intervals: pd.DataFrame, row: dict[Hashable, Any], *, is_minimum: bool = False
) -> pd.Series:
    """Returns the delay beyond the lowest RTT, on the side of the capture with the queue."""
    far = intervals["rtt_min_ms" if is_minimum else "rtt_mean_ms"] - row["far_rtt_min_ms"]
    near = intervals["near_rtt_mean_ms"] - row["near_rtt_min_ms"]
    delay: pd.Series = near if row["place"] == "receiver" else far
    return delay


def are_after_gaps(intervals: pd.DataFrame, row: dict[Hashable, Any]) -> pd.Series:
    """Returns for each interval whether a gap in the data before it makes half of its delay or more.

    Such data waited for the end of an outage, or for ACKs that were lost in it, and not in a queue.
    """
    passed = intervals["acked_bytes"]
    if row["place"] == "receiver":
        passed = intervals["bytes"] + intervals["retransmitted_bytes"]
    times = intervals["t_s"].sort_values()
    last = times.where(passed > 0).ffill().shift()
    gap_s: pd.Series = times - last - INTERVAL_S
    return (gap_s > INTERVAL_S / 2) & (2e3 * gap_s >= queue_delays_ms(intervals, row))


def sender_bound(evidence: Evidence) -> float:
    """Returns the bytes that a sender with a long queue keeps to in flight; 0 without such a bound.

    Nothing is lost, the receive window is not full, and yet the flight has stopped growing: a CCA that
    fills a queue goes on. The send buffer, or a window of the sender, is left.
    """
    row, own = evidence.row, evidence.sender_intervals
    if row["losses"] or row["window_limited"] >= _MAX_WINDOW_LIMITED:
        return 0.0
    sent = own[own["bytes"] > 0]
    if row["place"] == "receiver":
        if not stands_before(evidence):
            return 0.0
        flights = _flights_before(evidence)
        times, max_growth = flights.index.to_series() * INTERVAL_S, _MAX_NEAR_GROWTH
        if not flights.max() <= _MAX_WINDOW_SHARE * row["window_max"]:
            return 0.0
    elif evidence.is_at_sender and _stands_after(evidence):
        flights, times, max_growth = sent["in_flight_max"], sent["t_s"], _MAX_GROWTH
    else:
        return 0.0
    if flights.empty:
        return 0.0
    bound = float(flights.max())
    bdp = 125 * row["throughput_mbps"] * evidence.rtt_or_zero_ms
    rtt_s = bound / (125e3 * row["throughput_mbps"])
    reached = bound - max(max_growth * bound, _MAX_GROWTH_SEGMENTS * evidence.segment_bytes)
    start_s, end_s = float(times[flights >= reached].min()), float(sent["t_s"].max())
    min_s = max(_MIN_BOUND_RTTS * rtt_s, _MIN_BOUND_SHARE * (end_s - float(sent["t_s"].min())))
    return bound if bound >= _MIN_BOUND_BDPS * bdp and end_s - start_s >= min_s else 0.0


def _flights_before(evidence: Evidence) -> pd.Series:
    """Returns the data in flight by interval, by Little's law and the RTT to the sender."""
    own = evidence.sender_intervals
    numbers = (own["t_s"] / INTERVAL_S).round().astype(int)
    rtts_ms = pd.Series(own["near_rtt_mean_ms"].to_numpy(dtype=float), index=numbers).dropna()
    rates = evidence.bytes_by_interval.rolling(evidence.block, min_periods=1).mean() / INTERVAL_S
    flights: pd.Series = (rates.reindex(rtts_ms.index) * rtts_ms / 1e3).dropna()
    return flights


def longest_flight(evidence: Evidence) -> float:
    """Returns the most data in flight that a capture shows, bytes; NaN without an RTT."""
    if evidence.row["place"] != "receiver":
        return float(evidence.row["in_flight_max"])
    flights = _flights_before(evidence)
    return float(flights.max()) if len(flights) else math.nan
