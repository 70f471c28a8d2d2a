"""Ramps: the time from a moment of a run until the flow uses the capacity, and what it left unused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.causes.standing_queues import is_busy_cell

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Share of the capacity from which on a flow counts as using all of it.
REACHED_SHARE = 0.8
#: Window of the moving average of the goodput, RTTs.
_GOODPUT_RTTS = 3
#: Minimum packets of the slots that are judged together.
_JUDGED_PACKETS = 4


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
    is_before = slots["t_s"] < end_s
    unused = unused_mbps(evidence, slots)[is_before].sum()
    goodput_mbps = slots.loc[is_before, "goodput_mbps"].mean()
    return Ramp(start_s, end_s, float(unused), float(goodput_mbps), has_reached)


def unused_mbps(evidence: Evidence, slots: pd.DataFrame) -> pd.Series:
    """Returns the capacity that the flow did not use in each slot of a run, Mbit/s.

    A packet arrives in one slot, and may have used the link in those before: slots in which the link
    carries only some packets have the mean around them. A cell with a queue is in use.
    """
    is_busy = is_busy_cell(evidence).reindex(slots.index, fill_value=False)
    unused = (slots["capacity_mbps"] - slots["goodput_mbps"]).mask(is_busy, 0.0)
    return unused.rolling(_judged_slots(evidence), min_periods=1, center=True).mean().clip(lower=0)


def capacity_share(evidence: Evidence, unused: float) -> float:
    """Returns a sum of unused capacity over slots as a share, at most what is unused in all."""
    capacity = float(evidence.slots["capacity_mbps"].sum())
    return min(unused / capacity, evidence.unused_share) if capacity > 0 else 0.0


def link_share_text(evidence: Evidence, share: float) -> str:
    """Returns a share of the capacity that other flows left as one of all that the link carries."""
    capacity = evidence.capacity_mbps
    left_share = capacity / (capacity + evidence.others_mbps) if capacity > 0 else 1.0
    return percent_text(left_share * share)


def _judged_slots(evidence: Evidence) -> int:
    """Returns in how many slots the link carries enough packets of the flow to judge its goodput."""
    if not evidence.capacity_mbps > 0:
        return 1
    packet_s = evidence.mss * 8 / evidence.capacity_mbps / 1e6
    return max(math.ceil(_JUDGED_PACKETS * packet_s / evidence.slot_s), 1)


def reaches_capacity(evidence: Evidence, slots: pd.DataFrame, rtts: float) -> pd.Series:
    """Returns whether the flow uses the capacity in each slot of a run, by means over some RTTs.

    Within a round trip data comes in bursts. A moment in which other flows leave little capacity does
    not count.
    """
    rtt_s = evidence.min_rtt_s
    count = max(math.ceil(rtts * rtt_s / evidence.slot_s), _judged_slots(evidence))
    means = slots[["goodput_mbps", "capacity_mbps"]].rolling(count, min_periods=1).mean()
    capacity = means["capacity_mbps"].clip(lower=slots["capacity_mbps"].median())
    return (means["goodput_mbps"] >= REACHED_SHARE * capacity) & (capacity > 0)
