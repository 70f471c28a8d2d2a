"""Queue discipline of a bottleneck: the field that sets it, its kind, and CoDel with suitable times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from celltcp.scenarios.narrow_hop import narrow_hop
from celltcp.scenarios.packets import PACKET_BYTES

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Field of the queue discipline of the uplink alone.
UPLINK_QUEUE = "path.uplink_queue"
#: Maximum base RTT for the default times of CoDel, ms (RFC 8289 section 4.4).
MAX_AQM_RTT_MS = 150.0
#: Target of CoDel as a share of its interval, which keeps the delay low (RFC 8289 section 4.3), and by
#: default, ms.
_TARGET_SHARE, _DEFAULT_TARGET_MS = 0.05, 5.0


def queue_field(evidence: Evidence, *, is_upload: bool) -> str:
    """Returns the field of the queue discipline of the bottleneck of a direction.

    The uplink of the access link has a field of its own, of the queue that its own host can manage.
    """
    if is_upload == evidence.is_upload and evidence.bottleneck_field:
        return f"{evidence.bottleneck_field}.queue"
    hop = narrow_hop(evidence.scenario, is_upload=is_upload)
    if hop is not None:
        return f"path.wired.{hop}.queue"
    return UPLINK_QUEUE if is_upload else "path.queue"


def queue_kind(evidence: Evidence, field: str) -> str:
    """Returns the queue discipline in a field; for an uplink without its own, that of the path."""
    value = evidence.value_at(field)
    if value is None and field == UPLINK_QUEUE:
        value = evidence.value_at("path.queue")
    return str(value.get("kind") if isinstance(value, Mapping) else value or "droptail")


def fq_codel_value(evidence: Evidence, bits_per_s: float | None) -> str:
    """Returns FQ-CoDel with times that suit the RTT and a rate, None if that varies, as a value.

    With the default times, a link whose RTT is much longer has drops before its queue stands.
    """
    rtt_ms = evidence.base_rtt_ms
    packet_ms = 0.0 if bits_per_s is None else 8e3 * PACKET_BYTES / bits_per_s
    if rtt_ms > MAX_AQM_RTT_MS:
        return codel_with_times("fq-codel", rtt_ms, _TARGET_SHARE, packet_ms)
    if packet_ms > _DEFAULT_TARGET_MS:
        return f'{{ kind = "fq-codel", target = "{math.ceil(packet_ms)}ms" }}'
    return "fq-codel"


def codel_with_times(kind: str, rtt_ms: float, target_share: float, packet_ms: float = 0.0) -> str:
    """Returns CoDel as a table, with the RTT as its interval, and a share of that as its target.

    RFC 8290 section 5.2.2 has the time of a packet, `packet_ms`, as the lowest target.
    """
    interval_ms = float(f"{rtt_ms:.2g}")
    target_ms = max(target_share * interval_ms, math.ceil(packet_ms))
    return f'{{ kind = "{kind}", target = "{target_ms:.0f}ms", interval = "{interval_ms:.0f}ms" }}'
