"""Rule about videos: what they played beside the rate of the link, and segments that were abandoned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.causes.cause import Cause, percent_text
from celltcp.comparison.explanation.causes.hosts import MIN_SLOW_LINK_SHARE
from celltcp.results.statistics import estimate
from celltcp.scenarios.quantity_texts import size_text, three_digits

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Kinds of the events of a segment that arrived, and of one that was abandoned.
_ARRIVED, _ABANDONED = "segment_mbps", "abandon"


class _Abandoned(NamedTuple):
    """Segments of a video that were abandoned, over all runs."""

    segments: int
    #: Their bytes that had arrived until then, or came after it.
    wasted: float


def video(evidence: Evidence) -> Cause | None:
    """The video bitrate exceeded the capacity for at least {MIN_SLOW_LINK_SHARE:.0%} of the time.

    That bitrate is the mean of the representations that were played. Or the player abandoned segments,
    whose bytes are wasted.
    """
    application = evidence.application
    if application is None or "bitrate_mbps" not in application.names:
        return None
    rate_mbps, switches, stalls, stalled_s, startup_s = (
        estimate(application.values(name)[evidence.cca]).mean
        for name in ("bitrate_mbps", "switches", "stalls", "stalled_s", "startup_s")
    )
    slow_share = float((evidence.slots["capacity_mbps"] < rate_mbps).mean())
    abandoned = _abandoned(evidence)
    is_slow = slow_share >= MIN_SLOW_LINK_SHARE
    if not is_slow and not abandoned.segments:
        return None
    stalls_text = f"{three_digits(stalls)} {'stall' if stalls == 1 else 'stalls'}"
    changes = "change" if switches == 1 else "changes"
    slow_text = ""
    if is_slow:
        slow_text = f"; the link carried less than that rate for {percent_text(slow_share)} of the time"
    played_text = (
        f"The video played {rate_mbps:.2f} Mbit/s on average, with {three_digits(switches)} "
        f"{changes} of the representation, {stalls_text} ({stalled_s:.1f} s) and a start-up of "
        f"{startup_s:.2f} s"
    )
    if math.isnan(rate_mbps):
        played_text = "No segment of the video arrived as a whole"
    wasted_share = abandoned.wasted / max(
        evidence.total("bytes") + evidence.total("discarded_bytes"), 1.0
    )
    return Cause(
        "video",
        f"{played_text}{slow_text}.{_abandoned_text(evidence, abandoned, wasted_share)}",
        max(slow_share if is_slow else 0.0, min(wasted_share, 1.0)),
    )


def _abandoned_text(evidence: Evidence, abandoned: _Abandoned, wasted_share: float) -> str:
    """Returns a sentence on abandoned segments; empty for none."""
    if not abandoned.segments:
        return ""
    count = evidence.mean_count_text(abandoned.segments)
    noun, verb = ("segment", "was") if count == "1" else ("segments", "were")
    return (
        f" {count} {noun}{evidence.per_run_text} {verb} abandoned for taking too long: "
        f"{size_text(abandoned.wasted / len(evidence.runs))}, {percent_text(wasted_share)} of all that "
        "arrived, came in vain, and the connection was opened again."
    )


def _abandoned(evidence: Evidence) -> _Abandoned:
    """Returns the abandoned segments, whose bytes arrive after the last one that arrived as a whole."""
    events = evidence.events_of(_ARRIVED, _ABANDONED)
    count, wasted = 0, evidence.total("discarded_bytes")
    keys = ["run", "flow"]
    slots = dict(iter(evidence.connection_slots.groupby(keys)))
    for key, rows in events.sort_values("t_ns").groupby(keys):
        start_s = 0.0
        for t_ns, kind in rows[["t_ns", "kind"]].itertuples(index=False, name=None):
            if kind == _ABANDONED:
                count += 1
                own = slots[key]
                middle_s = own["t_s"] + evidence.slot_s / 2
                wasted += float(
                    own.loc[middle_s.between(start_s, 1e-9 * t_ns), "delivered_bytes"].sum()
                )
            start_s = 1e-9 * t_ns
    return _Abandoned(count, wasted)
