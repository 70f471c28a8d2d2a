"""Queue discipline of a bottleneck: the field that sets it, and its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from celltcp.scenarios.narrow_hop import narrow_hop

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Field of the queue discipline of the uplink alone.
_UPLINK_QUEUE = "path.uplink_queue"


def queue_field(evidence: Evidence, *, is_upload: bool) -> str:
    """Returns the field of the queue discipline of the bottleneck of a direction.

    The uplink of the access link has a field of its own, which is set where the scenario does, or where
    only thin flows send towards the phone.
    """
    if is_upload == evidence.is_upload and evidence.bottleneck_field:
        return f"{evidence.bottleneck_field}.queue"
    hop = narrow_hop(evidence.scenario, is_upload=is_upload)
    if hop is not None:
        return f"path.wired.{hop}.queue"
    if not is_upload:
        return "path.queue"
    own = {evidence.flow_name, *evidence.competing_mbps}
    downlink = evidence.reverse_mbps if evidence.is_upload else own
    has_own = evidence.value_at(_UPLINK_QUEUE) is not None
    return _UPLINK_QUEUE if has_own or all(map(evidence.is_thin_flow, downlink)) else "path.queue"


def queue_kind(evidence: Evidence, field: str) -> str:
    """Returns the queue discipline in a field; for an uplink without its own, that of the path."""
    value = evidence.value_at(field)
    if value is None and field == _UPLINK_QUEUE:
        value = evidence.value_at("path.queue")
    return str(value.get("kind") if isinstance(value, Mapping) else value or "droptail")
