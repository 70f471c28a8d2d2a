"""Thin streams: messages of which fewer than four are in flight, and what their losses show."""

from __future__ import annotations

from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.scenarios.quantity_texts import ms_text, three_digits, time_text

#: Segments in flight below which a stream is thin: later ones cause no fast retransmission (RFC 5681,
#: section 3.2; Linux, tcp_stream_is_thin).
_MAX_IN_FLIGHT = 4
#: Minimum number of segments that show how a stream is sent.
_MIN_SEGMENTS = 10
#: Minimum RTT samples that show whether a queue stood.
_MIN_SAMPLES = 10
#: Maximum excess of an RTT without a queue over the lowest one, by jitter: a share of it, and ms.
_MAX_JITTER_SHARE = 0.05
_MAX_JITTER_MS = 1.0
#: Ways of the repair in the column `repair`, and as words.
_REPAIRS = {"fast": "fast", "probe": "by a probe", "time-out": "by a time-out"}


def is_thin(evidence: Evidence) -> bool:
    """Returns whether the messages of the sender are so few that less than four are in flight."""
    row = evidence.row
    segments = int(row[f"segments_{row['direction']}"])
    in_flight = segments * evidence.rtt_or_zero_ms / 1e3 / max(row["download_s"], 1e-9)
    is_paced = not evidence.sends_full_segments(evidence.sender)
    return segments >= _MIN_SEGMENTS and is_paced and in_flight < _MAX_IN_FLIGHT


def thin_stream(evidence: Evidence) -> str:
    """The losses of a thin stream, which fills no queue itself, and how late their repairs came."""
    row = evidence.row
    if row["losses"] <= 2 * row["losses_outage"] or not is_thin(evidence):
        return ""
    losses = evidence.true_losses
    own = losses[(losses["up"] == (row["direction"] == "up")) & (losses["kind"] != "outage")]
    segments = int(row[f"segments_{row['direction']}"])
    share = three_digits(100 * len(own) / segments)
    text = (
        f"a thin stream of {segments} segments, fewer than {_MAX_IN_FLIGHT} in flight, lost {len(own)} "
        f"({share} %){_queue_text(evidence)}"
    )
    # The loss of a repair delays the same message. Before the capture, the next message shows a loss.
    by_message, messages = own.groupby("seq"), messages_of(row)
    late_s = (by_message["repaired_s"].max() - by_message["t_s"].min()).dropna()
    if messages is not None:
        late_s += by_message["is_upstream"].max() * messages.interval_ms / 1e3
    if late_s.empty:
        return text
    repairs = own["repair"].value_counts()
    repairs_text = ", ".join(
        f"{repairs[name]} {words}" for name, words in _REPAIRS.items() if name in repairs
    )
    longest = time_text(float(late_s.max()))
    if len(late_s) == 1:
        return f"{text}; the repair came {longest} later ({repairs_text})"
    median = time_text(float(late_s.median()))
    return f"{text}; repairs came {median} later in the median, {longest} at most ({repairs_text})"


def _queue_text(evidence: Evidence) -> str:
    """Returns the likely cause of the losses as text: the path, or a queue that others fill."""
    row = evidence.row
    # What answers the repair of a loss is late on the near side, without any queue.
    known = [
        (float(row[f"{side}_rtt_min_ms"]), float(row[f"{side}_rtt_{high}_ms"]))
        for side, high in (("far", "p95"), ("near", "p50"))
        if row[f"{side}_rtt_samples"] >= _MIN_SAMPLES
    ]
    lowest_ms, highest_ms = max(known, key=lambda each: each[1] - each[0], default=(0.0, 0.0))
    if highest_ms > lowest_ms * (1 + _MAX_JITTER_SHARE) + _MAX_JITTER_MS:
        rtts_text = f"RTTs of {ms_text(lowest_ms)} to {ms_text(highest_ms)}"
        return f" by errors of the path, or in a queue that others fill ({rtts_text})"
    if known and (row["place"] == "sender" or row["near_rtt_samples"] >= _MIN_SAMPLES):
        return " at random: no queue stood on the path"
    return " by errors of the path, or in a queue that others fill"
