"""Agreement of the estimates of a run with the truth, slot by slot."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow.compute as pc

from celltcp.results.tables import Results
from celltcp.selection.ground_truth import GroundTruth

#: Window of the true capacity, s: that of the estimators.
_SMOOTHED_S = 1.0

#: Minimum confidence (even odds) of estimates that are compared with the truth.
CONFIDENT = 0.5


@dataclass(frozen=True)
class Agreement:
    """Agreement of the estimates of one quantity with the truth."""

    quantity: str
    #: Meaning of the true value.
    truth: str
    #: Number of slots in which both are known, and the confidence is high enough.
    slots: int
    #: All slots of the connection.
    total_slots: int
    #: Share of slots with the correct class; None for numbers.
    accuracy: float | None = None
    #: Medians of the relative error and of its absolute value; None for classes.
    bias: float | None = None
    error: float | None = None


def estimates_with_truth(results: Results, run: int, flow: int) -> pd.DataFrame:
    """Returns the slots of a connection, each with its estimates and the true values.

    Estimates and true values are those at the end of each slot. `true_capacity_mbps` is the
    mean of the last second. `true_movement` and `true_phase` are there for scenarios whose phone has
    its mean SINR written in them; the phase only if that never turns. The lowest RTT of the connection
    stands for the base RTT.
    """
    slots = _of(results, "slots", run, flow)
    estimates = _of(results, "estimates", run, flow).drop(columns=["cca", "run", "flow"])
    flows = _of(results, "flows", run, flow)
    both = slots.merge(estimates, on="t_s", suffixes=("", "_seen"), validate="one_to_one")
    slot_s = float(results.about["slot_s"])
    smoothed = both["capacity_mbps"].rolling(round(_SMOOTHED_S / slot_s), min_periods=1).mean()
    both["true_capacity_mbps"] = smoothed
    both["true_base_rtt_ms"] = float(flows["rtt_min_ms"].iloc[0])
    truth = GroundTruth(results)
    ends = both["t_s"] + slot_s
    for name, true in (
        ("movement", truth.movements(ends)),
        ("phase", truth.phases(ends, float(both["t_s"].min()))),
    ):
        if true is not None:
            both[f"true_{name}"] = true
    return both


def agreements(both: pd.DataFrame) -> list[Agreement]:
    """Returns the agreement of the estimates of a run, quantity by quantity."""
    capacity = both[both["capacity_confidence"] >= CONFIDENT]
    queue = both[both["queue_confidence"] >= CONFIDENT]
    lived = len(both)
    result = [
        _number(
            *("capacity", "mean of the last second", lived),
            *(capacity["capacity_mbps_seen"], capacity["true_capacity_mbps"]),
        ),
        _number(
            *("queue", "at the bottleneck, end of slot", lived),
            *(queue["queue_segments"], queue["queue_packets"]),
        ),
        _number(
            *("base RTT", "lowest RTT of the run", lived),
            *(both["base_rtt_ms"], both["true_base_rtt_ms"]),
        ),
    ]
    for quantity, truth in (("movement", "of the mean SINR"), ("phase", "from the mean SINR")):
        if f"true_{quantity}" in both:
            right = (both[quantity].astype(str) == both[f"true_{quantity}"]).mean()
            result.append(Agreement(quantity, truth, lived, lived, accuracy=float(right)))
    return result


def _number(quantity: str, truth: str, lived: int, estimates: pd.Series, true: pd.Series) -> Agreement:
    known = (estimates > 0) & (true > 0)
    error = estimates[known] / true[known] - 1
    if error.empty:
        return Agreement(quantity, truth, 0, lived)
    return Agreement(
        quantity,
        truth,
        len(error),
        lived,
        bias=float(error.median()),
        error=float(error.abs().median()),
    )


def _of(results: Results, table: str, run: int, flow: int) -> pd.DataFrame:
    """Returns the rows of a connection of a run."""
    mine = (pc.field("run") == run) & (pc.field("flow") == flow)
    data: pd.DataFrame = results.tables[table].filter(mine).to_pandas()
    return data
