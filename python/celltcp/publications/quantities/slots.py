"""Quantities of slots: goodput, delay, window, queue and losses of the flow under test over time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity

#: Quantities that are means over slots, with their columns.
_MEANS = {
    "owd": "owd_mean_ms",
    "retransmissions": "retransmissions",
    "cwnd": "cwnd",
    "inflight": "inflight",
    "queue": "queue_packets",
    "duplicate_acks": "duplicate_acks",
    "rtt_increment": "rtt_increment_mean_ms",
    "rtt_increment_max": "rtt_increment_max_ms",
}

#: Quantities that runs have over the whole way, with their columns in runs and in slots.
_RUN_QUANTITIES = {
    "goodput": ("goodput_mbps", "goodput_mbps"),
    "rtt": ("rtt_mean_ms", "rtt_mean_ms"),
    "pm_balanced": ("pm_balanced", "pm_balanced"),
    "pm_delay": ("pm_delay", "pm_delay"),
}

#: Averaging window of the rate that must be reached, s.
_SMOOTH_S = 0.5


def _of_runs(column: str, of_slots: str) -> Quantity:
    def values(measured: Measured, entry: Published) -> list[float]:
        if not entry.part:
            return [float(each) for each in measured.runs_of(entry)[column]]
        return measured.per_run(entry, lambda slots: _mean(slots[of_slots]))

    return Quantity(values, _spread(of_slots), column=of_slots)


def _of_slots(column: str) -> Quantity:
    return Quantity(
        lambda measured, entry: measured.per_run(entry, lambda slots: _mean(slots[column])),
        _spread(column),
        column=column,
    )


def _spread(column: str) -> Callable[[Measured, Published], list[float]]:
    return lambda measured, entry: measured.slots_of(entry)[column].dropna().tolist()


def _mean(values: pd.Series) -> float:
    return float(values.mean())


def _by(measure: Callable[[pd.DataFrame], float]) -> Quantity:
    return Quantity(lambda measured, entry: measured.per_run(entry, measure))


def _share_of_capacity(slots: pd.DataFrame) -> float:
    whole = slots["capacity_mbps"].sum()
    return float(slots["goodput_mbps"].sum() / whole) if whole else math.nan


def _deviation(slots: pd.DataFrame) -> float:
    """Standard deviation of the goodput from slot to slot, as a share of the mean."""
    mean = slots["goodput_mbps"].mean()
    return float(slots["goodput_mbps"].std() / mean) if mean else math.nan


def _reached(share: float) -> Callable[[pd.DataFrame], float]:
    """Returns the measure: seconds until the goodput has been that share of the capacity."""

    def measure(slots: pd.DataFrame) -> float:
        slot_s = float(slots["t_s"].diff().median())
        count = max(round(_SMOOTH_S / slot_s), 1)
        rates = (
            slots["goodput_mbps"].rolling(count).mean() / slots["capacity_mbps"].rolling(count).mean()
        )
        reached = np.flatnonzero(rates.to_numpy() >= share)
        begin, end = slots["t_s"].iloc[0], slots["t_s"].iloc[-1]
        return float((slots["t_s"].iloc[reached[0]] if len(reached) else end) + slot_s - begin)

    return measure


def _acks_per_retransmission(slots: pd.DataFrame) -> float:
    sent = slots["retransmissions"].sum()
    return float(slots["duplicate_acks"].sum() / sent) if sent else math.nan


#: Quantities of slots.
OF_SLOTS: dict[str, Quantity] = {
    **{name: _of_runs(*columns) for name, columns in _RUN_QUANTITIES.items()},
    **{name: _of_slots(column) for name, column in _MEANS.items()},
    # Share of the capacity that was used.
    "utilisation": _by(_share_of_capacity),
    "goodput_variation": _by(_deviation),
    "empty_queue": _by(lambda slots: float((slots["queue_packets"] == 0).mean())),
    # Minimum and maximum over the slots.
    "queue_min": _by(lambda slots: float(slots["queue_packets"].min())),
    "queue_max": _by(lambda slots: float(slots["queue_packets"].max())),
    "rtt_max": _by(lambda slots: float(slots["rtt_mean_ms"].max())),
    "ramp_90": _by(_reached(0.9)),
    "duplicate_acks_each": _by(_acks_per_retransmission),
}
