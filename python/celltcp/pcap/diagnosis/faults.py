"""Faults of middleboxes, hosts and captures, which explain everything else."""

from __future__ import annotations

import math
from collections.abc import Callable

from celltcp.pcap.diagnosis.evidence import Evidence, plural
from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits, time_text

#: Minimum pause after which a device in between may have forgotten a connection, s.
_MIN_PAUSE_S = 60.0
#: Maximum difference of TTLs that a change of the route explains.
_MAX_ROUTE_HOPS = 3
#: Minimum RTT of a side that is in another machine than the capture, ms.
_MIN_FAR_MS = 1.0
#: Minimum number of events that are no accident.
_MIN_COUNT = 3
#: MSS on Ethernet, bytes.
_ETHERNET_MSS = 1_460
#: Minimum share of segments after their own ACKs in a capture without a handshake.
_MIN_LATE_SHARE = 0.1

#: Maximum segments in flight of a sender that repairs one loss after the other.
_MAX_REPAIR_SEGMENTS = 2


def _forged_reset(evidence: Evidence) -> str:
    """A RST of a device in between: its TTL is another one by more than 3, or it came too early.

    That is, it answered what came after a pause of a minute in less than half of the RTT to its side.
    """
    row = evidence.row
    side = row["ending"].removeprefix("reset by ")
    name = f"the {side}" if side in ("client", "server") else "one side"
    after_ms, pause_s = row["reset_after_ms"], row["longest_idle_s"]
    ttl, usual_ttl = row["reset_ttl"], row["reset_usual_ttl"]
    rtt_ms = row["near_rtt_min_ms" if side == evidence.sender else "far_rtt_min_ms"]
    is_early = after_ms < rtt_ms / 2 and rtt_ms > _MIN_FAR_MS
    if abs(ttl - usual_ttl) > _MAX_ROUTE_HOPS:
        reason = f"its TTL is {ttl:.0f}, that of {name} {usual_ttl:.0f}"
    elif side in ("client", "server") and pause_s >= _MIN_PAUSE_S and is_early:
        reason = f"the RTT to {name} is {ms_text(rtt_ms)}"
    else:
        return ""
    after_text = ""
    if not math.isnan(after_ms):
        after_text = f" {time_text(after_ms / 1e3)} after a packet of the other side"
    idle_text = ""
    if pause_s >= _MIN_PAUSE_S:
        idle_text = f"; the connection had been idle for {time_text(pause_s)}"
    return (
        f"a device in between (NAT, firewall) sent the RST in the name of {name}{after_text}: {reason}"
        f"{idle_text}"
    )


def _forgotten(evidence: Evidence) -> str:
    """Three retransmissions without any answer after a pause of a minute: a device forgot the state."""
    row = evidence.row
    is_unanswered = row["unanswered_retransmissions"] >= _MIN_COUNT and not row["answers_after_idle"]
    if row["longest_idle_s"] < _MIN_PAUSE_S or not is_unanswered:
        return ""
    return (
        f"after a pause of {time_text(row['longest_idle_s'])} nothing was answered any more "
        f"({plural(row['unanswered_retransmissions'], 'retransmission')} in "
        f"{time_text(row['unanswered_s'])}, no RST): a device in between (NAT, firewall) has "
        "forgotten the connection, or the host is gone"
    )


def _never_opened(evidence: Evidence) -> str:
    """A SYN that is refused or not answered."""
    row = evidence.row
    if row["handshake"] == "refused":
        return "the server refused the connection: it answered the SYN by a RST"
    if row["packets_up"] != row["syns"] + row["resets_up"]:
        return ""
    is_reset = row["ending"] == "reset by client"
    if row["handshake"] == "no ACK" and is_reset:
        return "the client did not open the connection: it answered the SYN-ACK by a RST"
    if row["handshake"] != "no SYN-ACK":
        return ""
    if is_reset:
        return (
            f"the client gave up after {time_text(row['duration_s'])}: no answer came to its "
            f"{plural(row['syns'], 'SYN')}, and it sent a RST"
        )
    wait_text = f" in {time_text(row['handshake_wait_s'])}" if row["handshake_wait_s"] else ""
    return f"no answer came to {plural(row['syns'], 'SYN')}{wait_text}"


def _rewritten_sequence_numbers(evidence: Evidence) -> str:
    """SACK blocks outside of the window in three ACKs: a firewall rewrites headers only."""
    count = evidence.row["sack_outside"]
    if count < _MIN_COUNT:
        return ""
    timeouts = len(evidence.timeouts)
    effect_text = (
        f"; {plural(timeouts, 'loss', 'losses')} had to wait for a time-out" if timeouts else ""
    )
    return (
        f"the SACK blocks of {plural(count, 'ACK')} lie outside of the window: a firewall rewrites "
        f"sequence numbers but not SACK blocks{effect_text}"
    )


def _path_mtu(evidence: Evidence) -> str:
    """Path MTU: three retransmissions of long segments; short ones are acknowledged (RFC 2923)."""
    row = evidence.row
    acked, longest = row["segment_acked_max"], row["segment_max"]
    # Segments that the network card has yet to cut (TSO) are acknowledged in parts.
    if longest > min(evidence.announced_mss, default=_ETHERNET_MSS):
        return ""
    if row["oversize_retransmissions"] < _MIN_COUNT or not 0 < acked < longest:
        return ""
    if row["harm_s"] < 0.1:
        return ""
    return (
        f"waited {time_text(row['harm_s'])}: of the segments of {longest} bytes none was acknowledged "
        f"({plural(row['oversize_retransmissions'], 'retransmission')}), but shorter ones up to "
        f"{acked} bytes: a black hole of path MTU discovery, neither congestion nor radio"
    )


def _captured_late(evidence: Evidence) -> str:
    """Three segments that were captured after their own ACKs: a fault of the capture."""
    row = evidence.row
    late = row["captured_late"]
    # If the capture began later, a few segments may be retransmissions of data that arrived before.
    is_few = late < _MIN_LATE_SHARE * (row["segments_up"] + row["segments_down"])
    if late < _MIN_COUNT or (row["handshake"] == "none" and is_few):
        return ""
    return (
        f"the capture has {plural(late, 'segment')} after their own ACKs: a fault of the "
        "capture (two taps, offload), not of the network"
    )


def dropped_by_the_capture(evidence: Evidence) -> str:
    """Data acknowledged without duplicate ACKs that is not in the file: the capture dropped it.

    What else holds is said after it.
    """
    row = evidence.row
    missed = row["missed_bytes"]
    if row["is_one_way"] or not evidence.payload_bytes:
        return ""
    duplicates = row["duplicate_acks_up"] + row["duplicate_acks_down"]
    if duplicates or missed < row["segment_max"]:
        return ""
    # If the capture began later, the data may have been in flight before. ACKs also cover much of them
    # where a sender without SACK repairs one segment each RTT.
    is_repairing = not row["sack"] and row["in_flight_max"] <= _MAX_REPAIR_SEGMENTS * row["segment_max"]
    if row["handshake"] == "none" and (missed <= row["in_flight_max"] or is_repairing):
        return ""
    return (
        f"the capture dropped packets, the network did not: {size_text(missed)} are not in the file "
        "but were acknowledged without any duplicate ACK"
    )


def _one_direction(evidence: Evidence) -> str:
    """Only data, or only ACKs, that were captured."""
    row = evidence.row
    if row["is_one_way"] and row["missed_bytes"] > evidence.payload_bytes:
        mbps = 8e-6 * row["missed_bytes"] / row["duration_s"] if row["duration_s"] > 0 else 0.0
        rate_text = f" at {three_digits(mbps)} Mbit/s" if mbps else ""
        return (
            f"only ACKs were captured, not the {size_text(row['missed_bytes'])} that they acknowledge"
            f"{rate_text}"
        )
    if row["is_one_way"] and evidence.payload_bytes:
        return "only the data of one direction were captured, not their ACKs"
    return ""


def reset(evidence: Evidence) -> str:
    """Returns the side that ended the connection by a RST, as text; empty if neither did."""
    row = evidence.row
    side = row["ending"].removeprefix("reset by ")
    if side not in ("client", "server"):
        return ""
    ttl, usual_ttl = row["reset_ttl"], row["reset_usual_ttl"]
    if math.isnan(usual_ttl):
        return f"a RST in the name of the {side} ended the connection"
    if ttl != usual_ttl:
        return (
            f"a RST in the name of the {side} ended the connection: its TTL is {ttl:.0f}, that of its "
            f"other packets {usual_ttl:.0f}"
        )
    return f"the {side} ended the connection by a RST, whose TTL is that of its other packets"


#: Rules in the order in which they are tried.
FAULTS: tuple[Callable[[Evidence], str], ...] = (
    _forged_reset,
    _forgotten,
    _never_opened,
    _rewritten_sequence_numbers,
    _path_mtu,
    _captured_late,
    _one_direction,
)
