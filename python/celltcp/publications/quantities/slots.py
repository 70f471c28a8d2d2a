"""Quantities of slots: goodput, delay, window, queue and losses of the flow under test over time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity

#: Columns of slots for quantities that are means over slots.
_SLOT_COLUMNS = {
    "owd": "owd_mean_ms",
    "retransmissions": "retransmissions",
    "cwnd": "cwnd",
    "inflight": "inflight",
    "queue": "queue_packets",
    "duplicate_acks": "duplicate_acks",
    "rtt_increment": "rtt_increment_mean_ms",
    "rtt_increment_max": "rtt_increment_max_ms",
}

#: Columns of runs and slots for quantities that runs have, too.
_RUN_COLUMNS = {
    "goodput": "goodput_mbps",
    "rtt": "rtt_mean_ms",
    "pm_balanced": "pm_balanced",
    "pm_delay": "pm_delay",
}

#: Averaging window of rates for `_ramp_s`, s.
_AVERAGING_S = 0.5


def _of_runs(column: str) -> Quantity:
    """Returns the quantity of a column: that of runs for a whole run, the mean of slots for a part."""

    def values(measured: Measured, entry: Published) -> list[float]:
        if not entry.part:
            return [float(value) for value in measured.runs_of(entry)[column]]
        return measured.per_run(entry, lambda slots: _mean(slots[column]))

    return Quantity(values, _slot_values(column), column=column)


def _of_slots(column: str) -> Quantity:
    return Quantity(
        lambda measured, entry: measured.per_run(entry, lambda slots: _mean(slots[column])),
        _slot_values(column),
        column=column,
    )


def _slot_values(column: str) -> Callable[[Measured, Published], list[float]]:
    return lambda measured, entry: measured.slots_of(entry)[column].dropna().tolist()


def _mean(values: pd.Series) -> float:
    return float(values.mean())


def _measure(measure: Callable[[pd.DataFrame], float]) -> Quantity:
    return Quantity(lambda measured, entry: measured.per_run(entry, measure))


def _share_of_capacity(slots: pd.DataFrame) -> float:
    capacity = slots["capacity_mbps"].sum()
    return float(slots["goodput_mbps"].sum() / capacity) if capacity else math.nan


def _deviation(slots: pd.DataFrame) -> float:
    """Returns the standard deviation of the goodput over slots, as a share of the mean."""
    mean = slots["goodput_mbps"].mean()
    return float(slots["goodput_mbps"].std() / mean) if mean else math.nan


def _ramp_s(slots: pd.DataFrame) -> float:
    """Returns the time until the goodput reaches 90 % of the capacity, or else that of all slots, s."""
    slot_s = float(slots["t_s"].diff().median())
    rolling = (
        slots[["goodput_mbps", "capacity_mbps"]].rolling(max(round(_AVERAGING_S / slot_s), 1)).mean()
    )
    shares = (rolling["goodput_mbps"] / rolling["capacity_mbps"]).to_numpy()
    reached = np.flatnonzero(shares >= 0.9)
    index = reached[0] if len(reached) else -1
    return float(slots["t_s"].iloc[index] + slot_s - slots["t_s"].iloc[0])


def _duplicate_acks_per_retransmission(slots: pd.DataFrame) -> float:
    retransmissions = slots["retransmissions"].sum()
    return float(slots["duplicate_acks"].sum() / retransmissions) if retransmissions else math.nan


#: Quantities of slots.
OF_SLOTS: dict[str, Quantity] = {
    **{name: _of_runs(column) for name, column in _RUN_COLUMNS.items()},
    **{name: _of_slots(column) for name, column in _SLOT_COLUMNS.items()},
    "utilisation": _measure(_share_of_capacity),
    "goodput_variation": _measure(_deviation),
    "empty_queue": _measure(lambda slots: float((slots["queue_packets"] == 0).mean())),
    "queue_min": _measure(lambda slots: float(slots["queue_packets"].min())),
    "queue_max": _measure(lambda slots: float(slots["queue_packets"].max())),
    "rtt_max": _measure(lambda slots: float(slots["rtt_mean_ms"].max())),
    "ramp_90": _measure(_ramp_s),
    "duplicate_acks_each": _measure(_duplicate_acks_per_retransmission),
}
