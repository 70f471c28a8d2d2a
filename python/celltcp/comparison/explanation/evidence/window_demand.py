"""Window that an application needs: the data that it can have in flight, if a link carries more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError
from celltcp.scenarios.demand import Demand, demand, offered_mbps
from celltcp.scenarios.quantity_texts import rate_text, size_text
from celltcp.scenarios.scenario_files import read_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp.comparison.explanation.evidence.evidence import Evidence


def window_demand(evidence: Evidence) -> Demand | None:
    """Returns the data that the application can have in flight; None if a BDP is less, or unknown."""
    rtt_s = evidence.min_rtt_s
    needed = demand(evidence.workload, rtt_s, _top_bitrate(evidence))
    return needed if needed is not None and needed.bytes < evidence.bdp else None


def offer_text(evidence: Evidence, name: str, window: float) -> str:
    """Returns a part of a sentence: what the application offers, and what a window lets pass.

    It is empty for applications that send as much as the path carries.

    Args:
        evidence: metrics of the flow.
        name: name of the window or buffer, such as `window`.
        window: bytes that it allows in flight.
    """
    offered, top = offered_mbps(evidence.workload), _top_bitrate(evidence)
    if offered is None and top is None:
        return ""
    rtt_ms = evidence.min_rtt_ms
    passed = 8e-3 * window / rtt_ms
    passed_text = f"the {name} lets {rate_text(passed)} pass at an RTT of {rtt_ms:.1f} ms"
    if offered is None:
        return f"the best representation has {rate_text((top or 0.0) / 1e6)}, and {passed_text}"
    encoder_text = " at most" if "encoder" in evidence.workload else ""
    burst_text = "" if offered > passed else f", so that bursts of over {size_text(window)} wait"
    return f"the application offers {rate_text(offered)}{encoder_text}, and {passed_text}{burst_text}"


def top_bitrate(workload: Mapping[str, Any], scenario_text: str, flow_index: int) -> float | None:
    """Returns the rate of the best representation of a video, bit/s; None without one."""
    if workload.get("kind") != "video":
        return None
    try:
        scenario = read_scenario(scenario_text, "results", Path())
    except CelltcpError:
        # The file of segment sizes no longer exists.
        return None
    return scenario.top_bitrates[flow_index]


def _top_bitrate(evidence: Evidence) -> float | None:
    return top_bitrate(evidence.workload, evidence.scenario_text, evidence.flow_index)
