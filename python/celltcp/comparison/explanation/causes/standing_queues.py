"""Time with a standing queue at the bottleneck, and what a cell with one sends less than expected."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import percent_text

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum mean wait of the packets of a slot at which a wired hop has a queue, ms.
_MIN_QUEUE_WAIT_MS = 1.0
#: Minimum queue at the end of a slot, s, with which a cell is busy in all of it.
_MIN_BUSY_S = 0.02
#: Resource blocks of narrow carriers of LTE, whose control region is narrow as well: the narrowest one
#: has a symbol more. Elements of the largest message on it (TS 36.213 clause 9.1.1).
_PRBS, _LARGEST_MESSAGE = {"3MHz": 15, "5MHz": 25}, 8
#: Minimum share of the capacity of a cell that repeats of blocks take, for a text.
_MIN_HARQ_SHARE = 0.02


def queued_share(evidence: Evidence) -> float:
    """Returns the share of the time with a standing queue at the bottleneck.

    A link with such a queue is busy, so that the share is at most that of the capacity in use. Beyond
    it, packets wait in bursts only.
    """
    if evidence.slots.empty or "queue_packets" not in evidence.slots:
        return 0.0
    return min(float(_has_queue(evidence).mean()), 1.0 - evidence.unused_share)


def harq_text(evidence: Evidence) -> str:
    """Returns a sentence on capacity of a cell that repeats of blocks take; empty for little."""
    share = harq_share(evidence)
    if not share >= _MIN_HARQ_SHARE:
        return ""
    if (elements := narrow_control_elements(evidence)) is not None:
        return (
            f" While the queue stood, {percent_text(share)} of the capacity went to repeats of HARQ "
            "and to subframes whose assignments found no place on the control channel, which has "
            f"{elements} elements where one message takes up to {_LARGEST_MESSAGE}."
        )
    return (
        f" While the queue stood, HARQ took {percent_text(share)} of the capacity for repeats beyond "
        "those expected from the error rate of each TTI alone."
    )


def harq_share(evidence: Evidence) -> float:
    """Returns the share of the capacity of a cell that repeats of blocks take from a bulk download.

    The capacity of a TTI is its block divided by 1 + BLER. Under fading, the TTIs of repeats have other
    blocks than those that fail, so that a queue that never empties is served less than the mean.
    """
    slots, is_busy = evidence.slots, is_busy_cell(evidence)
    if not is_busy.any():
        return 0.0
    unserved_mbps = slots["capacity_mbps"] - slots["rate_mbps"] / evidence.header_factor
    return max(float(unserved_mbps[is_busy].sum() / slots["capacity_mbps"].sum()), 0.0)


def narrow_control_elements(evidence: Evidence) -> int | None:
    """Returns the control channel elements of LTE where a large message has no place; None elsewhere.

    TS 36.211 clause 6.8.1: of the resource element groups, PCFICH has 4 and PHICH 3 for 8 blocks.
    """
    radio = evidence.scenario.get("radio") or {}
    if radio.get("technology", "lte") != "lte":
        return None
    width = str(radio.get("bandwidth"))
    blocks = int(radio.get("prbs") or _PRBS.get(width, 100))
    symbols = int(radio.get("control_symbols", 1))
    groups = blocks * (2 + 3 * (symbols - 1)) - 4 - 3 * math.ceil(blocks / 8)
    elements = groups // 9
    return elements if blocks in _PRBS.values() and elements < _LARGEST_MESSAGE else None


def is_busy_cell(evidence: Evidence) -> pd.Series:
    """Returns whether a cell has data of a bulk download to send in all of each slot."""
    is_download = evidence.is_bulk and not evidence.is_upload
    if not evidence.scenario.get("radio") or not is_download or not evidence.capacity_mbps > 0:
        return evidence.slots["t_s"].isna()
    waits_s = evidence.slots["queue_packets"] * evidence.mss / evidence.link_bytes_per_s
    return _has_queue(evidence) & (waits_s >= _MIN_BUSY_S)


def _has_queue(evidence: Evidence) -> pd.Series:
    """Returns whether each slot has a queue that does not empty within an RTT around it.

    At a wired hop, the mean wait of the slot's packets is at least `_MIN_QUEUE_WAIT_MS`.
    """
    if evidence.bottleneck_field:
        return evidence.slot_waits_ms >= _MIN_QUEUE_WAIT_MS
    rtt_s = evidence.min_rtt_s
    count = 1 + (0 if math.isnan(rtt_s) else math.ceil(rtt_s / evidence.slot_s))
    queues = evidence.slots.groupby("run", observed=True)["queue_packets"]
    has_queue: pd.Series = (
        queues.transform(lambda queue: queue.rolling(count, min_periods=1, center=True).min()) > 0
    )
    return has_queue
