"""Mean cost of CCA switches."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from celltcp.results.statistics import Estimate, estimate


@dataclass(frozen=True)
class SwitchCost:
    """Mean cost of CCA switches."""

    #: Number of all switches.
    changes: int
    #: Number of switches whose retransmissions in the second after are known.
    measured: int
    #: Number of those that are not measured, by the reason.
    unmeasured: dict[str, int]
    #: Number of switches that are compared with a run that keeps its congestion control.
    replayed: int
    #: Share of packets sent again in the second after a switch that was measured.
    lost: Estimate
    #: The same share in the runs without the switch, for replayed ones, and the difference,
    #: switch by switch.
    lost_staying: Estimate
    extra: Estimate
    #: Measured ones less than a second after the start of the connection: there is no goodput before.
    early: int
    #: Switches after which the capacity was no lower than before, and what the goodput then did, in %
    #: of the mean before.
    capacity_held: int
    goodput_change: Estimate


def switch_cost(costs: pd.DataFrame) -> SwitchCost:
    """Returns the means over switches, from rows of `celltcp.selection.switch_cost.costs_of`."""
    known = costs[costs["unmeasured"] == ""]
    same = known[known["replayed"].astype(bool)]
    # NaN, where there is no second before, is neither.
    held = known[known["capacity_after_mbps"] >= known["capacity_before_mbps"]]
    # Single ratios have no mean where next to nothing came through before.
    before = held["goodput_before_mbps"]
    change = 100 * (held["goodput_after_mbps"] - before) / before.mean()
    reasons = costs.loc[costs["unmeasured"] != "", "unmeasured"].value_counts()
    return SwitchCost(
        len(costs),
        len(known),
        {str(reason): int(count) for reason, count in reasons.items()},
        len(same),
        estimate(known["lost"].tolist()),
        estimate(same["lost_staying"].tolist()),
        estimate((same["lost"] - same["lost_staying"]).tolist()),
        int(known["goodput_before_mbps"].isna().sum()),
        len(held),
        estimate(change.tolist()),
    )
