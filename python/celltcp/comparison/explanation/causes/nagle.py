"""Rule about Nagle's algorithm, which holds a short segment back until the ACK of an earlier one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.acks import delayed_acks
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.results.statistics import estimate
from celltcp.scenarios.frames import constant_frames
from celltcp.scenarios.quantity_texts import time_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum wait in lowest RTTs, and maximum mean RTT in lowest ones at which no queue explains it.
_MIN_WAIT_RTTS, _MAX_RTTS = 0.25, 1.5
#: Minimum wait as a share of the mean delay.
_MIN_WAIT_SHARE = 0.1


def nagle(evidence: Evidence) -> Cause | None:
    """Nagle's algorithm holds data back, although the receiver does not delay its ACKs by much.

    The last write of a response, or a frame, waits for at least {_MIN_WAIT_RTTS} of the lowest RTT and
    {_MIN_WAIT_SHARE:.0%} of the mean time. The mean RTT is at most {_MAX_RTTS} times the lowest one.
    """
    min_rtt_ms, application = evidence.min_rtt_ms, evidence.application
    if (
        not evidence.is_held_by_nagle
        or application is None
        or not evidence.mean("rtt_mean_ms") <= _MAX_RTTS * min_rtt_ms
        or delayed_acks(evidence)
    ):
        return None

    def mean(metric: str) -> float:
        return estimate(application.values(metric)[evidence.cca]).mean

    writes = int(evidence.workload.get("writes", 1))
    if writes > 1 and "response_first_byte_s" in application.names:
        total_s = mean("response_s")
        wait_s = total_s - mean("response_first_byte_s")
        text = (
            f"A response is written in {writes} parts, and Nagle's algorithm held the last one back "
            f"until the ACK of those before: it ended {time_text(wait_s)} after its first byte"
        )
    elif constant_frames(evidence.workload):
        # The mean is infinite if the end of a run cut frames off.
        means_ms = map(mean, ("frame_delay_ms", "frame_delay_p50_ms"))
        total_s = next(filter(math.isfinite, means_ms), math.nan) / 1e3
        wait_s = total_s - evidence.mean("owd_min_ms") / 1e3
        text = (
            "Nagle's algorithm held frames back until the ACK of those before: they took "
            f"{time_text(wait_s)} longer than the path"
        )
    else:
        return None
    if not wait_s >= max(_MIN_WAIT_RTTS * min_rtt_ms / 1e3, _MIN_WAIT_SHARE * total_s):
        return None
    return Cause("nagle", f"{text}, at an RTT of {time_text(min_rtt_ms / 1e3)}.", wait_s / total_s)
