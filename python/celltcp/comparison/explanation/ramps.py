"""Ramps: the time from a moment of a run until the flow uses the capacity, and what it left unused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Share of the capacity from which on a flow counts as using all of it.
REACHED_SHARE = 0.8
#: Window of the moving average of the goodput, RTTs.
_GOODPUT_RTTS = 3


class Ramp(NamedTuple):
    """Time of a run until the flow uses the capacity."""

    start_s: float
    #: Time at which the flow uses the capacity; the end of the run if it never does.
    end_s: float
    #: Unused capacity in that time, the sum over its slots in Mbit/s.
    unused: float
    #: Mean goodput in that time, Mbit/s; NaN without a slot.
    goodput_mbps: float
    #: Whether the flow ever uses the capacity.
    has_reached: bool

    @property
    def length_s(self) -> float:
        """Length, s."""
        return self.end_s - self.start_s


def ramp_from(evidence: Evidence, run: int, start_s: float, before_s: float = math.inf) -> Ramp:
    """Returns the ramp that begins at a time of a run.

    Args:
        evidence: evidence of the flow.
        run: number of the run.
        start_s: start of the ramp.
        before_s: time at which it ends even if the flow does not use the capacity.
    """
    slots = evidence.slots
    slots = slots[(slots["run"] == run) & (slots["t_s"] + evidence.slot_s > start_s)]
    is_reached = reaches_capacity(evidence, slots, _GOODPUT_RTTS)
    has_reached = bool(is_reached.any())
    end_s = float(slots["t_s"].max()) + evidence.slot_s if len(slots) else start_s
    if has_reached:
        end_s = float(slots["t_s"].to_numpy(float)[is_reached.to_numpy().argmax()])
    end_s = max(min(end_s, before_s), start_s)
    before = slots[slots["t_s"] < end_s]
    unused, goodput_mbps = unused_mbps(before).sum(), before["goodput_mbps"].mean()
    return Ramp(start_s, end_s, float(unused), float(goodput_mbps), has_reached)


def unused_mbps(slots: pd.DataFrame) -> pd.Series:
    """Returns the capacity that the flow did not use in each slot, Mbit/s."""
    return (slots["capacity_mbps"] - slots["goodput_mbps"]).clip(lower=0)


def reaches_capacity(evidence: Evidence, slots: pd.DataFrame, rtts: float) -> pd.Series:
    """Returns whether the flow uses the capacity in each slot of a run, by means over some RTTs.

    Within a round trip data comes in bursts. A moment in which other flows leave little capacity does
    not count.
    """
    count = max(math.ceil(rtts * evidence.mean("rtt_min_ms") / 1e3 / evidence.slot_s), 1)
    means = slots[["goodput_mbps", "capacity_mbps"]].rolling(count, min_periods=1).mean()
    capacity = means["capacity_mbps"].clip(lower=slots["capacity_mbps"].median())
    return (means["goodput_mbps"] >= REACHED_SHARE * capacity) & (capacity > 0)
