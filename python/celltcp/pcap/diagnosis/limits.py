"""Limits: the bound of the rate of a connection that waited for nothing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, plural, seconds, segments_were
from celltcp.pcap.diagnosis.losses import loss_limit, one_a_round_trip, overshoot, unclear_losses
from celltcp.pcap.diagnosis.waits import late_application
from celltcp.present.quantities import size_text

#: Prefix of the sentence about a send buffer, or an application, that limits the rate.
OWN_LIMIT = "the send buffer of the "
#: Prefix of the sentence where the capture does not show which of several limits of the sender holds.
SOME_LIMIT = "either the send buffer, the application"
#: Minimum payload for which a limit is named, bytes: less fits into the first windows.
_LEAST_BYTES = 20_000
#: Minimum share of the time at which a limit holds.
_MOSTLY = 0.5
#: Largest window without scale (RFC 7323 section 2.1), bytes.
_UNSCALED = 65_535
#: Share of a bound of the flight by which its peaks differ where an application writes at a rate.
_NEARLY = 0.15
#: Maximum excess of an RTT without a queue over the lowest one, by jitter: a share of it, and ms.
_JITTER = 0.05
_JITTER_MS = 1.0
#: Share of the intervals in which the path empties if nothing but the sender bounds the flight.
_EMPTY = 0.8
#: Maximum of bytes in flight at any time over those of a bound.
_ONCE = 1.1
#: Segments on the path by which the RTT of an empty path exceeds its lowest at most.
_EMPTY_SEGMENTS = 1.5
#: Share by which the data of an RTT differ where their rate is even, and by which the RTT then exceeds
#: its lowest at most, with a time, ms.
_EVEN = 0.4
_NEAR = 0.25
#: Minimum segments of such a flight, and most ones of the other side.
_FLIGHT = 2
_REQUESTS = 3
#: Share by which they change from the first to the last third of the time at most.
_TREND = 0.1
_NEAR_MS = 2.0
#: Minimum intervals of a flight that is constant.
_INTERVALS = 10
#: Share of the intervals in which a receive window that limits is reached.
_FILLED = 0.8
#: Share of a receive window that the data of an RTT fill where it limits, and of the rounds with that.
_PER_RTT = 0.85
_MOST_ROUNDS = 0.6
#: Share of the receive window below which it does not limit.
_BELOW = 0.8
#: Minimum pauses of an application, and the intervals between data across one.
_PAUSES = 5
_GAP = 1.5
#: Share of the time in which an application that is idle matters, if hardly anything else waits.
_IDLE = 0.3
#: Share of the time that other waits have at most beside it.
_HARDLY = 0.1
#: Minimum packets that came twice, and share of the packets below which not the capture has all twice.
_TWICE = 3
_TWICE_SHARE = 0.2
#: Intervals of a window that grows, and how much larger than in the middle it is at the end.
_GROWING = 4
_GROWTH = 1.2
#: Minimum marks of congestion at which a queue marks.
_MARKS = 3
#: Minimum delay of a queue that stands, ms, and intervals in which it is seen.
_QUEUE_MS = 5.0
_QUEUE_INTERVALS = 3
#: Multiple of the lowest RTT at which a queue stands, and a smaller one if the RTT changes steadily, as
#: a queue does, not as jitter: minimum delay, ms, intervals, and correlation of the RTTs of neighbours.
_QUEUED = 2.0
_STEADILY_QUEUED = 1.2
_STEADY_MS = 10.0
_STEADY_INTERVALS = 20
_CORRELATION = 0.8
#: Minimum delay of ACKs in a queue: ms, share of the lowest RTT, and of the queues of both directions.
#: The clock of a host may be wrong by a share; the delay is a multiple of that.
_ACKS_MS = 10.0
_ACKS_SHARE = 0.5
_CLOCK = 1e-4
_SURELY = 4


def _late_client(evidence: Evidence) -> str:
    """The application of the client: 30 % of the time pass before it goes on after the server."""
    if not (late := late_application(evidence, "client")):
        return ""
    losses = loss_limit(evidence)
    return late + (f"; in the rest, {losses}" if losses else "")


def _receive_window(evidence: Evidence) -> str:
    """The receive window, with or without a scale, that is full or reached again and again.

    It is full in half of the time with data in flight, or reached to a segment in 80 % of the intervals
    of 100 ms: ACKs open it, and the sender fills it. Away from the sender, the data of an RTT fill it.
    """
    row = evidence.row
    window = row["window_max"]
    if math.isnan(window) or _waits_for_application(evidence):
        return ""
    is_full = row["window_limited"] >= _MOSTLY
    if not is_full and not _fills_window(evidence):
        return ""
    scale = row[f"scale_{evidence.receiver}"]
    unscaled = row["handshake"] == "whole" and not scale > 0 and window <= _UNSCALED
    why = f", which has {_without_scale(scale)}," if unscaled else ""
    rtt = evidence.rtt_ms
    median = row["far_rtt_p50_ms"]
    rate = "" if math.isnan(rtt) else f" of {max(rtt, median) if median > 0 else rtt:.3g} ms"
    grown = _grown_from(evidence)
    size = (
        f"{size_text(grown)} at first, growing to {size_text(window)}," if grown else size_text(window)
    )
    limits = f"the receive window of the {evidence.receiver}{why} limits the rate: {size}"
    if not is_full and not evidence.is_at_sender:
        return f"{limits} per RTT{rate}, which is about what passed"
    share = 100 * row["window_limited"]
    return f"{limits} per RTT{rate}, full in {share:.0f} % of the time with data in flight"


def _grown_from(evidence: Evidence) -> float:
    """Returns the first window of a receiver that only ever opens it further; zero if it does not.

    Its autotuning follows the data, so that the last window says nothing of the rate before.
    """
    own = evidence.intervals[evidence.intervals["up"] == (evidence.row["direction"] == "up")]
    windows = own["window_min"].dropna()
    if len(windows) < _GROWING or not windows.is_monotonic_increasing:
        return 0.0
    first, middle = float(windows.iloc[0]), float(windows.iloc[len(windows) // 2])
    # A window that has its size from early on is that size.
    return first if first > 0 and evidence.row["window_max"] >= _GROWTH * middle else 0.0


def _fills_window(evidence: Evidence) -> bool:
    steady, rounds = evidence.steady, evidence.rounds
    if not evidence.is_at_sender:
        # The receiver acknowledges after two segments, so that they are missing in the RTT.
        filled = rounds["flight"] + 2 * evidence.segment >= _PER_RTT * rounds["window"]
        return len(rounds) >= _INTERVALS and bool(filled.mean() >= _MOST_ROUNDS)
    if len(steady) < _INTERVALS:
        return False
    is_full = steady["in_flight_max"] + evidence.segment > steady["window_min"]
    return bool(is_full.mean() >= _FILLED)


def _without_scale(scale: float) -> str:
    return "no window scale" if math.isnan(scale) else "a window scale of 0"


def _paused_application(evidence: Evidence) -> str:
    """The application of the sender: half of the time passes between its data, in pauses of their own.

    A path that stands still makes few pauses, and data are retransmitted after them.
    """
    row, own = evidence.row, evidence.intervals
    paused = evidence.pauses_s(evidence.sender)
    if evidence.is_at_sender or not paused >= _MOSTLY * row["download_s"]:
        return ""
    times = own.loc[(own["up"] == (row["direction"] == "up")) & (own["bytes"] > 0), "t_s"]
    count = int((times.sort_values().diff() > _GAP * INTERVAL_S).sum())
    # ACKs may wait for as long as they did at other times, before they reach the sender. That is not
    # known without RTTs to it.
    if not paused >= count * row["near_rtt_p95_ms"] / 1e3:
        return ""
    if count < _PAUSES or row["losses"] + row["spurious"] >= count:
        return ""
    return (
        f"the application of the {evidence.sender} limits the rate: it paused for "
        f"{seconds(paused)} ({plural(count, 'time')}) when all of its data were acknowledged"
    )


def _waits_for_application(evidence: Evidence) -> bool:
    return evidence.is_at_sender and bool(evidence.row["application_limited"] >= _MOSTLY)


def _application(evidence: Evidence) -> str:
    """The application: nothing is in flight in half of the time."""
    if not _waits_for_application(evidence):
        return ""
    return _idle_text(evidence, evidence.row["application_limited"])


def _idle_application(evidence: Evidence) -> str:
    """The application: idle in the largest share of the time, or in 30 % beside 10 % of other waits."""
    row = evidence.row
    idle = row["limit_idle"]
    waits = row["limit_receive_window"] + row["limit_recovery"] + row["limit_wait"]
    is_largest = idle > max(waits, row["limit_network"])
    if not (is_largest or (idle >= _IDLE and waits < _HARDLY)):
        return ""
    losses = loss_limit(evidence)
    return _idle_text(evidence, idle) + (f"; in the rest, {losses}" if losses else "")


def _idle_text(evidence: Evidence, share: float) -> str:
    """Names the side whose application let more time pass, the sender unless it was the other one."""
    times = {
        evidence.sender: evidence.turns_s(evidence.sender) + evidence.pauses_s(evidence.sender),
        evidence.receiver: evidence.turns_s(evidence.receiver),
    }
    return (
        f"the application of the {max(times, key=times.__getitem__)} limits the rate: nothing was in "
        f"flight in {100 * share:.0f} % of the time"
    )


def _send_buffer(evidence: Evidence) -> str:
    """The send buffer, or a window or rate of the application: a bound of the flight, without loss.

    The flight comes up to one and the same bound in each block of two RTTs, to two segments, for half
    of the time or more. It does not grow further, as a congestion window does. The bound is below 80 %
    of the receive window, and the RTT comes back to its lowest in most blocks.

    A congestion control that keeps its flight, such as Vegas, keeps a queue of two segments or more, so
    that the RTT stays above its lowest. Where a sender had more in flight before, or its bounds differ
    a little, it stands beside the buffer and the application.
    """
    if evidence.row["losses"] or len(evidence.steady) < _INTERVALS:
        return ""
    return _constant_flight(evidence) or _even_rate(evidence)


def _constant_flight(evidence: Evidence) -> str:
    """A bound that the flight comes up to at the sender."""
    row, steady, size = evidence.row, evidence.steady, evidence.block
    window = row["window_max"]
    if not evidence.is_at_sender:
        return ""
    bound, segment = float(steady["in_flight_max"].max()), evidence.segment
    peaks = steady["in_flight_max"].rolling(size, min_periods=1).max()
    grown = peaks.cummax() >= bound - segment
    if grown.sum() < _INTERVALS or grown.mean() < _MOSTLY or bound > _BELOW * window:
        return ""
    lowest = steady["rtt_min_ms"].rolling(size, min_periods=1).min()[grown]
    delay = lowest - row["far_rtt_min_ms"]
    empty_ms = _EMPTY_SEGMENTS * 8e-3 * segment / row["throughput_mbps"]
    is_empty = (delay < empty_ms).mean() >= _EMPTY
    reached = peaks[grown]
    is_bound = is_empty and (reached >= bound - 2 * segment).mean() >= _FILLED
    if not is_bound or row["in_flight_max"] > _ONCE * bound:
        # Jitter of the path lets the lowest RTTs of intervals differ.
        near_ms = max(empty_ms, _JITTER * row["far_rtt_min_ms"] + _JITTER_MS)
        is_about = (reached >= bound - max(_NEARLY * bound, 2 * segment)).mean() >= _FILLED
        if not is_about or (delay < near_ms).mean() < _EMPTY:
            return ""
        unknown = ", a receive window of unknown scale" if math.isnan(window) else ""
        return (
            f"{SOME_LIMIT}{unknown} or a CCA that keeps its window limits "
            f"the rate of the {evidence.sender}: {size_text(bound)} are in flight at most, no loss"
        )
    if math.isnan(window):
        return (
            f"{SOME_LIMIT} or a receive window of unknown scale limits the "
            f"rate of the {evidence.sender}: it keeps to {size_text(bound)} in flight, nothing is lost"
        )
    return (
        f"{OWN_LIMIT}{evidence.sender} limits the rate, or its application (a window, a "
        f"constant rate), not the network: it keeps to {size_text(bound)} in flight, nothing is lost, "
        f"and the receive window is {size_text(window)}"
    )


def _even_rate(evidence: Evidence) -> str:
    """The same data in each RTT, which is near its lowest: no queue, and no window that grows."""
    row, rounds = evidence.row, evidence.rounds
    window = row["window_max"]
    if len(rounds) < _INTERVALS or (row["place"] == "receiver" and not evidence.has_near_rtts):
        return ""
    if evidence.pauses_s(evidence.sender) > _HARDLY * row["download_s"]:
        return ""
    low, flight, high = rounds["flight"].quantile([0.1, 0.5, 0.9])
    # Short flights, and answers to requests, wait for the other side in each RTT.
    other = "up" if row["direction"] == "down" else "down"
    if flight < _FLIGHT * evidence.segment or row[f"segments_{other}"] > _REQUESTS:
        return ""
    third = len(rounds) // 3
    first, last = rounds["flight"].iloc[:third].mean(), rounds["flight"].iloc[-third:].mean()
    is_even = high - low <= max(_EVEN * flight, 2 * evidence.segment)
    if not is_even or abs(last - first) > max(_TREND * flight, evidence.segment):
        return ""
    is_near = rounds["rtt_ms"].median() <= (1 + _NEAR) * evidence.rtt_ms + _NEAR_MS
    if high > _BELOW * window or not (is_near or _empties(evidence)):
        return ""
    unknown = ", a receive window of unknown scale" if math.isnan(window) else ""
    known = "" if unknown else f", and the receive window is {size_text(window)}"
    # The lowest RTT of a capture that begins later may be that of a queue.
    queue = ", a path whose queue keeps its length" if row["handshake"] == "none" else ""
    return (
        f"{SOME_LIMIT}{unknown}{queue} or a CCA that keeps its window limits "
        f"the rate of the {evidence.sender}: {size_text(flight)} pass per RTT of "
        f"{evidence.rtt_ms:.3g} ms, nothing is lost{known}"
    )


def _empties(evidence: Evidence) -> bool:
    """Whether the queues of bursts are gone within two RTTs, on both sides of a capture."""
    row = evidence.row
    near_ms, lowest_ms = row["near_rtt_p50_ms"], row["near_rtt_min_ms"]
    if row["place"] == "receiver" or not near_ms <= (1 + _NEAR) * lowest_ms + _NEAR_MS:
        return False
    lowest = evidence.steady["rtt_min_ms"].rolling(evidence.block, min_periods=1).min()
    delay = lowest - row["far_rtt_min_ms"]
    return bool((delay < _JITTER * row["far_rtt_min_ms"] + _JITTER_MS).mean() >= _EMPTY)


def _duplicates(evidence: Evidence) -> str:
    """Packets that came twice, but not all of them: a device on the path sends them twice."""
    row = evidence.row
    twice, packets = row["captured_twice"], row["packets_up"] + row["packets_down"]
    if not _TWICE <= twice < _TWICE_SHARE * packets:
        return ""
    return (
        f"{twice} of {packets + twice} packets came twice: a device on the path, or the capture, "
        "duplicates them"
    )


def _offload(evidence: Evidence) -> str:
    """Segments above the announced size, which the network card cuts or has joined (TSO, GRO)."""
    row = evidence.row
    announced = [row[name] for name in ("mss_up", "mss_down") if not math.isnan(row[name])]
    if not announced or row["segment_max"] <= min(announced):
        return ""
    return (
        f"segments of up to {row['segment_max']} bytes are those of the host (TSO, GRO): on the path "
        f"none is longer than {min(announced):.0f} bytes"
    )


def _marks(evidence: Evidence) -> str:
    """Marks of congestion (ECN) instead of losses: those of packets, or their echoes."""
    row = evidence.row
    marks, echoes = row["marked_packets"], row["congestion_echoes"]
    # Without a handshake, marks and echoes alone tell that ECN was agreed.
    is_agreed = row["ecn"] or row["handshake"] == "none"
    if not is_agreed or max(marks, echoes) < _MARKS or row["losses"] > max(marks, echoes):
        return ""
    seen = (
        f"{plural(marks, 'packet')} with the mark" if marks else f"{plural(echoes, 'echo', 'echoes')}"
    )
    return f"a queue on the path marks packets (ECN), to which the {evidence.sender} slows down: {seen}"


def _queue_of_acks(evidence: Evidence) -> str:
    """A queue of the ACKs, which timestamps tell from one of the data.

    Packets of both sides are late by queues before the capture. What the RTT beyond the capture has
    more than these is the delay of the answers.
    """
    row = evidence.row
    side = {"client": "late_up_p50_ms", "server": "late_down_p50_ms"}
    late, data = row[side[evidence.receiver]], row[side[evidence.sender]]
    far = row["far_rtt_p50_ms"] - row["far_rtt_min_ms"]
    near = row["near_rtt_p50_ms"] - row["near_rtt_min_ms"]
    # An application that pauses answers later, too: by less than an RTT, or its pauses show.
    waited = evidence.pauses_s(evidence.sender) + evidence.turns_s(evidence.sender)
    is_bulk = evidence.sends_full_segments(evidence.sender) and waited <= _HARDLY * row["download_s"]
    answers = near - data if is_bulk and near - data >= row["rtt_min_ms"] else 0.0
    acks = late + answers
    error = _CLOCK * 1e3 * row["duration_s"]
    least = max(
        _ACKS_MS, _ACKS_SHARE * row["rtt_min_ms"], _ACKS_SHARE * (far + answers), _SURELY * error
    )
    if row["place"] == "unknown" or not acks >= least:
        return ""
    limit = _receive_window(evidence) or loss_limit(evidence)
    return (
        f"a queue stands on the path of the ACKs: in the median they wait {acks:.3g} ms, and the data "
        f"{data + max(far - late, 0.0):.3g} ms" + (f"; {limit}" if limit else "")
    )


def _queue(evidence: Evidence) -> str:
    """A standing queue: all RTTs of half of the intervals are above twice the lowest.

    Where the RTT changes steadily from interval to interval, a fifth above the lowest is enough.
    """
    row = evidence.row
    lowest = evidence.steady["rtt_min_ms"].dropna()
    is_steady = len(lowest) >= _STEADY_INTERVALS and lowest.autocorr() >= _CORRELATION
    times, more = (_STEADILY_QUEUED, _STEADY_MS) if is_steady else (_QUEUED, _QUEUE_MS)
    least = max(times * row["far_rtt_min_ms"], row["far_rtt_min_ms"] + more)
    # Close to the receiver, RTTs are those of its delayed ACKs.
    if row["place"] == "receiver" or row["far_rtt_samples"] < 20:
        return ""
    if not row["far_rtt_p50_ms"] > least:
        return ""
    if evidence.pauses_s(evidence.sender) >= _IDLE * row["download_s"]:
        return ""
    if len(lowest) < _QUEUE_INTERVALS or not lowest.median() > least:
        return ""
    lost = f"{segments_were(row['losses'])} lost" if row["losses"] else "without loss"
    return (
        f"a queue stands on the path: the RTT is {row['far_rtt_p50_ms']:.3g} ms in the median and "
        f"{row['far_rtt_min_ms']:.3g} ms at least, {lost}"
    )


def _losses_and_offload(evidence: Evidence) -> str:
    """The kind of most losses, or reordering.

    A policer drops bursts at low RTTs, between which the same rate passes. A queue discipline drops
    at the high RTTs of a queue that is not full. A full queue is that of a shallow buffer if its
    RTT is at most 25 % above the lowest.
    """
    losses = loss_limit(evidence)
    return "; ".join(filter(None, (losses, losses and _offload(evidence))))


def _enough(rule: Callable[[Evidence], str]) -> Callable[[Evidence], str]:
    """Returns a rule for transfers only."""

    @functools.wraps(rule)
    def of_enough(evidence: Evidence) -> str:
        return rule(evidence) if evidence.bytes >= _LEAST_BYTES else ""

    return of_enough


#: Rules in the order in which they are tried.
LIMITS: tuple[Callable[[Evidence], str], ...] = (
    _late_client,
    _enough(one_a_round_trip),
    _enough(_queue_of_acks),
    _enough(_receive_window),
    _enough(_idle_application),
    _enough(_paused_application),
    _enough(_marks),
    _enough(overshoot),
    _losses_and_offload,
    _enough(_application),
    _enough(_send_buffer),
    _enough(_queue),
    unclear_losses,
    _duplicates,
    _offload,
)
