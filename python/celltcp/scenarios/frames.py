"""Size, interval and bit rate of the frames of an application (`kind = "frames"`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit

#: Maximum share of the capacity for frames; the remainder is for headers and retransmissions.
MAX_FRAME_SHARE = 0.95
#: Minimum growth of the delay that a text names, seconds per second.
_MIN_GROWTH = 0.01


def growth_text(workload: Mapping[str, Any], made_mbps: float, carried_mbps: float) -> str:
    """Returns how the delay of frames grows that are more than the path carries; empty without growth.

    Of a program that drops frames while newer ones wait, the delay does not grow.
    """
    growth = made_mbps / carried_mbps - 1.0
    if growth < _MIN_GROWTH or drops_frames(workload):
        return ""
    return f"each second adds {growth:.2g} s to their delay"


def drops_frames(workload: Mapping[str, Any]) -> bool:
    """Returns whether a program drops frames while newer ones wait; results have their number."""
    return workload.get("backlog") in ("newest", 1)


def constant_frames(workload: Mapping[str, Any]) -> tuple[float, float] | None:
    """Returns size in bytes and interval in s; None if either varies, or for other workloads.

    It is None, too, where frames of another kind have a shorter deadline, by which CCAs rank.
    """
    others = workload.get("beside", ())
    return None if any("deadline" in kind for kind in others) else first_frames(workload)


def first_frames(workload: Mapping[str, Any]) -> tuple[float, float] | None:
    """Returns size in bytes and interval in s of the first kind; as `constant_frames` otherwise."""
    return _size_and_interval(workload) if workload.get("kind") == "frames" else None


def _size_and_interval(kind: Mapping[str, Any]) -> tuple[float, float] | None:
    """Returns size in bytes and interval in s of a kind of frames; None if either varies."""
    size, interval = (
        in_unit(kind[field].get("value"), unit) for field, unit in (("size", "B"), ("interval", "s"))
    )
    return (size, interval) if size and interval else None


def beside_mbps(workload: Mapping[str, Any]) -> float:
    """Returns the bit rate of the kinds of frames beside the first one, Mbit/s, if it is constant."""
    kinds = filter(None, map(_size_and_interval, workload.get("beside", ())))
    return sum(8e-6 * size / interval for size, interval in kinds)


def min_frame_mbps(workload: Mapping[str, Any]) -> float | None:
    """Returns the minimum bit rate of the first kind of frames, Mbit/s.

    With an encoder that adapts the size of frames to the throughput, it is below the nominal one. It is
    None where `constant_frames` returns None.
    """
    frames = constant_frames(workload)
    if frames is None:
        return None
    size, interval = frames
    return 8e-6 * size / interval * float(workload.get("encoder", {}).get("lowest", 1.0))
