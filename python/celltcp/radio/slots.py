"""Slots of the flow under test."""

from __future__ import annotations

import pandas as pd

from celltcp.comparison.comparison import Comparison


def tested_slots(comparison: Comparison) -> pd.DataFrame:
    """Returns the slots of the scenario's first flow, with parallel connections joined in one row.

    Delivered bytes and retransmissions are sums; RTT and PM are means of the connections.
    """
    slots = comparison.tested_slots
    return slots[["cca", "run", "t_s", *MEANS.values(), "delivered_bytes"]]


#: Columns of slots that are averaged, by the names that users give.
MEANS = {
    "rtt": "rtt_mean_ms",
    "owd": "owd_mean_ms",
    "retransmissions": "retransmissions",
    "pm_balanced": "pm_balanced",
    "pm_delay": "pm_delay",
}


def mean_of(slots: pd.DataFrame, metric: str, slot_s: float) -> float:
    """Returns the goodput in Mbit/s over these slots, or the mean of another metric (or NaN)."""
    if metric == "goodput":
        return float(slots["delivered_bytes"].mean() * 8e-6 / slot_s)
    return float(slots[MEANS[metric]].mean())
