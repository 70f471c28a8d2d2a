"""Narrowest part of a path beside its access link: a wired hop or a policer of a steady rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit

if TYPE_CHECKING:
    import pandas as pd

#: Node that receives the data of an upload.
SERVER = "server"
#: Headers of a full segment with timestamps, bytes.
_HEADERS = 52


def narrowest_mbps(scenario: Mapping[str, Any], *, is_upload: bool) -> float:
    """Returns the lowest steady rate of hops and policers on the way, Mbit/s at the IP layer.

    Infinite where none is known. A tree of links has no single way.

    Args:
        scenario: as its file has it.
        is_upload: whether the data go to the server; policers are on the other way.
    """
    path = scenario.get("path", {})
    if scenario.get("links"):
        return math.inf
    return min(_rates(path, is_upload=is_upload), default=math.inf)


def _rates(path: Mapping[str, Any], *, is_upload: bool) -> Iterator[float]:
    hops = path.get("wired", ())
    policers = () if is_upload else [each.get("policer") for each in (path, *hops)]
    for part in (*hops, *filter(None, policers)):
        rate = part.get("rate")
        if isinstance(rate, str) and (value := in_unit(rate, "Mbit/s")):
            yield value


def bounded_slots(
    slots: pd.DataFrame, others_mbps: pd.Series, mss: float, bound_mbps: float
) -> pd.DataFrame:
    """Returns slots whose capacity is at most what the narrowest part leaves to the flow.

    Args:
        slots: of a flow.
        others_mbps: payload of other flows on the same way in each of them, Mbit/s.
        mss: payload of a segment, bytes.
        bound_mbps: of the narrowest part, at the IP layer.
    """
    if math.isinf(bound_mbps) or not mss > 0:
        return slots
    left = (bound_mbps * mss / (mss + _HEADERS) - others_mbps).clip(lower=0.0)
    # A burst that a policer lets pass is no unused capacity.
    left = left.clip(lower=slots["goodput_mbps"])
    return slots.assign(capacity_mbps=slots["capacity_mbps"].clip(upper=left))
