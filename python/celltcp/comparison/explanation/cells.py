"""Rules about cells: handovers that lose segments, radio link failures, grants of the uplink."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.cause import Cause, number_text, percent_text, times_text
from celltcp.comparison.explanation.cell_changes import MIN_WAIT_S
from celltcp.comparison.explanation.path import losing_changes, timeout_text
from celltcp.comparison.explanation.queues import queue
from celltcp.comparison.explanation.sleep import sleep
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from collections.abc import Collection

    from celltcp.comparison.explanation.cell_changes import CellChange
    from celltcp.comparison.explanation.evidence import Evidence

#: Minimum share of the segments that handovers lose at which they are a cause.
_MIN_LOSS_SHARE = 5e-4
#: How a link recovers in a cell that does not know the phone.
_ANEW = "connected anew"
#: Quantile of the delay of slots where no queue stands, and the share of the median delay in the cell
#: below which that is no wait for grants.
_LOW_QUANTILE, _MAX_QUEUED_SHARE = 0.1, 0.5
#: Minimum median delay in the cell, in ms and as a share of the delay with that of the wired hops.
_MIN_DELAY_MS, _MIN_DELAY_SHARE = 10.0, 0.2


def handovers(evidence: Evidence) -> Cause | None:
    """Handovers lose at least {_MIN_LOSS_SHARE:.2%} of the segments.

    The old cell discards data that it does not forward, and the next cell those without room.
    """
    losses, sent = _losses(evidence, is_failure=False), evidence.total("segments")
    lost = sum(losses.values())
    if not sent or lost < _MIN_LOSS_SHARE * sent:
        return None
    count = sum(not change.is_failure for change in evidence.cell_changes)
    max_wait_s = float(np.nanmax([change.wait_s for change in losses]))
    is_lossless = evidence.value_at("radio.handover.forwarding") in (None, "lossless")
    reason = "for which the next cell had no room" if is_lossless else "that the old cell discarded"
    wait_text = (
        f"; then nothing arrived for up to {max_wait_s:.1f} s" if max_wait_s >= MIN_WAIT_S else ""
    )
    return Cause(
        "handovers",
        f"{len(losses)} of {count_text(count, 'handover')}{evidence.in_runs_text} lost data "
        f"{reason}: {number_text(lost)} of "
        f"{number_text(sent)} segments ({percent_text(lost / sent)}){wait_text}.",
        _stopped_share(evidence, losses),
    )


def link_failures(evidence: Evidence) -> Cause | None:
    """The radio link of the phone fails, which stops the flow and may lose the data of the old cell."""
    failures = [change for change in evidence.cell_changes if change.is_failure]
    if not failures:
        return None
    lost = sum(_losses(evidence, is_failure=True).values())
    reasons = " or ".join(sorted({failure.detail for failure in failures}))
    text = f"The radio link failed {times_text(len(failures))}{evidence.in_runs_text} ({reasons})"
    if anew := sum(failure.recovery == _ANEW for failure in failures):
        text += f"; the phone connected anew {times_text(anew)}, without the data of the old cell"
    if lost:
        text += f"; {number_text(lost)} segments were lost"
    longest = max(failures, key=lambda failure: np.nan_to_num(failure.wait_s))
    if longest.wait_s >= MIN_WAIT_S:
        text += f"; data arrived again up to {longest.wait_s:.1f} s after the link had recovered"
        text += timeout_text(evidence, longest.run, longest.start_s, longest.end_s)
    return Cause("link_failures", f"{text}.", _stopped_share(evidence, failures))


def _losses(evidence: Evidence, *, is_failure: bool) -> dict[CellChange, int]:
    """Returns the lost segments of each handover, or of each failure, that lost any."""
    losses: dict[CellChange, int] = {}
    for change, lost in zip(losing_changes(evidence), evidence.recoveries["radio"], strict=True):
        if change is not None and change.is_failure == is_failure:
            losses[change] = losses.get(change, 0) + int(lost)
    return losses


def _stopped_share(evidence: Evidence, changes: Collection[CellChange]) -> float:
    """Returns the share of the time of changes, the waits after them and the recoveries from them."""
    stopped_s = sum(
        change.end_s - change.start_s + change.wait_s
        for change in changes
        if math.isfinite(change.end_s) and math.isfinite(change.wait_s)
    )
    lengths = zip(losing_changes(evidence), evidence.recoveries["length_s"], strict=True)
    recovery_s = sum(length_s for change, length_s in lengths if change in changes)
    return float(min((stopped_s + recovery_s) / evidence.duration_s, 1.0))


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
