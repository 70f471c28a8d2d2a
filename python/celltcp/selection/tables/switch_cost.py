"""Table of the cost of CCA switches, for celltcp select evaluate --switch-cost."""

from __future__ import annotations

from celltcp._core import NATIVE
from celltcp.present.terminal import Terminal
from celltcp.results.statistics import Estimate
from celltcp.selection import Evaluation
from celltcp.selection.mean_switch_cost import SwitchCost


def print_prices(evaluation: Evaluation, console: Terminal) -> None:
    """Prints the cost of switches, and how many are not measured, if that was requested."""
    if evaluation.costs is None:
        return
    replays = evaluation.about["engine"] == NATIVE
    prices = evaluation.prices
    for policy in (*evaluation.about["policies"], *evaluation.about["against"]):
        if policy not in prices:
            console.print(f"{policy}: no changes")
            continue
        price = prices[policy]
        parts = [f"{policy}: {price.changes} changes"]
        if price.measured:
            parts += _measured(price, replays)
        for reason, count in price.unmeasured.items():
            parts.append(f"{count} of {price.changes} not measured: {reason}")
        console.print("; ".join(parts))
    if not replays and prices:
        console.print(
            "Retransmissions without the change are measured by replays, which need --engine native."
        )


def _measured(price: SwitchCost, replays: bool) -> list[str]:
    """Returns sentences on the switches that were measured."""
    parts = [f"retransmitted in the second after: {_share(price.lost)} %"]
    if replays and price.replayed:
        parts[0] += (
            f", without the change {_share(price.lost_staying)} %, "
            f"difference {_share(price.extra)} percentage points ({price.replayed} replayed)"
        )
    elif replays:
        parts[0] += " (no replay has the same past)"
    if price.early < price.measured:
        parts.append(
            f"goodput {price.goodput_change.mean:+.1f} % where the capacity held "
            f"({price.capacity_held} changes)"
            if price.capacity_held
            else "the capacity never held"
        )
    if price.early:
        parts.append(
            f"goodput of {price.early} of {price.changes} not measured: "
            "less than 1 s after the start of the connection"
        )
    return parts


def _share(estimate: Estimate) -> str:
    half = "" if estimate.ci95 is None else f" ±{100 * estimate.ci95:.2f}"
    return f"{100 * estimate.mean:.2f}{half}"
