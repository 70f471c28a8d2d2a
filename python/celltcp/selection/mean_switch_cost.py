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
    #: Number of unmeasured switches by reason.
    unmeasured: dict[str, int]
    #: Number of switches that are compared with a run without the switch.
    replayed: int
    #: Share of retransmitted packets in the second after a measured switch.
    lost: Estimate
    #: The same share in the runs without the switch, and the paired difference, over replayed switches.
    lost_staying: Estimate
    extra: Estimate
    #: Number of measured switches in the first second of a connection, which have no goodput before.
    early: int
    #: Number of switches after which the capacity was no lower than before, and their goodput change,
    #: in % of the mean before.
    capacity_held: int
    goodput_change: Estimate


def switch_cost(costs: pd.DataFrame) -> SwitchCost:
    """Returns the means over switches, from rows of `celltcp.selection.switch_cost.costs_of`."""
    known = costs[costs["unmeasured"] == ""]
    replayed = known[known["replayed"].astype(bool)]
    # Comparison with NaN excludes switches in the first second.
    capacity_held = known[known["capacity_after_mbps"] >= known["capacity_before_mbps"]]
    # Ratios of single switches have no mean, as goodput before may be near zero.
    before = capacity_held["goodput_before_mbps"]
    change = 100 * (capacity_held["goodput_after_mbps"] - before) / before.mean()
    reasons = costs.loc[costs["unmeasured"] != "", "unmeasured"].value_counts()
    return SwitchCost(
        len(costs),
        len(known),
        {str(reason): int(count) for reason, count in reasons.items()},
        len(replayed),
        estimate(known["lost"].tolist()),
        estimate(replayed["lost_staying"].tolist()),
        estimate((replayed["lost"] - replayed["lost_staying"]).tolist()),
        int(known["goodput_before_mbps"].isna().sum()),
        len(capacity_held),
        estimate(change.tolist()),
    )
