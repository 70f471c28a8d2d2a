"""Waits: the causes that kept a connection from going on, with the time of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from celltcp.pcap.diagnosis.causes import Cause, Sentence, named, said
from celltcp.pcap.diagnosis.evidence import Evidence, plural, segments_were, times_text
from celltcp.pcap.diagnosis.gaps import (
    MIN_QUEUED_RTTS,
    Gap,
    gaps_of,
    gaps_text,
    is_made_up_for,
    stalled_before_s,
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
#: Causes of gaps, as text.
_MADE_UP_FOR = "its application did not pause, as the data of that time came after it"
_SENT_BEFORE = "what came after it had been sent before it"
_PAUSED = "its application paused, as it had every ACK"


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
    gaps = gaps_of(evidence)
    yield from _gaps(evidence, gaps)
    yield from _lost_requests(evidence)
    yield from _silences(evidence, gaps)


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


def _gaps(evidence: Evidence, gaps: list[Gap]) -> Iterator[Wait]:
    """Yields the waits for data of the sender where the capture is away from it."""
    row = evidence.row
    outages = [each for each in gaps if each.is_outage]
    if lost := [each for each in outages if each.lost]:
        text = f", in which {segments_were(sum(each.lost for each in lost))} lost"
        # Each time-out is as long as all before it.
        text += _last_timeouts_text(pd.Series([each.length_s for each in lost]) * LAST_LOSS_SHARE)
        yield _outage_before(lost, text)
    if held := [each for each in outages if not each.lost]:
        yield _outage_before(held, f": {_SENT_BEFORE}")
    others = [each for each in gaps if not each.is_outage and not each.is_behind]
    harm_s = row["harm_s"] - stalled_before_s(evidence, gaps)
    harm_s -= sum(each.min_s for each in gaps if each.is_behind)
    waited_s = max(harm_s, 0.0) + row["turns_up_s"] + row["turns_down_s"]
    if sum(each.min_s for each in others) <= 2 * waited_s:
        return
    are_made_up = [is_made_up_for(evidence, each) for each in others]
    if made_up := list(itertools.compress(others, are_made_up)):
        yield _outage_before(made_up, f": {_MADE_UP_FOR}")
    others = [each for each in others if each not in made_up]
    for is_paused in (True, False):
        if of_cause := [each for each in others if each.is_paused == is_paused]:
            total_s = sum(each.min_s for each in of_cause)
            cause = _PAUSED if is_paused else _unknown_cause(evidence, of_cause)
            text = (
                f"waited {time_text(total_s)} for data of the {evidence.sender}, of which none came: "
            )
            yield Wait(total_s, text + said(cause))


def _outage_before(gaps: list[Gap], reason: str) -> Wait:
    """Returns the wait for outages before the capture, with their times."""
    total_s = sum(each.length_s for each in gaps)
    text = f"waited {time_text(total_s)} for an outage of the path before the capture"
    return Wait(total_s, said(f"{text}{gaps_text(gaps)}{reason}"), is_outage=True)


def _unknown_cause(evidence: Evidence, gaps: list[Gap]) -> Sentence | str:
    """Returns the possible causes of gaps whose timestamps show none, as text."""
    other, longest_s = evidence.opposite, max(each.min_s for each in gaps)
    if other is not None and longest_s <= _MAX_FILLER_RTTS * longest_rtt_ms(other) / 1e3:
        return in_queue_of(other, Cause.ACKS_IN_QUEUE, "its ACKs waited in ")
    # Without RTTs to the sender, nothing shows a queue of ACKs.
    queue_text = "" if evidence.has_near_rtts else "its ACKs waited in a queue, "
    return f"its application paused, {queue_text}or the path between it and the capture stood still"


def _silences(evidence: Evidence, gaps: list[Gap]) -> Iterator[Wait]:
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
    answered_s = row["stalled_s"] - unanswered_s - stalled_before_s(evidence, gaps)
    # A receiver is silent between bursts of data, and while ACKs wait in a long queue.
    is_bursty = evidence.pauses_s(evidence.sender) > _MIN_PAUSE_RATIO * answered_s
    is_queued = answered_s <= MIN_QUEUED_RTTS * row["near_rtt_p95_ms"] / 1e3
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
