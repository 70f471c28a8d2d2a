"""Waits: the causes that kept a connection from going on, with the time of each."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from celltcp.pcap.diagnosis.causes import Cause, Sentence, named, said
from celltcp.pcap.diagnosis.evidence import (
    INTERVAL_S,
    Evidence,
    plural,
    records,
    segments_were,
    times_text,
)
from celltcp.pcap.diagnosis.requests import cycle_of, cycle_text
from celltcp.pcap.diagnosis.silences import lost_in_silences, silences_of, silences_text
from celltcp.pcap.estimation.blackouts import LAST_LOSS_SHARE, outages_of
from celltcp.pcap.shared_queue import longest_rtt_ms
from celltcp.results.limits import RETRIES_AT_RTO_MAX
from celltcp.scenarios.quantity_texts import ms_text, time_text

#: Minimum number of delayed ACKs, or of turns, at which they are a pattern.
_MIN_COUNT = 3
#: Minimum number of delayed ACKs for each loss at which losses do not explain them.
_MIN_LOSS_RATIO = 4
#: Maximum ratio of a wait for an ACK to the lowest RTT where the ACK was not delayed.
_MAX_RTT_RATIO = 1.3
#: Minimum share of the time for which an application lets the other side wait.
_MIN_TURNS_SHARE = 0.3
#: Minimum wait for an application with few turns, s.
_MIN_FEW_TURNS_S = 1.0
#: Minimum ratio of pauses of the data to silences of the receiver at which silences are usual.
_MIN_PAUSE_RATIO = 5
#: Maximum number of losses by outage in silences that are usual.
_MAX_USUAL_LOSSES = 1
#: Maximum time without an answer behind the queue of another transfer, its longest RTTs.
_MAX_FILLER_RTTS = 1.5
#: Maximum number of losses for each spurious retransmission behind such a queue.
_MAX_LOSSES_SHARE = 0.5
#: Maximum usual time-out: s, and RTTs.
_MAX_TIMEOUT_S = 0.5
_MAX_TIMEOUT_RTTS = 3
#: Minimum time-out that has doubled, s: twice that of 400 ms, or four times Linux's minimum.
_MIN_DOUBLED_S = 0.8
#: Length of outages that a connection survives with bounded time-outs, over that of the captured one.
_SURVIVED_RATIO = 2
#: Minimum gap of the data where the capture is away from the sender: s, RTTs, and RTTs with queues.
_MIN_GAP_S = 0.5
_MIN_GAP_RTTS = 5
_MIN_GAP_QUEUED_RTTS = 2
#: Minimum ratio of a gap to the usual time between data, which that of messages is.
_MIN_GAP_RATIO = 2
#: Intervals after a gap in which its data come, and around it that show the usual rate; maximum range
#: of an even rate as a share of its median, and minimum share of the data of a gap that come after it.
_MADE_UP = 10
_USUAL = 200
_MAX_EVEN_RANGE = 0.6
_MIN_MADE_UP_SHARE = 0.5
#: Causes of gaps, as text.
_MADE_UP_FOR = "its application did not pause, as the data of that time came after it"
_SENT_BEFORE = "what came after it had been sent before it"
_PAUSED = "its application paused, as it had every ACK"
#: Minimum share of a gap of the data in an outage behind the capture that is part of that outage.
_MIN_COMMON_SHARE = 0.5


@dataclass(frozen=True)
class Wait:
    """A cause for which a connection waited."""

    time_s: float
    #: Sentence about the wait.
    text: Sentence
    #: Whether the path carried nothing meanwhile.
    is_outage: bool = False


def waits(evidence: Evidence) -> Iterator[Wait]:
    """Yields what the connection waited for."""
    row = evidence.row
    if handshake_s := row["handshake_wait_s"]:
        yield Wait(
            handshake_s,
            said(f"waited {time_text(handshake_s)} for the handshake: {row['syns']} SYNs were sent"),
        )
    if closed := row["zero_window_s"]:
        up, down = row["zero_windows_up"], row["zero_windows_down"]
        side = "client" if up >= down else "server"
        text = (
            f"waited {time_text(closed)} for the closed receive window of the {side} "
            f"({plural(up + down, 'time')}): its application did not read"
        )
        yield Wait(closed, said(text))
    # Nagle's algorithm holds back short segments only; full ones wait where the window is one segment.
    side = "client" if 2 * row["delayed_acks_up"] > row["delayed_acks"] else "server"
    # A window that losses keep at one segment waits for its ACK as well.
    is_pattern = row["delayed_acks"] >= max(_MIN_COUNT, _MIN_LOSS_RATIO * row["losses"])
    if is_pattern and not evidence.sends_full_segments(side):
        each_ms = 1e3 * row["delayed_ack_s"] / row["delayed_acks"]
        count_text = f"{plural(row['delayed_acks'], 'time')}, {each_ms:.0f} ms each"
        # What waits for an ACK without a delay waits for an RTT.
        is_rtt = evidence.rtt_ms <= each_ms <= _MAX_RTT_RATIO * evidence.rtt_ms
        acks_text = "ACKs" if is_rtt else "delayed ACKs"
        # Beside its ACK, a segment that was held takes an RTT of its own.
        cycle = cycle_of(evidence)
        saved_text = f", which saves up to {ms_text(cycle.held_ms)} of each request" if cycle else ""
        text = (
            f"waited {time_text(row['delayed_ack_s'])} for {acks_text} ({count_text}): the {side} "
            "sends on only when its last segment is acknowledged (Nagle); set TCP_NODELAY, or write "
            f"each message at once{saved_text}{cycle_text(evidence)}"
        )
        yield Wait(row["delayed_ack_s"], named(Cause.NAGLE, text))
    if late := late_application(evidence, "server"):
        yield Wait(evidence.turns_s("server"), late)
    yield from _gaps(evidence)
    yield from _lost_requests(evidence)
    yield from _silences(evidence)


def _lost_requests(evidence: Evidence) -> Iterator[Wait]:
    """Yields the wait for requests that were lost, at most behind what their client uploads."""
    requests, upload = evidence.lost_requests, evidence.uplink_filler
    if evidence.row["place"] != "receiver" or requests.empty:
        return
    waited_s = float((requests["repaired_s"] - requests["t_s"]).sum())
    were, each = ("was", "it") if len(requests) == 1 else ("were", "each")
    text = said(
        f"waited {time_text(waited_s)} for {plural(len(requests), 'request')} that {were} lost on the "
        f"way to the {evidence.sender}"
    )
    if upload is not None:
        text += in_queue_of(upload, Cause.FILLED_QUEUE, ", most likely in ")
    yield Wait(waited_s, text + f", until a time-out sent {each} again")


def late_application(evidence: Evidence, side: str) -> Sentence:
    """Returns the sentence about an application that was late for 30 % of the time; empty without.

    Few waits may be those for segments which were lost before the capture, or too short to matter.
    """
    row = evidence.row
    turns_s, count = evidence.turns_s(side), row["turns_up" if side == "client" else "turns_down"]
    is_doubtful = turns_s < _MIN_FEW_TURNS_S or row["losses"] or row["handshake_wait_s"]
    if turns_s < _MIN_TURNS_SHARE * row["duration_s"] or (count < _MIN_COUNT and is_doubtful):
        return Sentence()
    action = "asked for more" if side == "client" else "answered"
    return for_application(
        turns_s,
        side,
        f" ({plural(count, 'time')}): it let more than a round trip pass before it {action}"
        f"{cycle_text(evidence)}",
    )


def for_application(waited_s: float, side: str, text: str) -> Sentence:
    """Returns the sentence about a wait for the application of a side, which ends with a text."""
    text = f"waited {time_text(waited_s)} for the application of the {side}{text}"
    return named(Cause.LATE_CLIENT, text) if side == "client" else said(text)


def _gaps(evidence: Evidence) -> Iterator[Wait]:
    """Yields the waits for data of the sender where the capture is away from it."""
    row = evidence.row
    if row["place"] not in ("receiver", "between") or not row["bytes_up"] + row["bytes_down"]:
        return
    own = evidence.sender_intervals
    times = own.loc[own["bytes"] + own["retransmitted_bytes"] > 0, "t_s"].sort_values()
    steps_s = times.diff().dropna() - INTERVAL_S
    usual_s = float(steps_s.median()) if len(steps_s) else 0.0
    # A sender waits for ACKs as long as these wait in a queue.
    queued_rtts_ms = [row["far_rtt_p95_ms"], row["far_rtt_min_ms"] + row["near_rtt_p50_ms"]]
    queued_rtt_ms = max((float(rtt) for rtt in queued_rtts_ms if not math.isnan(rtt)), default=0.0)
    min_gap_s = max(
        _MIN_GAP_S,
        _MIN_GAP_RATIO * (usual_s + INTERVAL_S),
        _MIN_GAP_RTTS * evidence.rtt_or_zero_ms / 1e3,
        _MIN_GAP_QUEUED_RTTS * queued_rtt_ms / 1e3,
    )
    gaps = steps_s[steps_s >= min_gap_s]
    # Retransmissions of an outage behind the capture come after time-outs that double. Those of a
    # request have no data to wait for.
    gap_ends = times[gaps.index]
    are_behind = pd.Series(
        [_is_behind(evidence, end - gap, gap) for end, gap in zip(gap_ends, gaps, strict=True)],
        gaps.index,
        dtype=bool,
    )
    harm_s = max(row["harm_s"] - float(gaps[are_behind].sum()), 0.0)
    gaps = gaps[~are_behind]
    if gaps.sum() <= 2 * (harm_s + row["turns_up_s"] + row["turns_down_s"]):
        return
    losses = evidence.losses
    lost = losses.loc[(losses["kind"] == "outage") & (losses["is_upstream"] == 1), "t_s"]
    # Losses of an outage show when the sender goes on, after time-outs that have doubled.
    ends = times[gaps.index]
    is_outage = [
        bool(lost.between(end - INTERVAL_S, end + gap).any())
        for end, gap in zip(ends, gaps, strict=True)
    ]
    outages, others = gaps[is_outage], gaps[~np.array(is_outage, bool)]
    if len(outages):
        lost_text = f", in which {segments_were(len(lost))} lost"
        # Each time-out is as long as all before it.
        lost_text += _last_timeouts_text(outages * LAST_LOSS_SHARE)
        yield _outage_before(outages, ends, lost_text)
    causes = np.array(
        [
            _cause(evidence, end, gap, interval)
            for end, gap, interval in zip(
                ends[others.index], others, records(own.loc[others.index]), strict=True
            )
        ]
    )
    by_cause = {cause: others[causes == cause] for cause in set(causes)}
    for cause in (_MADE_UP_FOR, _SENT_BEFORE):
        if cause in by_cause:
            yield _outage_before(by_cause[cause], ends, f": {cause}")
    for cause in (_PAUSED, ""):
        if cause in by_cause:
            total_s = float(by_cause[cause].sum())
            text = (
                f"waited {time_text(total_s)} for data of the {evidence.sender}, of which none came: "
            )
            yield Wait(total_s, text + said(cause or _unknown_cause(evidence, by_cause[cause])))


def _outage_before(gaps: pd.Series, ends: pd.Series, reason: str) -> Wait:
    """Returns the wait for outages before the capture, of their lengths and ends, s."""
    total_s = float(gaps.sum())
    starts_text = times_text((ends[gaps.index] - gaps).tolist())
    text = (
        f"waited {time_text(total_s)} for an outage of the path before the capture{starts_text}{reason}"
    )
    return Wait(total_s, said(text), is_outage=True)


def _cause(evidence: Evidence, end_s: float, gap_s: float, interval: Mapping[Hashable, Any]) -> str:
    """Returns the cause of a gap that ended in an interval, as text; empty where none shows."""
    if _is_made_up_for(evidence, end_s - gap_s, end_s):
        return _MADE_UP_FOR
    if interval["held_s"] >= _MIN_COMMON_SHARE * gap_s:
        return _SENT_BEFORE
    return _PAUSED if interval["paused_s"] >= _MIN_COMMON_SHARE * gap_s else ""


def _unknown_cause(evidence: Evidence, gaps: pd.Series) -> Sentence | str:
    """Returns the possible causes of gaps whose timestamps show none, as text."""
    other = evidence.opposite
    if other is not None and gaps.max() <= _MAX_FILLER_RTTS * longest_rtt_ms(other) / 1e3:
        return in_queue_of(other, Cause.ACKS_IN_QUEUE, "its ACKs waited in ")
    # Without RTTs to the sender, nothing shows a queue of ACKs.
    queue_text = "" if evidence.has_near_rtts else "its ACKs waited in a queue, "
    return f"its application paused, {queue_text}or the path between it and the capture stood still"


def _is_made_up_for(evidence: Evidence, start_s: float, end_s: float) -> bool:
    """Returns whether an application at an even rate wrote in a gap: its data came after it."""
    passed = evidence.bytes_by_interval
    first, end = round(start_s / INTERVAL_S) + 1, round(end_s / INTERVAL_S)
    around = passed.loc[first - _USUAL : end + _USUAL + _MADE_UP]
    # Sums over a second, before the gap and after the data that were late.
    sums = around.rolling(_MADE_UP).sum().dropna()
    usual = sums[(sums.index < first) | (sums.index >= end + 2 * _MADE_UP)]
    low, median, high = usual.quantile([0.1, 0.5, 0.9])
    if len(usual) < _MADE_UP or not 0 < high <= low + _MAX_EVEN_RANGE * median:
        return False
    more = float(passed.loc[end : end + _MADE_UP - 1].sum()) - median
    return more >= _MIN_MADE_UP_SHARE * median * (end - first) / _MADE_UP


def _is_behind(evidence: Evidence, start_s: float, gap_s: float) -> bool:
    """Returns whether most of a gap is within an outage behind the capture, or after a lost request."""
    losses = evidence.losses
    outages = losses[(losses["kind"] == "outage") & (losses["is_upstream"] == 0)]
    outages = pd.concat([outages, evidence.lost_requests])
    common_s = outages["repaired_s"].clip(upper=start_s + gap_s) - outages["t_s"].clip(lower=start_s)
    return bool((common_s >= _MIN_COMMON_SHARE * gap_s).any())


def _silences(evidence: Evidence) -> Iterator[Wait]:
    """Yields the waits for a receiver of which nothing came while data were in flight."""
    row, filler = evidence.row, evidence.queue_filler
    unanswered_s = row["unanswered_s"]
    if unanswered_s:
        count_text = plural(row["unanswered_retransmissions"], "retransmission")
        reason = said("an outage, or the host is gone")
        if filler is not None and unanswered_s <= _MAX_FILLER_RTTS * longest_rtt_ms(filler) / 1e3:
            reason = in_queue_of(filler, Cause.FILLED_QUEUE, "it may wait in ")
        waited = f"waited {time_text(unanswered_s)} until the end without any answer ({count_text})"
        yield Wait(unanswered_s, f"{waited}: " + reason)
    answered_s = row["stalled_s"] - unanswered_s
    # A receiver is silent between bursts of data, and while ACKs wait in a long queue.
    is_bursty = evidence.pauses_s(evidence.sender) > _MIN_PAUSE_RATIO * answered_s
    is_queued = answered_s <= _MIN_GAP_QUEUED_RTTS * row["near_rtt_p95_ms"] / 1e3
    is_usual = not evidence.is_at_sender and (is_bursty or is_queued)
    # Without losses, a silence as short as the median RTT is the delay of a queue.
    if not row["losses_outage"] and answered_s <= row["far_rtt_p50_ms"] / 1e3:
        return
    has_few_losses = row["losses_outage"] <= _MAX_USUAL_LOSSES
    if answered_s <= 0 or (is_usual and not unanswered_s and has_few_losses):
        return
    others, is_outage = evidence.timeouts[evidence.timeouts["kind"] != "outage"], False
    if 0 < len(others) <= len(evidence.lost_requests):
        return
    if filler is not None and _explains(filler, row, answered_s):
        lost_text = f"at most {segments_were(row['losses'])}" if row["losses"] else "nothing was"
        text = in_queue_of(filler, Cause.FILLED_QUEUE, f"waited {time_text(answered_s)} in ")
        count_text = plural(row["spurious"], "spurious retransmission")
        text += f"; {lost_text} lost ({count_text})"
    elif row["spurious"] and not row["losses"]:
        text = said(
            f"waited {time_text(answered_s)} for a path that stood still"
            f"{silences_text(silences_of(evidence, answered_s), answered_s)}; nothing was lost "
            f"({plural(row['spurious'], 'spurious retransmission')})"
        )
        is_outage = True
    elif len(others) and not _is_outage(evidence):
        tails = int((others["kind"] == "tail").sum())
        tail_text = f", {tails} of them at the end of a flight" if tails else ""
        # A longer wait has retransmissions that were lost before the capture.
        timeout_s = _MAX_TIMEOUT_S + _MAX_TIMEOUT_RTTS * evidence.rtt_or_zero_ms / 1e3
        is_longer = answered_s > timeout_s * len(others)
        text = said(
            f"waited {time_text(answered_s)} for retransmission time-outs after "
            f"{plural(len(others), 'loss', 'losses')}{tail_text}"
            f"{', or for an outage of the path' if is_longer else ''}"
        )
    else:
        silences, timeout_text = silences_of(evidence, answered_s), ""
        unsent = [each for each in silences if each.is_unsent]
        if 0 < len(unsent) < len(silences):
            silences = [each for each in silences if not each.is_unsent]
            timeout_s = min(sum(each.waited_s for each in unsent), answered_s)
            outage_s = answered_s - timeout_s
            timeout_text = (
                f"; waited {time_text(timeout_s)} more for {plural(len(unsent), 'time-out')}"
                f"{times_text([each.start_s for each in unsent])}: the {evidence.sender} sent nothing, "
                "though ACKs had come again"
            )
        else:
            outage_s = answered_s
        starts_s = [float(outage["t_s"].iloc[0]) for outage in outages_of(evidence.losses)]
        text = said(
            f"waited {time_text(outage_s)} for an outage of the path"
            f"{silences_text(silences, outage_s) or times_text(starts_s)}, "
            f"{lost_in_silences(evidence, silences)}{_doubled_text(evidence)}{timeout_text}"
        )
        is_outage = bool(row["losses_outage"])
    yield Wait(answered_s, text, is_outage)


def _explains(filler: Mapping[Hashable, Any], row: Mapping[Hashable, Any], waited_s: float) -> bool:
    """Returns whether the queue of a transfer is as long as the waits of another connection.

    What has no answer at the end of the capture counts as lost.
    """
    longest_s = _MAX_FILLER_RTTS * longest_rtt_ms(filler) / 1e3
    is_long = waited_s <= longest_s * row["spurious"]
    return bool(is_long and row["losses"] <= _MAX_LOSSES_SHARE * row["spurious"])


def in_queue_of(filler: Mapping[Hashable, Any], cause: Cause, text: str) -> Sentence:
    """Returns a text with the queue that a transfer between the same hosts fills behind it."""
    rtts_text = f"RTTs of up to {ms_text(longest_rtt_ms(filler))}"
    connection = filler["connection"]
    text = f"{text}the queue that connection {connection} fills ({rtts_text})"
    return named(cause, text, connection=connection)


def _doubled_text(evidence: Evidence) -> str:
    """Returns the part of waits for outages that last time-outs took; empty for short ones.

    The last retransmission that was lost began it. The path may have been back soon after that.
    """
    timeouts, losses = evidence.timeouts, evidence.losses
    in_outages = set(losses.loc[losses["kind"] == "outage", "repaired_s"])
    are_last = timeouts["t_s"].isin(in_outages) & ~timeouts["repaired_s"].isin(timeouts["t_s"])
    return _last_timeouts_text((timeouts["repaired_s"] - timeouts["t_s"])[are_last])


def _last_timeouts_text(lengths_s: pd.Series) -> str:
    """Returns the text about last time-outs of outages, of their lengths, s; empty for short ones."""
    doubled_s = float(lengths_s[lengths_s >= _MIN_DOUBLED_S].sum())
    if not doubled_s:
        return ""
    # The time-outs before the last one took as long as that: so did the outage, at least.
    rto_max_s = max(math.ceil(_SURVIVED_RATIO * lengths_s.max() / RETRIES_AT_RTO_MAX), 1)
    return (
        f"; up to {time_text(doubled_s)} of that is of last time-outs, which double with each loss, "
        f"after the path was back (at the sender, net.ipv4.tcp_rto_max_ms={1000 * rto_max_s} bounds "
        f"them to {rto_max_s} s)"
    )


def _is_outage(evidence: Evidence) -> bool:
    """Returns whether each loss that was repaired by time-out overlaps a loss by an outage.

    The first losses of an outage count as losses at the end of a flight: no ACK comes for later data.
    """
    losses, timeouts = evidence.losses, evidence.timeouts
    outages = losses[losses["kind"] == "outage"]
    return bool(len(outages)) and all(
        bool(((outages["t_s"] <= repaired_s) & (outages["repaired_s"] >= sent_s)).any())
        for sent_s, repaired_s in zip(timeouts["t_s"], timeouts["repaired_s"], strict=True)
    )
