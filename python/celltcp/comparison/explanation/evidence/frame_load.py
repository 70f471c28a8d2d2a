"""Load of applications that make data at a rate, beside what their path carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp._core import in_unit
from celltcp.comparison.explanation.evidence.openings import requested_capacity_mbps
from celltcp.comparison.explanation.evidence.queue_owners import competitors
from celltcp.results.statistics import estimate
from celltcp.scenarios.demand import sustained_mbps
from celltcp.scenarios.frames import beside_mbps, first_frames, min_frame_mbps
from celltcp.scenarios.quantity_texts import rate_text, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum time in which the sessions of a flow start, as a share of the run, at which they arrive.
_MIN_ARRIVAL_SHARE = 0.5
#: Mean size of the frames of an encoder, as a share of whole ones, above which it hardly makes smaller
#: ones at low rates.
_MIN_WHOLE_SHARE = 0.9
#: Minimum time for which all frames are late by other flows, not by an outage or a loss, s.
_MIN_LATE_S = 10.0


class Load(NamedTuple):
    """Data of a flow, and of the other flows with such data that share its path, Mbit/s."""

    #: Minimum mean rate at which all sessions of the flow make data.
    own_mbps: float
    #: Minimum mean rate of all flows.
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
        are_frames = evidence.workload.get("kind") == "frames"
        mean_mbps = sustained_mbps(evidence.workload) if are_frames else None
        return None if mean_mbps is None else evidence.sessions * mean_mbps
    mean_share = whole_share(evidence)
    share = mean_share or float(evidence.workload.get("encoder", {}).get("lowest", 1.0))
    own_mbps = 8e-6 * frames[0] / frames[1] * share
    return evidence.sessions * (own_mbps + beside_mbps(evidence.workload))


def whole_share(evidence: Evidence) -> float | None:
    """Returns the mean size of the frames of an encoder that hardly follows the rate, as a share."""
    metrics = evidence.application.metrics[evidence.cca] if evidence.application else {}
    share = estimate(metrics.get("frame_size_share", [])).mean
    return share if share >= _MIN_WHOLE_SHARE else None


def load_of(evidence: Evidence) -> Load | None:
    """Returns the load of frames, pieces or arriving transfers; None for other flows, and beside bulk.

    Transfers arrive where the sessions of a flow start during most of the run.
    """
    own_mbps = _sustained_mbps(evidence.scenario["flows"][evidence.flow_index], _run_s(evidence))
    if own_mbps is None or not all(map(evidence.is_thin_flow, evidence.competing_mbps)):
        return None
    total_mbps, carried_mbps = own_mbps, requested_capacity_mbps(evidence)
    for name, goodput_mbps in evidence.competing_mbps.items():
        # The capacity is what other flows leave; those with frames get a part of it by their CCA.
        index = evidence.index_of(name)
        flow = {} if index is None else evidence.scenario["flows"][index]
        rate_mbps = _sustained_mbps(flow, _run_s(evidence))
        if rate_mbps is not None:
            total_mbps += rate_mbps
            carried_mbps += goodput_mbps
    return Load(own_mbps, total_mbps, carried_mbps)


def late_beside_others_text(evidence: Evidence, units: pd.DataFrame, slow: pd.DataFrame) -> str:
    """Returns a sentence on frames that stay late beside flows that fill the queue; or empty.

    Outages and losses make frames late for seconds, other flows as long as they take the link.
    """
    names = [name for name in competitors(evidence) if not evidence.is_thin_flow(name)]
    made_mbps = sent_mbps(evidence)
    if made_mbps is None or not names:
        return ""
    ordered = units.assign(is_slow=units.index.isin(slow.index)).sort_values(["run", "start_s"])
    groups = [ordered["run"], (~ordered["is_slow"]).cumsum()]
    starts_s = ordered["start_s"].where(ordered["is_slow"]).groupby(groups)
    longest_s = float((starts_s.max() - starts_s.min()).max())
    if not longest_s >= _MIN_LATE_S:
        return ""
    others = " and ".join(f"{name} ({rate_text(evidence.competing_mbps[name])})" for name in names)
    verbs = ("fills", "leaves") if len(names) == 1 else ("fill", "leave")
    return (
        f" They are late for up to {time_text(longest_s)} without a break: {others} {verbs[0]} the "
        f"queue and {verbs[1]} {rate_text(evidence.capacity_mbps)} of the link for "
        f"{rate_text(made_mbps)} of frames."
    )


def _run_s(evidence: Evidence) -> float:
    """Returns the mean duration of a run, s."""
    return float(evidence.comparison.runs["duration_s"].mean())


def _sustained_mbps(flow: Mapping[str, Any], run_s: float) -> float | None:
    """Returns the minimum mean rate that all sessions of a flow make, Mbit/s; None for other flows."""
    workload, count = flow.get("workload", {}), int(flow.get("count", 1))
    rate_mbps = sustained_mbps(workload)
    if rate_mbps is not None:
        return count * rate_mbps
    size, spread_s = in_unit(workload.get("bytes"), "B"), in_unit(flow.get("start_spread"), "s")
    if not size or not spread_s or spread_s < _MIN_ARRIVAL_SHARE * run_s or count < 2:
        return None
    return 8e-6 * count * size / spread_s
