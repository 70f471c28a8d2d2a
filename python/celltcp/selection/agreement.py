"""The estimates of one run beside what is true, slot by slot."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pyarrow.compute as pc

from celltcp.results import Results
from celltcp.selection.truth import Truth

#: The capacity is compared with that of the last second, over which estimators take theirs.
_SMOOTHED_S = 1.0


@dataclass(frozen=True)
class Agreement:
    """How far the estimates of one quantity are from what is true."""

    quantity: str
    #: What is true.
    truth: str
    #: Slots in which both are known.
    slots: int
    #: Share of slots in which a class was right; None for numbers.
    right: float | None = None
    #: Medians of the error and of its size, in parts of the true value; None for classes.
    bias: float | None = None
    error: float | None = None


def beside(results: Results, run: int, flow: int) -> pd.DataFrame:
    """Slots of a connection of a run, with the estimates and what is true beside them.

    Estimates are those of the end of each slot, and so is what is true. `true_capacity_mbps` is the
    mean of the last second. `true_movement` and `true_phase` are there for scenarios whose phone has
    its mean SINR written in them; the phase only if that never turns. The lowest RTT of the connection
    stands for the base RTT.
    """
    slots = _of(results, "slots", run, flow)
    seen = _of(results, "estimates", run, flow).drop(columns=["cca", "run", "flow"])
    flows = _of(results, "flows", run, flow)
    both = slots.merge(seen, on="t_s", suffixes=("", "_seen"), validate="one_to_one")
    slot_s = float(results.about["slot_s"])
    smoothed = both["capacity_mbps"].rolling(round(_SMOOTHED_S / slot_s), min_periods=1).mean()
    both["true_capacity_mbps"] = smoothed
    both["true_base_rtt_ms"] = float(flows["rtt_min_ms"].iloc[0])
    truth = Truth(results)
    ends = both["t_s"] + slot_s
    for name, true in (
        ("movement", truth.movements(ends)),
        ("phase", truth.phases(ends, float(both["t_s"].min()))),
    ):
        if true is not None:
            both[f"true_{name}"] = true
    return both


def agreements(both: pd.DataFrame) -> list[Agreement]:
    """How right the estimates of a run are, quantity by quantity."""
    found = [
        _number(
            both, "capacity", "capacity_mbps_seen", "true_capacity_mbps", "mean of the last second"
        ),
        _number(both, "queue", "queue_segments", "queue_packets", "at the bottleneck, end of slot"),
        _number(both, "base RTT", "base_rtt_ms", "true_base_rtt_ms", "lowest RTT of the run"),
    ]
    for quantity, truth in (("movement", "of the mean SINR"), ("phase", "from the mean SINR")):
        if f"true_{quantity}" in both:
            right = (both[quantity].astype(str) == both[f"true_{quantity}"]).mean()
            found.append(Agreement(quantity, truth, len(both), right=float(right)))
    return found


def _number(both: pd.DataFrame, quantity: str, seen: str, true: str, truth: str) -> Agreement:
    known = both[(both[seen] > 0) & (both[true] > 0)]
    error = known[seen] / known[true] - 1
    if error.empty:
        return Agreement(quantity, truth, 0)
    return Agreement(
        quantity,
        truth,
        len(known),
        bias=float(error.median()),
        error=float(error.abs().median()),
    )


def _of(results: Results, table: str, run: int, flow: int) -> pd.DataFrame:
    """The rows of a connection of a run."""
    mine = (pc.field("run") == run) & (pc.field("flow") == flow)
    data: pd.DataFrame = results.tables[table].filter(mine).to_pandas()
    return data
