"""Lowest delays of connections: those of a run on the same way, whatever queue each one met."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.scenarios.packets import PACKET_BYTES

if TYPE_CHECKING:
    import pandas as pd


def with_lowest_delays(
    own: pd.DataFrame, on_same_way: pd.DataFrame, capacity_mbps: float
) -> pd.DataFrame:
    """Returns connections with the lowest delays of any of them in the same run, or of others.

    Args:
        own: connections of the flow.
        on_same_way: connections of all flows between the same nodes.
        capacity_mbps: mean capacity, Mbit/s, at which a full packet of the flow takes longer than a
            short one of another flow.
    """
    packet_ms = 8e-3 * PACKET_BYTES / capacity_mbps if capacity_mbps > 0 else math.inf
    names = [name for name in ("rtt_min_ms", "owd_min_ms") if name in own]
    lowest = {}
    for name in names:
        others = own["run"].map(on_same_way.groupby("run")[name].min()) + packet_ms
        lowest[name] = own.groupby("run")[name].transform("min").combine(others, np.fmin)
    return own.assign(**lowest)
