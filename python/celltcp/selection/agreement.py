"""Agreement of a selector's estimates with the ground truth, slot by slot."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow.compute as pc

from celltcp.results.tables import Results
from celltcp.selection.ground_truth import GroundTruth

#: Window over which the true capacity is averaged, s, as estimators do.
_CAPACITY_WINDOW_S = 1.0

#: Minimum confidence of estimates that are compared with the truth.
CONFIDENT = 0.5


@dataclass(frozen=True)
class Agreement:
    """Agreement of the estimates of one quantity with the truth."""

    quantity: str
    #: Meaning of the true value.
    truth: str
    #: Number of compared slots; of capacity and queue, those with an estimate of sufficient confidence.
    slots: int
    #: All slots of the connection.
    total_slots: int
    #: Share of slots with the correct class; None for numbers.
    accuracy: float | None = None
    #: Medians of the relative error and of its absolute value; None for classes.
    bias: float | None = None
    error: float | None = None


def estimates_with_truth(results: Results, run: int, flow: int) -> pd.DataFrame:
    """Returns the slots of a connection with estimates and true values, each at the end of the slot.

    The estimated capacity is `capacity_mbps_estimated`. True values have the prefix `true_`: capacity
    (mean of the last second), base RTT (minimum RTT of the connection), movement and phase. Movement
    needs a mean SINR in the scenario, the phase a monotonic one.
    """
    slots = _rows_of(results, "slots", run, flow)
    estimates = _rows_of(results, "estimates", run, flow).drop(columns=["cca", "run", "flow"])
    flows = _rows_of(results, "flows", run, flow)
    joined = slots.merge(estimates, on="t_s", suffixes=("", "_estimated"), validate="one_to_one")
    slot_s = float(results.about["slot_s"])
    capacity = joined["capacity_mbps"].rolling(round(_CAPACITY_WINDOW_S / slot_s), min_periods=1)
    joined["true_capacity_mbps"] = capacity.mean()
    joined["true_base_rtt_ms"] = float(flows["rtt_min_ms"].iloc[0])
    truth = GroundTruth(results)
    ends_s = joined["t_s"] + slot_s
    for name, true in (
        ("movement", truth.movements(ends_s)),
        ("phase", truth.phases(ends_s, float(joined["t_s"].min()))),
    ):
        if true is not None:
            joined[f"true_{name}"] = true
    return joined


def agreements(slots: pd.DataFrame) -> list[Agreement]:
    """Returns the agreement of each quantity in the slots of `estimates_with_truth`."""
    capacity = slots[slots["capacity_confidence"] >= CONFIDENT]
    queue = slots[slots["queue_confidence"] >= CONFIDENT]
    total = len(slots)
    result = [
        _agreement_of_numbers(
            *("capacity", "mean of the last second", total),
            *(capacity["capacity_mbps_estimated"], capacity["true_capacity_mbps"]),
        ),
        _agreement_of_numbers(
            *("queue", "at the bottleneck, end of slot", total),
            *(queue["queue_segments"], queue["queue_packets"]),
        ),
        _agreement_of_numbers(
            *("base RTT", "lowest RTT of the connection", total),
            *(slots["base_rtt_ms"], slots["true_base_rtt_ms"]),
        ),
    ]
    for quantity, truth in (("movement", "of the mean SINR"), ("phase", "from the mean SINR")):
        if f"true_{quantity}" in slots:
            accuracy = (slots[quantity].astype(str) == slots[f"true_{quantity}"]).mean()
            result.append(Agreement(quantity, truth, total, total, accuracy=float(accuracy)))
    return result


def _agreement_of_numbers(
    quantity: str, truth: str, total_slots: int, estimates: pd.Series, true: pd.Series
) -> Agreement:
    has_both = (estimates > 0) & (true > 0)
    errors = estimates[has_both] / true[has_both] - 1
    if errors.empty:
        return Agreement(quantity, truth, 0, total_slots)
    bias, error = float(errors.median()), float(errors.abs().median())
    return Agreement(quantity, truth, len(errors), total_slots, bias=bias, error=error)


def _rows_of(results: Results, table: str, run: int, flow: int) -> pd.DataFrame:
    is_of_connection = (pc.field("run") == run) & (pc.field("flow") == flow)
    rows: pd.DataFrame = results.tables[table].filter(is_of_connection).to_pandas()
    return rows
