"""Waits: the causes for which a connection could not continue, with the time of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from celltcp.pcap.diagnosis.evidence import (
    INTERVAL_S,
    Evidence,
    moments,
    plural,
    seconds,
    segments_were,
)

#: Minimum number of delayed ACKs, or of turns, at which it is a pattern.
_SEVERAL = 3
#: Minimum delayed ACKs for each loss at which losses do not explain them.
_RARELY = 4
#: Minimum share of a connection's time for an application that lets the other side wait.
_TURNS = 0.3
#: Minimum time at which one wait for an application matters, s.
_LONG_S = 1.0
#: Minimum time in pauses of the data, as a multiple of that of silences, at which these are usual, and
#: the most losses in such ones.
_BURSTY = 5
_FEW = 1
#: Maximum usual time-out: s, and RTTs.
_TIMEOUT_S = 0.5
_TIMEOUT_RTTS = 3
#: Shortest gap of the data that is told where the sender is away: s, RTTs, and RTTs with queues.
_GAP_S = 0.5
_GAP_RTTS = 5
_GAP_QUEUED = 2


@dataclass(frozen=True)
class Wait:
    """A cause for which a connection waited."""

    seconds: float
    text: str


def waits(evidence: Evidence) -> Iterator[Wait]:
    """Yields what the connection waited for."""
    row = evidence.row
    if handshake := row["handshake_wait_s"]:
        yield Wait(
            handshake, f"waited {seconds(handshake)} for the handshake: {row['syns']} SYNs were sent"
        )
    if closed := row["zero_window_s"]:
        up, down = row["zero_windows_up"], row["zero_windows_down"]
        side = "client" if up >= down else "server"
        text = (
            f"waited {seconds(closed)} for the closed receive window of the {side} "
            f"({plural(up + down, 'time')}): its application did not read"
        )
        yield Wait(closed, text)
    # Nagle's algorithm holds back short segments only; full ones wait where the window is one segment.
    side = "client" if 2 * row["delayed_acks_up"] > row["delayed_acks"] else "server"
    # A window that losses keep at one segment waits for its ACK as well.
    is_pattern = row["delayed_acks"] >= max(_SEVERAL, _RARELY * row["losses"])
    if is_pattern and not evidence.sends_full_segments(side):
        text = (
            f"waited {seconds(row['delayed_ack_s'])} for delayed ACKs "
            f"({plural(row['delayed_acks'], 'time')}): the {side} sends on only when its "
            "last segment is acknowledged (Nagle); set TCP_NODELAY, or write each message at once"
        )
        yield Wait(row["delayed_ack_s"], text)
    if text := late_application(evidence, "server"):
        yield Wait(evidence.turns_s("server"), text)
    yield from _gaps(evidence)
    yield from _silences(evidence)


def late_application(evidence: Evidence, side: str) -> str:
    """The application of a side that lets 30 % of the time pass before it goes on after the other side.

    Few times may be those of segments which were lost before the capture, or too short to matter.
    """
    row = evidence.row
    turns, times = evidence.turns_s(side), row["turns_up" if side == "client" else "turns_down"]
    is_doubtful = turns < _LONG_S or row["losses"] or row["handshake_wait_s"]
    if turns < _TURNS * row["duration_s"] or (times < _SEVERAL and is_doubtful):
        return ""
    what = "before it asked for more" if side == "client" else "before it answered"
    return (
        f"waited {seconds(turns)} for the application of the {side} ({plural(times, 'time')}): it let "
        f"more than a round trip pass {what}"
    )


def _gaps(evidence: Evidence) -> Iterator[Wait]:
    """Yields the time of gaps of a second in the data where the capture is away from the sender."""
    row, own = evidence.row, evidence.intervals
    if row["place"] not in ("receiver", "between") or not row["bytes_up"] + row["bytes_down"]:
        return
    passed = own["bytes"] + own["retransmitted_bytes"] > 0
    times = own.loc[(own["up"] == (row["direction"] == "up")) & passed, "t_s"].sort_values()
    steps = times.diff().dropna() - INTERVAL_S
    rtt_ms = 0.0 if math.isnan(evidence.rtt_ms) else evidence.rtt_ms
    # ACKs in a long queue let the sender wait as long as that.
    beside = [row["far_rtt_p95_ms"], row["far_rtt_min_ms"] + row["near_rtt_p50_ms"]]
    usual_ms = max((float(each) for each in beside if not math.isnan(each)), default=0.0)
    gaps = steps[steps >= max(_GAP_S, _GAP_RTTS * rtt_ms / 1e3, _GAP_QUEUED * usual_ms / 1e3)]
    if gaps.sum() <= 2 * (row["harm_s"] + row["turns_up_s"] + row["turns_down_s"]):
        return
    losses = evidence.losses
    lost = losses.loc[(losses["kind"] == "outage") & (losses["is_upstream"] == 1), "t_s"]
    # What an outage lost shows when its sender goes on, with time-outs that have doubled meanwhile.
    ends = times[gaps.index]
    is_outage = [
        bool(lost.between(end - INTERVAL_S, end + gap).any())
        for end, gap in zip(ends, gaps, strict=True)
    ]
    outages, pauses = gaps[is_outage], gaps[[not each for each in is_outage]]
    if len(outages):
        total, when = float(outages.sum()), moments((ends[outages.index] - outages).tolist())
        text = (
            f"waited {seconds(total)} for an outage of the path before the capture{when}, in which "
            f"{segments_were(len(lost))} lost"
        )
        yield Wait(total, text)
    if len(pauses):
        total = float(pauses.sum())
        # Without RTTs to the sender, nothing tells of a queue of ACKs either.
        queue = "" if evidence.has_near_rtts else "its ACKs waited in a queue, "
        text = (
            f"waited {seconds(total)} for data of the {evidence.sender}, of which none came: its "
            f"application paused, {queue}or the path between it and the capture stood still"
        )
        yield Wait(total, text)


def _silences(evidence: Evidence) -> Iterator[Wait]:
    """Yields the waits for a receiver of which nothing came while data were in flight."""
    row = evidence.row
    unanswered = row["unanswered_s"]
    if unanswered:
        again = plural(row["unanswered_retransmissions"], "retransmission")
        text = (
            f"waited {seconds(unanswered)} until the end without any answer ({again}): an outage, or "
            "the host is gone"
        )
        yield Wait(unanswered, text)
    rest = row["stalled_s"] - unanswered
    # Data that come in bursts, or to ACKs in a long queue, leave a receiver silent for as long.
    is_bursty = evidence.pauses_s(evidence.sender) > _BURSTY * rest
    is_queued = rest <= _GAP_QUEUED * row["near_rtt_p95_ms"] / 1e3
    is_usual = not evidence.is_at_sender and (is_bursty or is_queued)
    # Where nothing was lost, a silence as short as the usual RTT is one of its queue.
    if not row["losses_outage"] and rest <= row["far_rtt_p50_ms"] / 1e3:
        return
    if rest <= 0 or (is_usual and not unanswered and not row["losses_outage"] > _FEW):
        return
    others = evidence.timeouts[evidence.timeouts["kind"] != "outage"]
    if row["spurious"] and not row["losses"]:
        yield Wait(
            rest,
            f"waited {seconds(rest)} for a path that stood still; nothing was lost "
            f"({plural(row['spurious'], 'spurious retransmission')})",
        )
    elif len(others) and not _is_outage(evidence):
        count = plural(len(others), "loss", "losses")
        tails = int((others["kind"] == "tail").sum())
        end = f", {tails} of them at the end of a flight" if tails else ""
        # A time-out alone is shorter; what repeats it may be lost before the capture.
        rtt_ms = 0.0 if math.isnan(evidence.rtt_ms) else evidence.rtt_ms
        usual = (_TIMEOUT_S + _TIMEOUT_RTTS * rtt_ms / 1e3) * len(others)
        outage = ", or for an outage of the path" if rest > usual else ""
        text = f"waited {seconds(rest)} for retransmission time-outs after {count}{end}{outage}"
        yield Wait(rest, text)
    else:
        count = row["losses_outage"]
        lost = segments_were(count) if count else "nothing was"
        when = moments(_outage_starts(evidence))
        yield Wait(
            rest, f"waited {seconds(rest)} for an outage of the path{when}, in which {lost} lost"
        )


def _outage_starts(evidence: Evidence) -> list[float]:
    """Returns when each outage began to lose segments, s; its losses wait for repairs together."""
    losses = evidence.losses
    outages = losses[losses["kind"] == "outage"].sort_values("t_s")
    starts: list[float] = []
    end = -math.inf
    for sent, repaired in zip(outages["t_s"], outages["repaired_s"], strict=True):
        if sent > end:
            starts.append(float(sent))
        end = max(end, repaired)
    return starts


def _is_outage(evidence: Evidence) -> bool:
    """Whether every loss repaired by time-out passed, or waited for its repair, within outages.

    The first segments of an outage are at the end of a flight: nothing comes back for any later one.
    """
    losses, timeouts = evidence.losses, evidence.timeouts
    outages = losses[losses["kind"] == "outage"]
    return bool(len(outages)) and all(
        bool(((outages["t_s"] <= repaired) & (outages["repaired_s"] >= sent)).any())
        for sent, repaired in zip(timeouts["t_s"], timeouts["repaired_s"], strict=True)
    )
