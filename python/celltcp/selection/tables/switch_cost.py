"""Text about the cost of CCA switches, for celltcp select evaluate --switch-cost."""

from __future__ import annotations

from celltcp._core import NATIVE
from celltcp.present.terminal import Terminal
from celltcp.results.statistics import Estimate
from celltcp.selection import Evaluation
from celltcp.selection.mean_switch_cost import SwitchCost


def print_switch_costs(evaluation: Evaluation, console: Terminal) -> None:
    """Prints the mean cost of switches by policy, and the number of unmeasured ones, if requested."""
    if evaluation.costs is None:
        return
    has_replays = evaluation.about["engine"] == NATIVE
    costs = evaluation.prices
    for policy in (*evaluation.about["policies"], *evaluation.about["against"]):
        if policy not in costs:
            console.print(f"{policy}: no changes")
            continue
        cost = costs[policy]
        parts = [f"{policy}: {cost.changes} changes"]
        if cost.measured:
            parts += _measured_texts(cost, has_replays)
        for reason, count in cost.unmeasured.items():
            parts.append(f"{count} of {cost.changes} not measured: {reason}")
        console.print("; ".join(parts))
    if not has_replays and costs:
        console.print(
            "Retransmissions without the change are measured by replays, which need --engine native."
        )


def _measured_texts(cost: SwitchCost, has_replays: bool) -> list[str]:
    """Returns texts about the measured switches."""
    texts = [f"retransmitted in the second after: {_percent_text(cost.lost)} %"]
    if has_replays and cost.replayed:
        texts[0] += (
            f", without the change {_percent_text(cost.lost_staying)} %, "
            f"difference {_percent_text(cost.extra)} percentage points ({cost.replayed} replayed)"
        )
    elif has_replays:
        texts[0] += " (no replay has the same past)"
    if cost.early < cost.measured:
        texts.append(
            f"goodput {cost.goodput_change.mean:+.1f} % where the capacity held "
            f"({cost.capacity_held} changes)"
            if cost.capacity_held
            else "the capacity never held"
        )
    if cost.early:
        texts.append(
            f"goodput of {cost.early} of {cost.changes} not measured: "
            "less than 1 s after the start of the connection"
        )
    return texts


def _percent_text(estimate: Estimate) -> str:
    half = "" if estimate.ci95 is None else f" ±{100 * estimate.ci95:.2f}"
    return f"{100 * estimate.mean:.2f}{half}"
