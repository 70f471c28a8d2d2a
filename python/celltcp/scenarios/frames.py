"""Frame rate and bit rate of an application that sends frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit

#: Maximum share of the capacity for frames: the rest is headers and retransmissions.
MAX_FRAME_SHARE = 0.95


def frames_of(workload: Mapping[str, Any]) -> tuple[float, float] | None:
    """Returns size, bytes, and interval, s, of frames; None if they vary, or of other workloads."""
    if workload.get("kind") != "frames":
        return None
    size, interval = (
        in_unit(workload[field].get("value"), unit)
        for field, unit in (("size", "B"), ("interval", "s"))
    )
    return (size, interval) if size and interval else None


def made_mbps(workload: Mapping[str, Any]) -> float | None:
    """Returns the lowest rate at which frames are made, Mbit/s; None where `frames_of` has none.

    An encoder that follows the rate makes smaller ones.
    """
    frames = frames_of(workload)
    if frames is None:
        return None
    size, interval = frames
    return 8e-6 * size / interval * float(workload.get("encoder", {}).get("lowest", 1.0))
