"""Limits: what bounds the rate of a connection that waited for nothing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from celltcp.pcap.diagnosis.causes import Cause, Sentence, joined, named, said
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, plural, segments_were
from celltcp.pcap.diagnosis.loss_windows import with_window
from celltcp.pcap.diagnosis.losses import loss_limit, one_a_round_trip, overshoot, unclear_losses
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.pcap.diagnosis.requests import cycle_of, requests_of, requests_text, single_requests
from celltcp.pcap.diagnosis.standing_queues import standing_queue
from celltcp.pcap.diagnosis.thin_streams import thin_stream
from celltcp.pcap.diagnosis.waits import in_queue_of, late_application
from celltcp.results.limits import MAX_UNSCALED_WINDOW
from celltcp.scenarios.quantity_texts import ms_text, size_text, time_text

#: Rule for a limit: the sentence about it, empty where the evidence shows none.
_Rule = Callable[[Evidence], Sentence | str]
#: Limits of a sender of which the capture does not show which one holds, as text.
_SOME_LIMIT = "either the send buffer, the application"
#: Words between a limit and the losses in the rest of the time.
IN_THE_REST = "; in the rest, "
#: Minimum payload for which a limit is named, bytes: less fits into the first windows.
_MIN_BYTES = 20_000
#: Minimum share of the time at which a limit holds.
_MIN_LIMITED_SHARE = 0.5
#: Maximum distance of peaks of the flight from their bound where an application writes at a rate, as a
#: share of the bound.
_MAX_WRITE_RANGE = 0.15
#: Maximum excess of an RTT without a queue over the lowest one, by jitter: a share of it, and ms.
_MAX_JITTER_SHARE = 0.05
_MAX_JITTER_MS = 1.0
#: Minimum share of the intervals with an empty path where only the sender bounds the flight.
_MIN_EMPTY_SHARE = 0.8
#: Maximum ratio of the largest flight to its bound; also by segments where that is a receive window.
_MAX_PEAK_RATIO = 1.1
_MARGIN_SEGMENTS = 3
#: Maximum delay of an empty path beyond its lowest RTT, segments.
_MAX_EMPTY_SEGMENTS = 1.5
#: Maximum range of the data of an RTT at an even rate, as a share of their median.
_MAX_EVEN_RANGE = 0.4
#: Maximum excess of an RTT near the lowest one: a share of it, and ms.
_MAX_NEAR_SHARE = 0.25
#: Minimum segments in flight at an even rate, and maximum segments of the receiver.
_MIN_EVEN_SEGMENTS = 2
_MAX_REQUESTS = 3
#: Maximum change of the flight from the first to the last third of the time, as a share of it.
_MAX_TREND = 0.1
_MAX_NEAR_MS = 2.0
#: Minimum number of intervals that show a limit.
_MIN_INTERVALS = 10
#: Minimum share of the intervals in which a bound of the flight is reached.
_MIN_FILLED_SHARE = 0.8
#: Minimum share of a receive window that the data of an RTT fill, and of the rounds in which they do.
_MIN_FILL = 0.85
_MIN_FILLED_ROUNDS = 0.6
#: Share of the receive window up to which it does not limit the flight.
_MAX_WINDOW_SHARE = 0.8
#: Minimum number of pauses of an application, and minimum time between its data for one, intervals.
_MIN_PAUSES = 5
_MIN_PAUSE_INTERVALS = 1.5
#: Minimum share of the time in which an application is idle, if other waits are short.
_MIN_IDLE_SHARE = 0.3
#: Maximum share of the time of waits that are short.
_MAX_OTHER_SHARE = 0.1
#: Minimum number of packets that came twice, and the share of packets from which on the capture has all
#: twice.
_MIN_DUPLICATES = 3
_ALL_DUPLICATES_SHARE = 0.2
#: Minimum intervals of a window that grows, and minimum ratio of its end to its middle.
_MIN_GROWING = 4
_MIN_GROWTH = 1.2
#: Minimum number of marks of congestion at which a queue marks.
_MIN_MARKS = 3
#: Minimum delay of ACKs in a queue: ms, and share of the lowest RTT and of the delay of both queues.
_MIN_ACKS_MS = 10.0
_MIN_ACKS_SHARE = 0.5
#: Maximum ratio of the rate while ACKs wait to that of the other time at which nothing else limits it.
_MAX_SLOWER = 0.5
#: Relative error of the clock of a host, and minimum ratio of the delay of ACKs to that error.
_CLOCK_ERROR = 1e-4
_MIN_CLOCK_RATIO = 4


def _late_client(evidence: Evidence) -> Sentence:
    """The application of the client: 30 % of the time pass before it goes on after the server.

    Between calls its user knows of that: what the path does to them comes first.
    """
    late_text = late_application(evidence, "client")
    losses_text = loss_limit(evidence) if late_text else Sentence()
    if losses_text and cycle_of(evidence) is not None:
        return losses_text + "; between its calls, it " + late_text
    return joined(IN_THE_REST, (late_text, losses_text))


def _messages(evidence: Evidence) -> Sentence | str:
    """The application: messages at regular times, with pauses between them."""
    messages = messages_of(evidence.row)
    if messages is None or evidence.row["losses_outage"]:
        return ""
    text = f"the application of the {evidence.sender} limits the rate: {messages}"
    losses_text = loss_limit(evidence)
    if losses_text.main_cause is Cause.FULL_QUEUE:
        lost_text = segments_were(evidence.row["losses"])
        losses_text = said(f"{lost_text} lost in a queue that its bursts filled")
    return joined("; beside that, ", (text, losses_text))


def _window_and_losses(evidence: Evidence) -> Sentence:
    """The receive window, as below, and the losses beside it: first what costs more of the time."""
    window_text = receive_window(evidence)
    losses_text = Sentence()
    if window_text and evidence.row["losses"]:
        losses_text = loss_limit(evidence)
    texts = [window_text, losses_text]
    if losses_text and evidence.is_at_sender and evidence.row["window_limited"] < _MIN_LIMITED_SHARE:
        texts = [with_window(evidence, losses_text), window_text]
    return joined("; beside that, ", texts)


def receive_window(evidence: Evidence) -> Sentence:
    """The receive window, with or without a scale, that is full or reached again and again.

    It is full in half of the time with data in flight, or reached to a segment in 80 % of the intervals
    of 100 ms: ACKs open it, and the sender fills it. Away from the sender, the data of an RTT fill it.
    """
    row = evidence.row
    window = row["window_max"]
    if math.isnan(window) or _waits_for_application(evidence):
        return Sentence()
    # A sender that had more in flight does not keep to the window that the capture shows.
    margin = max((_MAX_PEAK_RATIO - 1) * window, _MARGIN_SEGMENTS * evidence.segment_bytes)
    if evidence.is_at_sender and row["in_flight_max"] > window + margin:
        return Sentence()
    is_full = row["window_limited"] >= _MIN_LIMITED_SHARE
    if not is_full and not _fills_window(evidence):
        return Sentence()
    scale = row[f"scale_{evidence.receiver}"]
    scale_text = ""
    if row["handshake"] == "whole" and not scale > 0 and window <= MAX_UNSCALED_WINDOW:
        scale_text = f", which has {'no window scale' if math.isnan(scale) else 'a window scale of 0'},"
    rtt_ms, median_ms = evidence.rtt_ms, row["far_rtt_p50_ms"]
    rtt_text = ""
    if not math.isnan(rtt_ms):
        rtt_text = f" of {ms_text(max(rtt_ms, median_ms) if median_ms > 0 else rtt_ms)}"
    size = size_text(window)
    if first := _first_window(evidence):
        size = f"{size_text(first)} at first, growing to {size},"
    text = (
        f"the receive window of the {evidence.receiver}{scale_text} limits the rate: {size} per RTT"
        f"{rtt_text}"
    )
    share_text = f"full in {100 * row['window_limited']:.0f} % of the time with data in flight"
    if not is_full and not evidence.is_at_sender:
        share_text = "which is about what passed"
    return named(Cause.RECEIVE_WINDOW, f"{text}, {share_text}")


def _first_window(evidence: Evidence) -> float:
    """Returns the first window of a receiver that never makes it smaller; 0 for others.

    The window then follows the data (autotuning), so that the last one did not limit the rate before.
    """
    windows = evidence.sender_intervals["window_min"].dropna()
    if len(windows) < _MIN_GROWING or not windows.is_monotonic_increasing:
        return 0.0
    first, middle = float(windows.iloc[0]), float(windows.iloc[len(windows) // 2])
    # A window that has reached its size by the middle does not count as growing.
    return first if first > 0 and evidence.row["window_max"] >= _MIN_GROWTH * middle else 0.0


def _fills_window(evidence: Evidence) -> bool:
    """Returns whether the data of most intervals reach the receive window."""
    steady, rounds = evidence.steady, evidence.rounds
    if not evidence.is_at_sender:
        # Two segments more are in flight than the RTT shows, as the receiver delays its ACKs.
        is_filled = rounds["flight"] + 2 * evidence.segment_bytes >= _MIN_FILL * rounds["window"]
        return len(rounds) >= _MIN_INTERVALS and bool(is_filled.mean() >= _MIN_FILLED_ROUNDS)
    if len(steady) < _MIN_INTERVALS:
        return False
    is_full = steady["in_flight_max"] + evidence.segment_bytes > steady["window_min"]
    return bool(is_full.mean() >= _MIN_FILLED_SHARE)


def _paused_application(evidence: Evidence) -> str:
    """The application of the sender: half of the time passes between its data, in pauses of their own.

    A path that stands still makes few pauses, and data are retransmitted after them.
    """
    row, own = evidence.row, evidence.sender_intervals
    paused_s = evidence.pauses_s(evidence.sender)
    if evidence.is_at_sender or not paused_s >= _MIN_LIMITED_SHARE * row["download_s"]:
        return ""
    times = own.loc[own["bytes"] > 0, "t_s"]
    count = int((times.sort_values().diff() > _MIN_PAUSE_INTERVALS * INTERVAL_S).sum())
    # A pause as short as a usual delay of ACKs may be a wait for them. Without RTTs to the sender, that
    # delay is not known.
    if not paused_s >= count * row["near_rtt_p95_ms"] / 1e3:
        return ""
    if count < _MIN_PAUSES or row["losses"] + row["spurious"] >= count:
        return ""
    return (
        f"the application of the {evidence.sender} limits the rate: it paused for "
        f"{time_text(paused_s)} ({plural(count, 'time')}) when all of its data were acknowledged"
    )


def _waits_for_application(evidence: Evidence) -> bool:
    """Returns whether a capture at the sender shows that its application is the limit."""
    return evidence.is_at_sender and bool(evidence.row["limit_idle"] >= _MIN_LIMITED_SHARE)


def _application(evidence: Evidence) -> str:
    """The application: nothing is in flight in half of the time."""
    if not _waits_for_application(evidence):
        return ""
    return _idle_text(evidence, evidence.row["limit_idle"])


def _idle_application(evidence: Evidence) -> Sentence | str:
    """The application: idle in the largest share of the time, or in 30 % beside 10 % of other waits."""
    row = evidence.row
    idle_share = row["limit_idle"]
    wait_share = row["limit_receive_window"] + row["limit_recovery"] + row["limit_wait"]
    is_largest = idle_share > max(wait_share, row["limit_network"])
    if not (is_largest or (idle_share >= _MIN_IDLE_SHARE and wait_share < _MAX_OTHER_SHARE)):
        return ""
    return joined(IN_THE_REST, (_idle_text(evidence, idle_share), loss_limit(evidence)))


def _idle_text(evidence: Evidence, share: float) -> str:
    """Returns the sentence about the side whose application was idle for longer."""
    times = {
        evidence.sender: evidence.turns_s(evidence.sender) + evidence.pauses_s(evidence.sender),
        evidence.receiver: evidence.turns_s(evidence.receiver),
    }
    return (
        f"the application of the {max(times, key=times.__getitem__)} limits the rate: nothing was in "
        f"flight in {100 * share:.0f} % of the time"
    )


def _send_buffer(evidence: Evidence) -> Sentence | str:
    """The send buffer, or a window or rate of the application: a bound of the flight, without loss.

    The flight comes up to one and the same bound in each block of two RTTs, to two segments, for half
    of the time or more. It does not grow further, as a congestion window does. The bound is below 80 %
    of the receive window, and the RTT comes back to its lowest in most blocks.

    A congestion control that keeps its flight, such as Vegas, keeps a queue of two segments or more, so
    that the RTT stays above its lowest. Where a sender had more in flight before, or its bounds differ
    a little, it stands beside the buffer and the application.
    """
    if evidence.row["losses"] or len(evidence.steady) < _MIN_INTERVALS:
        return ""
    text = _constant_flight(evidence)
    # At the sender, a flight that keeps to its bound shows that an answer is all of it.
    if (text or not evidence.is_at_sender) and (requests := requests_of(evidence.row)):
        return requests_text(evidence, requests)
    return text or _even_rate(evidence)


def _constant_flight(evidence: Evidence) -> Sentence | str:
    """A bound that the flight comes up to at the sender."""
    row, steady, block = evidence.row, evidence.steady, evidence.block
    window = row["window_max"]
    if not evidence.is_at_sender:
        return ""
    bound, segment = float(steady["in_flight_max"].max()), evidence.segment_bytes
    peaks = steady["in_flight_max"].rolling(block, min_periods=1).max()
    # Intervals after the flight has first come up to its bound.
    has_grown = peaks.cummax() >= bound - segment
    is_grown_long = has_grown.sum() >= _MIN_INTERVALS and has_grown.mean() >= _MIN_LIMITED_SHARE
    if not is_grown_long or bound > _MAX_WINDOW_SHARE * window:
        return ""
    lowest_ms = steady["rtt_min_ms"].rolling(block, min_periods=1).min()[has_grown]
    delay_ms = lowest_ms - row["far_rtt_min_ms"]
    empty_ms = _MAX_EMPTY_SEGMENTS * 8e-3 * segment / row["throughput_mbps"]
    is_empty = (delay_ms < empty_ms).mean() >= _MIN_EMPTY_SHARE
    later_peaks = peaks[has_grown]
    is_bound = is_empty and (later_peaks >= bound - 2 * segment).mean() >= _MIN_FILLED_SHARE
    if not is_bound or row["in_flight_max"] > _MAX_PEAK_RATIO * bound:
        # Jitter of the path lets the lowest RTTs of intervals differ.
        near_ms = max(empty_ms, _MAX_JITTER_SHARE * row["far_rtt_min_ms"] + _MAX_JITTER_MS)
        is_near = later_peaks >= bound - max(_MAX_WRITE_RANGE * bound, 2 * segment)
        is_empty = (delay_ms < near_ms).mean() >= _MIN_EMPTY_SHARE
        if is_near.mean() < _MIN_FILLED_SHARE or not is_empty:
            return ""
        window_text = ", a receive window of unknown scale" if math.isnan(window) else ""
        return named(
            Cause.SOME_LIMIT,
            f"{_SOME_LIMIT}{window_text} or a CCA that keeps its window limits "
            f"the rate of the {evidence.sender}: {size_text(bound)} are in flight at most, no loss",
        )
    if math.isnan(window):
        return named(
            Cause.SOME_LIMIT,
            f"{_SOME_LIMIT} or a receive window of unknown scale limits the "
            f"rate of the {evidence.sender}: it keeps to {size_text(bound)} in flight, nothing is lost",
        )
    return named(
        Cause.SENDER,
        f"the send buffer of the {evidence.sender} limits the rate, or its application (a window, a "
        f"constant rate), not the network: it keeps to {size_text(bound)} in flight, nothing is lost, "
        f"and the receive window is {size_text(window)}",
    )


def _even_rate(evidence: Evidence) -> Sentence | str:
    """The same data in each RTT, which is near its lowest: no queue, and no window that grows."""
    row, rounds = evidence.row, evidence.rounds
    window = row["window_max"]
    if len(rounds) < _MIN_INTERVALS or (row["place"] == "receiver" and not evidence.has_near_rtts):
        return ""
    if evidence.pauses_s(evidence.sender) > _MAX_OTHER_SHARE * row["download_s"]:
        return ""
    low, flight, high = rounds["flight"].quantile([0.1, 0.5, 0.9])
    # Short flights, and answers to requests, wait for the other side in each RTT.
    other = "up" if row["direction"] == "down" else "down"
    if flight < _MIN_EVEN_SEGMENTS * evidence.segment_bytes or row[f"segments_{other}"] > _MAX_REQUESTS:
        return ""
    third = len(rounds) // 3
    first, last = rounds["flight"].iloc[:third].mean(), rounds["flight"].iloc[-third:].mean()
    is_even = high - low <= max(_MAX_EVEN_RANGE * flight, 2 * evidence.segment_bytes)
    if not is_even or abs(last - first) > max(_MAX_TREND * flight, evidence.segment_bytes):
        return ""
    is_near = rounds["rtt_ms"].median() <= (1 + _MAX_NEAR_SHARE) * evidence.rtt_ms + _MAX_NEAR_MS
    if high > _MAX_WINDOW_SHARE * window or not (is_near or _empties(evidence)):
        return ""
    unknown_text = ", a receive window of unknown scale" if math.isnan(window) else ""
    window_text = "" if unknown_text else f", and the receive window is {size_text(window)}"
    # The lowest RTT of a capture that begins later may be that of a queue.
    queue_text = ", a path whose queue keeps its length" if row["handshake"] == "none" else ""
    return named(
        Cause.SOME_LIMIT,
        f"{_SOME_LIMIT}{unknown_text}{queue_text} or a CCA that keeps its window limits "
        f"the rate of the {evidence.sender}: {size_text(flight)} pass per RTT of "
        f"{ms_text(evidence.rtt_ms)}, nothing is lost{window_text}",
    )


def _empties(evidence: Evidence) -> bool:
    """Returns whether the queues of bursts are gone within two RTTs, on both sides of a capture."""
    row = evidence.row
    near_ms, lowest_ms = row["near_rtt_p50_ms"], row["near_rtt_min_ms"]
    if row["place"] == "receiver" or not near_ms <= (1 + _MAX_NEAR_SHARE) * lowest_ms + _MAX_NEAR_MS:
        return False
    block_min_ms = evidence.steady["rtt_min_ms"].rolling(evidence.block, min_periods=1).min()
    delay_ms = block_min_ms - row["far_rtt_min_ms"]
    return bool(
        (delay_ms < _MAX_JITTER_SHARE * row["far_rtt_min_ms"] + _MAX_JITTER_MS).mean()
        >= _MIN_EMPTY_SHARE
    )


def _duplicates(evidence: Evidence) -> str:
    """Packets that came twice, but not all of them: a device on the path sends them twice."""
    row = evidence.row
    duplicates, packets = row["captured_twice"], row["packets_up"] + row["packets_down"]
    if not _MIN_DUPLICATES <= duplicates < _ALL_DUPLICATES_SHARE * packets:
        return ""
    return (
        f"{duplicates} of {packets + duplicates} packets came twice: a device on the path, or the "
        "capture, duplicates them"
    )


def _offload(evidence: Evidence) -> str:
    """Segments above the announced size, which the network card cuts or has joined (TSO, GRO)."""
    longest, mss = evidence.row["segment_max"], min(evidence.announced_mss, default=math.inf)
    if longest <= mss:
        return ""
    return (
        f"segments of up to {longest} bytes are those of the host (TSO, GRO): on the path "
        f"none is longer than {mss:.0f} bytes"
    )


def _marks(evidence: Evidence) -> str:
    """Marks of congestion (ECN) instead of losses: those of packets, or their echoes."""
    row = evidence.row
    marks, echoes = row["marked_packets"], row["congestion_echoes"]
    # Without a handshake, marks and echoes alone tell that ECN was agreed.
    is_agreed = row["ecn"] or row["handshake"] == "none"
    if not is_agreed or max(marks, echoes) < _MIN_MARKS or row["losses"] > max(marks, echoes):
        return ""
    marks_text = f"{plural(marks, 'packet')} with the mark"
    if not marks:
        marks_text = plural(echoes, "echo", "echoes")
    return (
        f"a queue on the path marks packets (ECN), to which the {evidence.sender} slows down: "
        f"{marks_text}"
    )


def _queue_of_acks(evidence: Evidence) -> Sentence | str:
    """A queue of the ACKs, which timestamps tell from one of the data.

    Packets of both sides are late by queues before the capture. What the RTT beyond the capture has
    more than these is the delay of the answers.
    """
    row = evidence.row
    columns = {"client": "late_up_p50_ms", "server": "late_down_p50_ms"}
    # Delays of ACKs and data before the capture, and of both directions beyond it.
    late_ms, data_ms = row[columns[evidence.receiver]], row[columns[evidence.sender]]
    far_ms = row["far_rtt_p50_ms"] - row["far_rtt_min_ms"]
    # Lateness counts from the earliest packet of the connection, which may have queued.
    lowest_ms = evidence.own_near_rtt_ms or row["near_rtt_min_ms"]
    near_ms = _median_near_rtt_ms(evidence) - lowest_ms
    # An application that pauses answers later, too: by less than an RTT, or its pauses show.
    waited_s = evidence.pauses_s(evidence.sender) + evidence.turns_s(evidence.sender)
    has_pauses = waited_s > _MAX_OTHER_SHARE * row["download_s"]
    is_bulk = evidence.sends_full_segments(evidence.sender) and not has_pauses
    # Others of its hosts show a queue that its own lowest RTT has.
    standing_ms = lowest_ms - row["near_rtt_min_ms"] if row["place"] == "receiver" and is_bulk else 0.0
    answers_ms = near_ms - data_ms
    if is_bulk and answers_ms + standing_ms >= row["rtt_min_ms"] and answers_ms >= data_ms:
        answers_ms += standing_ms
    elif standing_ms >= max(_MIN_ACKS_MS, row["rtt_min_ms"]):
        return named(
            Cause.STANDING_QUEUE,
            "a queue stands on the path of the data or of the ACKs: in the median they wait "
            f"{ms_text(near_ms + standing_ms)} together",
        )
    else:
        answers_ms = 0.0
    acks_ms = evidence.uplink_wait_ms or late_ms + answers_ms
    min_acks_ms = max(
        _MIN_ACKS_MS,
        _MIN_ACKS_SHARE * row["rtt_min_ms"],
        _MIN_ACKS_SHARE * (far_ms + answers_ms),
        _MIN_CLOCK_RATIO * (_CLOCK_ERROR * 1e3 * row["duration_s"]),
    )
    if row["place"] == "unknown" or not acks_ms >= min_acks_ms:
        return ""
    text = named(Cause.ACKS_IN_QUEUE, "a queue stands on the path of the ACKs")
    if evidence.uplink_filler is not None and evidence.uplink_wait_ms:
        behind = f"packets of the {evidence.receiver} wait in "
        text = in_queue_of(evidence.uplink_filler, Cause.ACKS_IN_QUEUE, behind)
    limit = receive_window(evidence) or loss_limit(evidence) or unclear_losses(evidence)
    if evidence.beside_opposite is not None:
        # Medians over packets are those of the time in which most pass: before the ACKs wait.
        without, during = evidence.beside_opposite
        is_slower = during.mbps < _MAX_SLOWER * without.mbps
        return text if is_slower else joined("; ", (text, limit))
    queue_ms = data_ms + max(far_ms - late_ms, 0.0)
    data_text = "" if math.isnan(queue_ms) else f", and the data {ms_text(queue_ms)}"
    rare_text = ""
    if evidence.is_lowest_rare:
        lowest_text = ms_text(row["near_rtt_min_ms"])
        rare_text = f", beyond the lowest RTT of {lowest_text}, which may have a queue, too"
    text += f": in the median they wait {ms_text(acks_ms)}{data_text}{rare_text}"
    return joined("; ", (text, limit))


def _median_near_rtt_ms(evidence: Evidence) -> float:
    """Returns the median RTT to the sender over its packets, as that of their lateness is, ms.

    Samples come at the rate of the ACKs, so that their median is of another time where rates vary.
    """
    own = evidence.sender_intervals.dropna(subset=["near_rtt_mean_ms"]).sort_values("near_rtt_mean_ms")
    passed = own["bytes"].cumsum()
    median = own.loc[2 * passed >= own["bytes"].sum(), "near_rtt_mean_ms"]
    return float(median.iloc[0]) if len(median) else float(evidence.row["near_rtt_p50_ms"])


def _losses_and_offload(evidence: Evidence) -> Sentence:
    """The kind of most losses, or reordering.

    A policer drops bursts at low RTTs, between which the same rate passes. A queue discipline drops
    at the high RTTs of a queue that is not full. A full queue is that of a shallow buffer if its
    RTT is at most 25 % above the lowest.
    """
    losses = with_window(evidence, loss_limit(evidence))
    return joined("; ", (losses, losses and _offload(evidence)))


def _unclear_losses(evidence: Evidence) -> Sentence:
    """Losses that show nothing of the path, and what limits the rate beside them."""
    return with_window(evidence, unclear_losses(evidence))


def _for_transfers(rule: _Rule) -> _Rule:
    """Returns a rule that holds for connections with enough payload only."""

    @functools.wraps(rule)
    def limited_rule(evidence: Evidence) -> Sentence | str:
        return rule(evidence) if evidence.payload_bytes >= _MIN_BYTES else ""

    return limited_rule


#: Rules in the order in which they are tried.
LIMITS: tuple[_Rule, ...] = (
    _late_client,
    thin_stream,
    _for_transfers(one_a_round_trip),
    _for_transfers(_queue_of_acks),
    _for_transfers(_window_and_losses),
    _for_transfers(_messages),
    _for_transfers(_idle_application),
    _for_transfers(_paused_application),
    _for_transfers(_marks),
    _for_transfers(overshoot),
    _losses_and_offload,
    _for_transfers(_application),
    _for_transfers(_send_buffer),
    _for_transfers(standing_queue),
    _for_transfers(single_requests),
    _unclear_losses,
    _duplicates,
    _offload,
)
