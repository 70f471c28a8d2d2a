"""Rules about cells: handovers that lose segments, and radio link failures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text, times_text
from celltcp.comparison.explanation.causes.path import losing_changes, timeout_text
from celltcp.comparison.explanation.evidence.cell_changes import MIN_WAIT_S
from celltcp.scenarios.cca_mix import count_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from celltcp.comparison.explanation.evidence.cell_changes import CellChange
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum share of the segments that handovers lose at which they are a cause.
_MIN_LOSS_SHARE = 5e-4
#: How a link recovers in a cell that does not know the phone.
_ANEW = "connected anew"


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
