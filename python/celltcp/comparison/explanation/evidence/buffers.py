"""Buffer of the bottleneck: its field and size, bursts that exceed it, and the RTT that it allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.comparison.explanation.evidence.queue_owners import ack_queue_owner
from celltcp.scenarios.quantity_texts import size_text, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Segmentation offload: time whose paced data make one burst, s, and maximum burst, bytes.
_TSO_INTERVAL_S, _MAX_TSO_BYTES = 2**-10, 2**16
#: Maximum 95th percentile of the RTT, as a ratio of the RTT with a full buffer: above it, packets or
#: ACKs wait elsewhere, too.
_MAX_RTT_RATIO = 1.05


def burst_bytes(evidence: Evidence) -> float:
    """Returns the largest burst that the sender hands to its device at the rate of the link, bytes.

    A burst of segmentation offload has the data that Linux paces in a millisecond (tcp_tso_autosize),
    with a minimum of two segments and a maximum of 64 KiB.
    """
    segments = evidence.scenario.get("tcp", {}).get("tso", "linux")
    if isinstance(segments, int):
        return segments * evidence.mss
    paced = evidence.link_bytes_per_s * _TSO_INTERVAL_S
    return min(max(paced, 2 * evidence.mss), _MAX_TSO_BYTES)


def bursts_exceed_buffer(evidence: Evidence) -> bool:
    """Returns whether bursts of segmentation offload do not fit into the buffer."""
    return burst_bytes(evidence) > max(buffer_bytes(evidence), evidence.mss)


def burst_text(evidence: Evidence, segments: int) -> str:
    """Returns whether segments sent at once fit into the buffer, in parentheses; empty if paced.

    The link sends some of them while they arrive from a hop that is faster.
    """
    bytes_per_s = evidence.link_bytes_per_s * evidence.header_factor
    size = evidence.buffer_size(buffer_field(evidence), bytes_per_s)
    if size is None or evidence.time_share("pacing") > 0 or not bytes_per_s > 0:
        return ""
    hop = arrival_hop(evidence)
    arrival = (in_unit(hop["rate"], "bit/s") or math.inf) / 8 if hop else math.inf
    burst = segments * evidence.mss * evidence.header_factor
    queued = burst * max(1 - bytes_per_s / arrival, 0.0)
    verb = "fits into" if queued <= size else "overflows"
    return f" (its burst of {size_text(burst)} {verb} the buffer of {size_text(size)})"


def arrival_hop(evidence: Evidence) -> Mapping[str, Any] | None:
    """Returns the hop at whose rate unpaced bursts come to the access link; None for other links."""
    set_pacing = evidence.scenario.get("tcp", {}).get("pacing") is True
    is_paced = set_pacing or evidence.is_bbr or evidence.time_share("pacing") > 0
    return None if evidence.bottleneck_field or is_paced else evidence.narrowest_hop


def buffer_bytes(evidence: Evidence) -> float:
    """Returns the bytes of packets that the bottleneck buffers; its largest queue without a size."""
    bytes_per_s = evidence.link_bytes_per_s * evidence.header_factor
    size = evidence.buffer_size(buffer_field(evidence), bytes_per_s)
    return evidence.max_queued_bytes if size is None else size


def buffer_bdps(evidence: Evidence, size: float) -> float:
    """Returns bytes of packets in a buffer in BDPs."""
    bdp = evidence.bdp * evidence.header_factor
    return math.inf if bdp == 0 else size / bdp


def buffer_field(evidence: Evidence) -> str:
    """Returns the field of the scenario that sets the buffer of the bottleneck."""
    return evidence.buffer_field_of(is_upload=evidence.is_upload)


def max_rtt_text(evidence: Evidence) -> str:
    """Returns the RTT with a full buffer as a sentence; empty unless a bulk flow fills a buffer.

    Its rate is steady, it drops packets only at its end, and ACKs do not wait behind data.
    """
    is_full = (evidence.recoveries["overflow"] > 0).any()
    rate = evidence.link_rate(is_upload=evidence.is_upload)
    is_plain = evidence.is_bulk and not evidence.is_split and not evidence.jitter_ms
    if not is_full or not is_plain or not rate:
        return ""
    # Flows of the opposite direction have a queue of their own, which depends on their CCA.
    if ack_queue_owner(evidence) is not None:
        return ""
    size = evidence.buffer_size(buffer_field(evidence), rate / 8)
    min_rtt_ms = evidence.min_rtt_ms
    wait_s = 0.0 if size is None else 8 * size / rate
    max_rtt_s = min_rtt_ms / 1e3 + wait_s
    if not wait_s or not evidence.mean("rtt_p95_ms") <= _MAX_RTT_RATIO * 1e3 * max_rtt_s:
        return ""
    path_text = time_text(min_rtt_ms / 1e3)
    return (
        f"{evidence.buffer_text} holds {time_text(wait_s)} of data: with the {path_text} of the path, "
        f"an RTT is at most about {time_text(max_rtt_s)}, but for delayed ACKs, whatever the CCA"
    )
