"""Time of a congestion window below the bandwidth-delay product, by the losses before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.evidence.window_growth import window_growth_of
from celltcp.results.steady_state import random_loss_rate
from celltcp.scenarios.quantity_texts import time_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum share of the time of a window below the BDP for a text.
_MIN_SHARE = 0.1
#: Reasons of recoveries in the order in which they count, with their words.
_REASONS = {"timeouts": "time-outs", "random": "random losses", "overflow": "overflows"}


def below_bdp_text(evidence: Evidence) -> str:
    """Returns a sentence on the time in which a window grows back to the BDP after losses.

    It is for one bulk connection of Reno or CUBIC, of which RFC 5681 and RFC 9438 give the time from a
    loss at the BDP until the window is back. Where losses are independent, the law has all of it.
    """
    growth = window_growth_of(evidence.own_cca)
    is_single = len(evidence.connections) == len(evidence.runs)
    is_by_law = random_loss_rate(evidence.scenario, is_upload=evidence.is_upload) > 0
    if growth is None or not evidence.is_bulk or not is_single or is_by_law or evidence.has_middleboxes:
        return ""
    rows = evidence.recoveries[evidence.recoveries["drops"] > 0].sort_values("t_s")
    bdp = evidence.bdp / evidence.mss
    slots = evidence.slots[evidence.slots["cwnd"] < bdp]
    counts = dict.fromkeys(_REASONS, 0)
    for run in evidence.runs:
        of_run = rows[rows["run"] == run]
        latest = np.searchsorted(of_run["t_s"], slots.loc[slots["run"] == run, "t_s"], "right") - 1
        before = of_run.iloc[latest[latest >= 0]]
        for reason in _REASONS:
            is_of = before[reason] > 0
            counts[reason] += int(is_of.sum())
            before = before[~is_of]
    shares = {reason: count / len(evidence.slots) for reason, count in counts.items() if count}
    if sum(shares.values()) < _MIN_SHARE:
        return ""
    parts = [
        f"{percent_text(share)} after {_REASONS[reason]}"
        for reason, share in sorted(shares.items(), key=lambda each: -each[1])
        if share >= _MIN_SHARE / 10
    ]
    trough = growth.beta * bdp
    back_s = growth.growth_s(trough, bdp, bdp, evidence.min_rtt_s)
    interval_s = len(evidence.slots) * evidence.slot_s / len(rows)
    return (
        f" Its window was below the {bdp:.0f} segments of the bandwidth-delay product for "
        f"{percent_text(sum(shares.values()))} of the time: {', '.join(parts)}. A loss at {bdp:.0f} "
        f"leaves {trough:.0f}, which grow back in {time_text(back_s)}; one came every "
        f"{time_text(interval_s)}."
    )
