"""Rule about the grants of a cell's uplink, for which requests and frames of a phone wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.causes.queues import queue
from celltcp.comparison.explanation.causes.sleep import sleep
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Quantile of the delay of slots where no queue stands, and the share of the median delay in the cell
#: below which that is no wait for grants.
_LOW_QUANTILE, _MAX_QUEUED_SHARE = 0.1, 0.5
#: Minimum median delay in the cell, in ms and as a share of the delay with that of the wired hops.
_MIN_DELAY_MS, _MIN_DELAY_SHARE = 10.0, 0.2


def grants(evidence: Evidence) -> Cause | None:
    """A flow sends little over an uplink with grants, so that each unit of work waits for one.

    The cell adds at least {_MIN_DELAY_MS:.0f} ms and {_MIN_DELAY_SHARE:.0%} to the delay of the wired
    hops, in the median slot, or in the lowest tenth of them if that is far lower: waits for grants are
    always there, and a queue of the flow's own data is not. Of a flow that has data to send most of the
    time, and a queue, the lowest delay counts, as a share of the mean one. No bulk flow fills a queue,
    and the phone does not sleep meanwhile.
    """
    uplink = (evidence.scenario.get("radio") or {}).get("uplink") or {}
    others = [*evidence.competing_mbps, *evidence.reverse_mbps]
    if not evidence.scenario.get("radio") or uplink.get("access", "granted") != "granted":
        return None
    if not evidence.is_thin or sleep(evidence) or not all(map(evidence.is_thin_flow, others)):
        return None
    wired_ms = evidence.base_rtt_ms
    column, noun = "rtt_mean_ms", "requests and ACKs"
    if evidence.is_upload:
        column, noun, wired_ms = "owd_mean_ms", "data of the phone", wired_ms / 2
    low_ms, median_ms = evidence.slots[column].quantile([_LOW_QUANTILE, 0.5])
    is_queued = low_ms - wired_ms < _MAX_QUEUED_SHARE * (median_ms - wired_ms)
    total_ms, when = (low_ms, "where no queue stands") if is_queued else (median_ms, "in the median")
    whole_ms = total_ms
    if evidence.needs_capacity and queue(evidence):
        total_ms, when = evidence.mean(column.replace("mean", "min")), "at best"
        whole_ms = max(evidence.mean(column), total_ms)
    delay_ms = total_ms - wired_ms
    if not delay_ms >= max(_MIN_DELAY_MS, _MIN_DELAY_SHARE * whole_ms):
        return None
    return Cause(
        "grants",
        f"The cell adds {three_digits(delay_ms)} ms to the {three_digits(wired_ms)} ms of the wired "
        f"hops, {when}: {noun} wait for a grant, which the phone requests every "
        f"{uplink.get('sr_period', '10ms')} at most.",
        delay_ms / whole_ms,
    )
