"""Split losses: points where a split makes a transfer slower, and the reason."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.quantities import QUANTITIES
from celltcp.publications.quantities.splits import without_middlebox

#: Minimum loss of a listed point, %.
MIN_LOSS_PERCENT = 5.0

#: Minimum ratio of the frequency of a cause with the split to that without.
_MIN_CAUSE_RATIO = 1.1


@dataclass(frozen=True)
class SplitLoss:
    """Row of a condition where a split loses, with the reason."""

    row: Row
    reason: str


def split_gains(outcome: Outcome) -> list[Row]:
    """Returns the rows of an outcome that are gains of a split."""
    return [row for row in outcome.rows if row.published.quantity == "split_gain"]


def split_losses(outcome: Outcome) -> list[SplitLoss]:
    """Returns the points where a split loses more than `MIN_LOSS_PERCENT`, the worst one first."""
    lost = [row for row in split_gains(outcome) if row.ours.mean < -MIN_LOSS_PERCENT]
    return [SplitLoss(row, _reason(row)) for row in sorted(lost, key=lambda row: row.ours.mean)]


def _reason(row: Row) -> str:
    """Returns the difference from the runs without split: time-outs, retransmissions, or windows."""
    unsplit_cca = without_middlebox(row.published.cca)
    for split, unsplit, text in (
        ("phone_leg_timeouts", "timeouts", "time-outs on the leg to the phone"),
        ("phone_leg_repairs", "server_repairs", "segments sent again on the leg to the phone"),
        ("server_reductions", "server_reductions", "reductions of the server's window"),
    ):
        with_split, without = _mean(row, split, row.published.cca), _mean(row, unsplit, unsplit_cca)
        if with_split > _MIN_CAUSE_RATIO * without:
            return f"{text}: {with_split:.1f} a run; without split {without:.1f}"
    with_split = _mean(row, "phone_leg_window", row.published.cca)
    without = _mean(row, "cwnd", unsplit_cca)
    return (
        f"mean window on the leg to the phone: {with_split:.0f} segments; without split {without:.0f}"
    )


def _mean(row: Row, quantity: str, cca: str) -> float:
    entry = replace(row.published, quantity=quantity, cca=cca)
    values = QUANTITIES[quantity].values(row.source, entry)
    return math.fsum(values) / len(values)
