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
    #: Number of switches whose retransmissions in the second after them are known.
    measured: int
    #: Number of unmeasured switches by reason.
    unmeasured: dict[str, int]
    #: Number of measured switches with a replay, a run without the switch.
    replayed: int
    #: Retransmitted share of packets in the second after a measured switch.
    lost: Estimate
    #: The same share in replays.
    lost_staying: Estimate
    #: Paired difference of the shares with and without the switch.
    extra: Estimate
    #: Number of measured switches in the first second of a connection, which have no goodput before.
    early: int
    #: Number of measured switches after which the capacity was not lower than before.
    capacity_held: int
    #: Change of the goodput at those, in % of the mean before.
    goodput_change: Estimate


def mean_switch_cost(costs: pd.DataFrame) -> SwitchCost:
    """Returns the means over switches, from rows of `celltcp.selection.switch_cost.costs_of`."""
    measured = costs[costs["unmeasured"] == ""]
    replayed = measured[measured["replayed"].astype(bool)]
    # The comparison with NaN excludes switches in the first second.
    capacity_held = measured[measured["capacity_after_mbps"] >= measured["capacity_before_mbps"]]
    # A mean of ratios is not meaningful, because the goodput before may be near zero.
    before = capacity_held["goodput_before_mbps"]
    change = 100 * (capacity_held["goodput_after_mbps"] - before) / before.mean()
    reasons = costs.loc[costs["unmeasured"] != "", "unmeasured"].value_counts()
    return SwitchCost(
        len(costs),
        len(measured),
        {str(reason): int(count) for reason, count in reasons.items()},
        len(replayed),
        estimate(measured["lost"].tolist()),
        estimate(replayed["lost_staying"].tolist()),
        estimate((replayed["lost"] - replayed["lost_staying"]).tolist()),
        int(measured["goodput_before_mbps"].isna().sum()),
        len(capacity_held),
        estimate(change.tolist()),
    )
