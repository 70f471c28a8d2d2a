"""Slots of the flow under test, and means of their metrics."""

from __future__ import annotations

import pandas as pd

from celltcp.comparison.comparison import Comparison

#: Columns of slots that are averaged, by the names of metrics in options and functions.
_MEAN_COLUMNS = {
    "rtt": "rtt_mean_ms",
    "owd": "owd_mean_ms",
    "retransmissions": "retransmissions",
    "pm_balanced": "pm_balanced",
    "pm_delay": "pm_delay",
}


def tested_slots(comparison: Comparison) -> pd.DataFrame:
    """Returns the slots of the scenario's first flow, with its parallel connections joined in one row.

    Delivered bytes and retransmissions are sums; RTT and PM are means of the connections.
    """
    slots = comparison.tested_slots
    return slots[["cca", "run", "t_s", *_MEAN_COLUMNS.values(), "delivered_bytes"]]


def mean_metric(slots: pd.DataFrame, metric: str, slot_s: float) -> float:
    """Returns the mean of a metric over slots of `slot_s`: goodput in Mbit/s, others in their unit."""
    if metric == "goodput":
        return float(slots["delivered_bytes"].mean() * 8e-6 / slot_s)
    return float(slots[_MEAN_COLUMNS[metric]].mean())
