"""Split losses: points where a split makes a transfer slower, and the reason in their runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.quantities import QUANTITIES
from celltcp.publications.quantities.splits import without_middlebox

#: Minimum loss of a listed point, %.
LOSS = 5.0

#: Factor by which a cause has to be more frequent than without the split.
_MORE = 1.1


@dataclass(frozen=True)
class SplitLoss:
    """A point where a split loses, with the reason."""

    row: Row
    reason: str


def split_gains(outcome: Outcome) -> list[Row]:
    """Returns the rows of an outcome that are gains of a split."""
    return [row for row in outcome.rows if row.published.quantity == "split_gain"]


def split_losses(outcome: Outcome) -> list[SplitLoss]:
    """Returns the points where a split loses more than `LOSS`, the worst one first."""
    lost = [row for row in split_gains(outcome) if row.ours.mean < -LOSS]
    return [SplitLoss(row, _reason(row)) for row in sorted(lost, key=lambda row: row.ours.mean)]


def _reason(row: Row) -> str:
    """Returns the difference of the runs: time-outs, retransmissions, or windows."""
    plain = without_middlebox(row.published.cca)
    for split, alone, words in (
        ("phone_leg_timeouts", "timeouts", "time-outs on the leg to the phone"),
        ("phone_leg_repairs", "server_repairs", "segments sent again on the leg to the phone"),
        ("server_reductions", "server_reductions", "reductions of the server's window"),
    ):
        with_split, without = _mean(row, split, row.published.cca), _mean(row, alone, plain)
        if with_split > _MORE * without:
            return f"{words}: {with_split:.1f} a run; without split {without:.1f}"
    with_split, without = _mean(row, "phone_leg_window", row.published.cca), _mean(row, "cwnd", plain)
    return (
        f"mean window on the leg to the phone: {with_split:.0f} segments; without split {without:.0f}"
    )


def _mean(row: Row, quantity: str, cca: str) -> float:
    figure = replace(row.published, quantity=quantity, cca=cca)
    values = QUANTITIES[quantity].values(row.source, figure)
    return math.fsum(values) / len(values)
