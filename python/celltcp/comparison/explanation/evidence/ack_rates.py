"""Rates of ACKs: what the link of the ACKs carries, and the goodput that this permits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.scenarios.narrow_hop import steady_rate
from celltcp.scenarios.packets import HEADERS_BYTES
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Number of segments for each ACK of a receiver that delays ACKs (RFC 9293 section 3.8.6.3).
_SEGMENTS_OF_ACK = 2
#: Maximum goodput that the ACKs of a link permit, as a share of the capacity, for that link to be the
#: limit, and the shares of it that the flow has then: the ACKs of a full queue stand for more segments.
_MAX_PERMITTED_SHARE, _MIN_SHARE_OF_PERMITTED, _MAX_SHARE_OF_PERMITTED = 0.9, 0.8, 2.5


def acks_fill_link(evidence: Evidence) -> bool:
    """Returns whether ACKs of the flow alone fill their link, so that no more data can be acknowledged.

    A full queue of ACKs drops some, so that others stand for more segments.
    """
    permitted_mbps = _permitted_mbps(evidence)
    if not evidence.needs_capacity or evidence.has_data_on_ack_path or math.isinf(permitted_mbps):
        return False
    # In pauses of the application no ACKs come.
    share = evidence.goodput_mbps / (1.0 - _pause_share(evidence)) / permitted_mbps
    return (
        permitted_mbps <= _MAX_PERMITTED_SHARE * evidence.capacity_mbps
        and unused_beside_pauses(evidence) >= 1.0 - _MAX_PERMITTED_SHARE
        and _MIN_SHARE_OF_PERMITTED <= share <= _MAX_SHARE_OF_PERMITTED
    )


def unused_beside_pauses(evidence: Evidence) -> float:
    """Returns the share of the capacity that stays unused while the application has data, 0 to 1."""
    return max(evidence.unused_share - _pause_share(evidence), 0.0)


def _pause_share(evidence: Evidence) -> float:
    """Returns the share of the time in which the application has no more data, from 0 to 1."""
    return evidence.time_share("idle", *(() if evidence.is_bulk else ("in_flight",)))


def ack_link_rate(evidence: Evidence) -> float | None:
    """Returns the rate of the access link of the ACKs, bit/s; None if it varies, or is a radio."""
    if evidence.scenario.get("radio"):
        return None
    return steady_rate(evidence.value_at("path.down" if evidence.is_upload else "path.up"))


def _permitted_mbps(evidence: Evidence) -> float:
    """Returns the goodput whose ACKs fill the access link in their direction, Mbit/s."""
    rate = ack_link_rate(evidence)
    if rate is None or not evidence.mss > 0:
        return math.inf
    return rate / rate_of_acks(evidence, 1.0)


def rate_of_acks(evidence: Evidence, goodput_mbps: float) -> float:
    """Returns the rate of the ACKs of a goodput, bit/s."""
    return 1e6 * goodput_mbps * HEADERS_BYTES / (_SEGMENTS_OF_ACK * evidence.mss)


def permitted_text(evidence: Evidence) -> str:
    """Returns what the link of the ACKs carries as a clause."""
    rate = ack_link_rate(evidence) or 0.0
    acks_per_s = number_text(rate / 8 / HEADERS_BYTES)
    return (
        f"at {number_text(rate / 1e3)} kbit/s it carries {acks_per_s} of them a second, enough for "
        f"{rate_text(_permitted_mbps(evidence))} with two segments for each"
    )
