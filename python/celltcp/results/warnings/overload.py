"""Warning about frames whose rate exceeds the capacity of the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.results.columns import numbers
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.frames import MAX_FRAME_SHARE, min_frame_mbps

if TYPE_CHECKING:
    from celltcp.results.tables import Results


def overload(results: Results) -> list[str]:
    """Returns a warning if the only flow makes more frames than the path carries on average."""
    ((flow, workload), *others) = FlowUnderTest.each_with_workload(results.about)
    made = min_frame_mbps(workload)
    slots = results.tables.get("slots")
    if others or made is None or slots is None or not len(slots):
        return []
    capacity = float(numbers(slots["capacity_mbps"]).mean())
    if not 0 < capacity < made / MAX_FRAME_SHARE:
        return []
    return [
        f"{flow.name} makes frames of {made:.2f} Mbit/s, and the path carries {capacity:.2f}: they "
        "wait the longer, the longer it sends, so that its figures are those of this duration only"
    ]
