"""Goodput of requests and frames: where tables show it, as it is not just that of their pauses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.comparison.metrics import GOODPUT
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.frames import MAX_FRAME_SHARE, min_frame_mbps

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison


def shows_goodput(comparison: Comparison) -> bool:
    """Returns whether the flow under test sends requests without a pause, or too few of its frames.

    The goodput of other applications that pause is that of their pauses.
    """
    _, workload = FlowUnderTest.each_with_workload(comparison.results.about)[0]
    if _has_no_gap(workload):
        return True
    rate_mbps = min_frame_mbps(workload)
    rates = (estimate(comparison.values(cca, GOODPUT)).mean for cca in comparison.ccas)
    return rate_mbps is not None and any(rate < MAX_FRAME_SHARE * rate_mbps for rate in rates)


def _has_no_gap(workload: Mapping[str, Any]) -> bool:
    """Returns whether each response is followed by the next request at once."""
    gap = workload.get("gap")
    if workload.get("kind") != "request-response" or not isinstance(gap, Mapping):
        return False
    return gap.get("kind") == "constant" and in_unit(gap.get("value"), "s") == 0
