"""Frames that are late or dropped in the start-up of their connection, and those that are later."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.scenarios.frames import constant_frames, drops_frames
from celltcp.scenarios.initial_window import initial_window
from celltcp.scenarios.quantity_texts import time_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum number of late frames, in all runs, on which advice may rest: six of six lie on one side in
#: 3 % of cases, if either side is as likely (sign test).
MIN_LATE_FRAMES = 6


class LateFrames(NamedTuple):
    """Frames of a flow that came after their deadline or never, over all runs."""

    #: Number of those made before the connection had sent the data of an RTT at the rate of the frames.
    start_up: int
    #: Number of later ones.
    later: int
    #: Mean time from the request of a connection on that counts as start-up, s.
    start_up_s: float

    @property
    def are_of_start_up(self) -> bool:
        """Whether the start-up has nearly all of them."""
        return self.start_up > 0 and self.later < MIN_LATE_FRAMES

    @property
    def text(self) -> str:
        """Sentence on those of the start-up, with a space before it; empty unless it has nearly all."""
        if not self.are_of_start_up:
            return ""
        later = f"later ones are {self.later}" if self.later else "later ones are in time"
        return (
            f" {number_text(self.start_up)} frames were late or dropped in the start-up, the handshake "
            f"and the first round trips ({time_text(self.start_up_s)}); {later}."
        )


def late_frames(evidence: Evidence) -> LateFrames | None:
    """Returns the late frames of a flow; None for others, and for frames without a constant rate.

    A program that drops frames leaves gaps among those that it sends.
    """
    frames, deadline_s, units = constant_frames(evidence.workload), evidence.deadline_s, evidence.units
    if frames is None or units is None or deadline_s is None:
        return None
    size, interval_s = frames
    needed = size * (1 + evidence.min_rtt_s / interval_s)
    window = initial_window(evidence.scenario.get("tcp", {})) * evidence.mss
    # A window doubles with each RTT, and the last of its data need one more.
    slow_start_s = (math.ceil(math.log2(1 + needed / window)) + 1) * evidence.min_rtt_s
    rows = evidence.connections.set_index(["run", "flow"])[["start_s", "first_data_s"]]
    ends_s = rows["first_data_s"] + slow_start_s
    start_up = late = dropped = 0
    for key, group in units.groupby(["run", "connection"]):
        end_s = float(ends_s.get(key, math.nan))
        starts_s = np.sort(group["start_s"].to_numpy(float))
        is_late = ~(group["duration_s"].to_numpy(float) <= deadline_s)
        late += int(is_late.sum())
        start_up += int((is_late & (group["start_s"].to_numpy(float) <= end_s)).sum())
        if drops_frames(evidence.workload):
            missing = np.maximum(np.round(np.diff(starts_s) / interval_s) - 1, 0)
            dropped += int(missing[starts_s[1:] <= end_s].sum())
    dropped = min(dropped, evidence.dropped_frames)
    total = late + evidence.dropped_frames
    start_up += dropped
    return LateFrames(start_up, total - start_up, float((ends_s - rows["start_s"]).mean()))
