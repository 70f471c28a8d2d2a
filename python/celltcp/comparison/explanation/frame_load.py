"""Load of frames: the rate of the frames on a path beside what the path carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.openings import requested_capacity_mbps
from celltcp.results.statistics import estimate
from celltcp.scenarios.frames import beside_mbps, first_frames, min_frame_mbps

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence


#: Mean size of the frames of an encoder, as a share of whole ones, above which it hardly makes smaller
#: ones at low rates.
_MIN_WHOLE_SHARE = 0.9


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


def sent_mbps(evidence: Evidence) -> float | None:
    """Returns the rate of the frames of all kinds and sessions of a flow, Mbit/s; None for others.

    It is the minimum of an encoder that follows the rate, and the mean of one that hardly does.
    """
    frames = first_frames(evidence.workload)
    if frames is None:
        return None
    mean_share = whole_share(evidence)
    share = mean_share or float(evidence.workload.get("encoder", {}).get("lowest", 1.0))
    own_mbps = 8e-6 * frames[0] / frames[1] * share
    return evidence.sessions * (own_mbps + beside_mbps(evidence.workload))


def whole_share(evidence: Evidence) -> float | None:
    """Returns the mean size of the frames of an encoder that hardly follows the rate, as a share."""
    metrics = evidence.application.metrics[evidence.cca] if evidence.application else {}
    share = estimate(metrics.get("frame_size_share", [])).mean
    return share if share >= _MIN_WHOLE_SHARE else None


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
