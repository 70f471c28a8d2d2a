"""Load of frames: the rate of the frames on a path beside what the path carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.openings import requested_capacity_mbps
from celltcp.scenarios.frames import min_frame_mbps

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence


class FrameLoad(NamedTuple):
    """Frames of a flow, and of the other flows with frames that share its path, Mbit/s."""

    #: Minimum rate of the frames of all sessions of the flow.
    own_mbps: float
    #: Minimum rate of the frames of all flows.
    made_mbps: float
    #: Payload that the path carries for these flows.
    carried_mbps: float

    @property
    def fitting_mbps(self) -> float:
        """Part of what the path carries that is for the flow, if all have the same load."""
        return self.carried_mbps * self.own_mbps / self.made_mbps


def made_mbps(evidence: Evidence) -> float | None:
    """Returns the minimum rate of the frames of all sessions of a flow, Mbit/s; None for others."""
    frames_mbps = min_frame_mbps(evidence.workload)
    return None if frames_mbps is None else evidence.sessions * frames_mbps


def frame_load(evidence: Evidence) -> FrameLoad | None:
    """Returns the load of the frames of a flow; None for other workloads, and beside bulk flows."""
    own_mbps = made_mbps(evidence)
    if own_mbps is None or not all(map(evidence.is_thin_flow, evidence.competing_mbps)):
        return None
    total_mbps, carried_mbps = own_mbps, requested_capacity_mbps(evidence)
    for name, goodput_mbps in evidence.competing_mbps.items():
        # The capacity is what other flows leave; those with frames get a part of it by their CCA.
        index = evidence.index_of(name)
        flow = {} if index is None else evidence.scenario["flows"][index]
        frames_mbps = min_frame_mbps(flow.get("workload", {}))
        if frames_mbps is not None:
            total_mbps += int(flow.get("count", 1)) * frames_mbps
            carried_mbps += goodput_mbps
    return FrameLoad(own_mbps, total_mbps, carried_mbps)
