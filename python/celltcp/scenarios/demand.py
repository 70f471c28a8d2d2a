"""Demand of applications: the rate that they offer, and the data that they can have in flight."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from celltcp._core import in_unit
from celltcp.scenarios.frames import min_frame_mbps
from celltcp.scenarios.initial_window import initial_window
from celltcp.scenarios.requests import MSS

#: Ratio of the rate for a video to its best representation, with which the buffer of the player grows.
_VIDEO_HEADROOM = 2.0
#: Ratio of a size that is rarely exceeded to the mean, for distributions without a highest value.
_RARE_RATIO = 5.0

#: What an application with a sustained rate does, by the kind of its workload: singular and plural.
SUSTAINED_VERBS = {
    "frames": ("makes frames", "make frames"),
    "chunked": ("asks for pieces", "ask for pieces"),
}
#: Mean of each kind of distribution, from its table and a function that reads a field in the unit.
_MEANS: Mapping[str, Callable[[Mapping[str, Any], Callable[[str], float]], float]] = {
    "constant": lambda _, read: read("value"),
    "uniform": lambda _, read: (read("min") + read("max")) / 2,
    "exponential": lambda _, read: read("mean"),
    "normal": lambda _, read: read("mean"),
    "logistic": lambda _, read: read("location"),
    "lognormal": lambda table, read: read("median") * math.exp(float(table["sigma"]) ** 2 / 2),
    "gamma": lambda table, read: read("scale") * float(table["shape"]),
    "weibull": lambda table, read: read("scale") * math.gamma(1 + 1 / float(table["shape"])),
}


class Demand(NamedTuple):
    """Data that an application can have in flight at once, however fast the link is."""

    bytes: float
    #: Name of that data, such as `frames`.
    noun: str
    #: Whether the application waits after that, so that a larger window is of no use.
    is_whole: bool = False


def offered_mbps(workload: Mapping[str, Any]) -> float | None:
    """Returns the mean rate of frames, or the rate of an on-off source, Mbit/s; None for others.

    With an encoder it is the rate of frames of their whole size.
    """
    if workload.get("kind") == "on-off":
        rate = in_unit(workload.get("rate"), "bit/s")
        return None if rate is None else rate / 1e6
    if workload.get("kind") != "frames":
        return None
    mbps = 0.0
    for frames in _frame_kinds(workload):
        size, interval_s = mean_of(frames.get("size"), "B"), mean_of(frames.get("interval"), "s")
        if not size or not interval_s:
            return None
        mbps += 8e-6 * size / interval_s
    return mbps


def sustained_mbps(workload: Mapping[str, Any]) -> float | None:
    """Returns the minimum mean rate at which an application makes data, Mbit/s, whatever has arrived.

    That is so for frames, and for pieces of a video at regular times. None for other applications.
    """
    if workload.get("kind") == "chunked":
        size, period_s = in_unit(workload.get("piece"), "B"), in_unit(workload.get("period"), "s")
        return 8e-6 * size / period_s if size and period_s else None
    if workload.get("kind") != "frames":
        return None
    least = min_frame_mbps(workload)
    if least is None and (offered := offered_mbps(workload)) is not None:
        least = offered * float(workload.get("encoder", {}).get("lowest", 1.0))
    return least


def requested_mbps(workload: Mapping[str, Any], rate_mbps: float, rtt_s: float) -> float | None:
    """Returns the mean rate that a connection asks for if its data arrive at a rate, Mbit/s.

    A transfer begins with a handshake and slow start, round trips that no rate makes shorter; a pause
    follows it. None for workloads whose demand the quality decides, as that of a video.
    """
    kind = workload.get("kind", "bulk")
    if kind == "bulk":
        return rate_mbps
    if kind == "on-off":
        on_s, off_s = (in_unit(workload.get(field), "s") for field in ("on", "off"))
        if not on_s or off_s is None:
            return None
        return min(offered_mbps(workload) or rate_mbps, rate_mbps) * on_s / (on_s + off_s)
    if kind != "sequence":
        sustained = sustained_mbps(workload)
        return None if sustained is None else min(sustained, rate_mbps)
    size, gap_s = mean_of(workload.get("size"), "B"), mean_of(workload.get("gap"), "s")
    if not size or gap_s is None:
        return None
    megabits = 8e-6 * size
    round_trips = 1 + math.log2(1 + size / (MSS * initial_window({}))) if gap_s else 0.0
    return megabits / (gap_s + round_trips * rtt_s + megabits / rate_mbps)


def demand(
    workload: Mapping[str, Any], rtt_s: float, top_bitrate: float | None = None
) -> Demand | None:
    """Returns the data that an application can have in flight; None if the link alone limits it.

    Args:
        workload: table of the flow in a scenario.
        rtt_s: round-trip time, s.
        top_bitrate: rate of the best representation of a video, bit/s.
    """
    kind = workload.get("kind", "bulk")
    if kind == "video":
        video_bytes = _VIDEO_HEADROOM * (top_bitrate or 0.0) / 8 * rtt_s
        return Demand(video_bytes, "video") if video_bytes else None
    offered = offered_mbps(workload)
    if offered is not None:
        noun = "frames" if kind == "frames" else "data"
        per_rtt = offered * 1e6 / 8 * rtt_s
        frames = _frame_kinds(workload) if kind == "frames" else []
        # A frame is sent at once, and may wait for the one before.
        return Demand(max([per_rtt, *(2 * _rare_size(each.get("size")) for each in frames)]), noun)
    size, noun = _unit_size(kind, workload)
    return Demand(size, noun, is_whole=True) if size else None


def _unit_size(kind: str, workload: Mapping[str, Any]) -> tuple[float, str]:
    """Returns the bytes that a connection sends before it waits, and their name; 0 if unknown."""
    if kind == "bulk":
        return in_unit(workload.get("bytes"), "B") or 0.0, "the transfer"
    if kind == "sequence":
        return _rare_size(workload.get("size")), "the transfer"
    if kind == "request-response":
        return _rare_size(workload.get("response")), "the response"
    return 0.0, ""


def _frame_kinds(workload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the tables of all kinds of frames of a workload."""
    return [workload, *workload.get("beside", ())]


def _rare_size(distribution: object) -> float:
    """Returns a size that is rarely exceeded, bytes; 0 if it is unknown."""
    if isinstance(distribution, Mapping) and distribution.get("kind") == "uniform":
        return in_unit(distribution["max"], "B") or 0.0
    mean = mean_of(distribution, "B") or 0.0
    is_constant = isinstance(distribution, Mapping) and distribution.get("kind") == "constant"
    return mean if is_constant else _RARE_RATIO * mean


def mean_of(distribution: object, unit: str) -> float | None:
    """Returns the mean of a distribution; None for a kind without a finite mean, or a wrong unit."""
    if not isinstance(distribution, Mapping):
        return None
    rule = _MEANS.get(str(distribution.get("kind", "constant")))
    if rule is None:
        return None

    def read(field: str) -> float:
        value = in_unit(distribution[field], unit)
        return math.nan if value is None else value

    mean = rule(distribution, read)
    return None if math.isnan(mean) else mean
