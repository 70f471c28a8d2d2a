"""Utilisation of a link: the goodput of all flows on it as a share of its capacity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.shares import SERVER, bottleneck_links

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison


class LinkLoad(NamedTuple):
    """Goodput of all flows on the link of the flow under test in a run, and its capacity."""

    goodput_mbps: float
    capacity_mbps: float

    @property
    def utilisation(self) -> float:
        """Goodput as a share of the capacity, from 0 to 1; NaN in an outage of the whole run."""
        capacity = self.capacity_mbps
        return min(self.goodput_mbps / capacity, 1.0) if capacity > 0 else math.nan


def link_loads(comparison: Comparison) -> dict[str, list[LinkLoad]]:
    """Returns by CCA the means over the time in which the flow under test is active, in seed order.

    They are those of its direction. Runs whose capacity is unknown have NaN.
    """
    import pandas as pd

    own = comparison.tested_slots
    own = own[own["capacity_mbps"].notna()]
    flows = comparison.flows
    links = bottleneck_links(comparison.results.about, map(str, flows["name"].unique()))
    # -1 stands for the bottleneck of the path.
    link = flows["name"].map(lambda name: -1 if links[name] is None else links[name])
    place = pd.DataFrame({"link": link, "is_upload": flows["ue"] == SERVER})
    is_tested = comparison.tested.has(flows["name"])
    is_other = ~is_tested & (place == place[is_tested].head(1).squeeze()).all(axis="columns")
    others = comparison.slots.merge(flows.loc[is_other, ["run", "flow"]], on=["run", "flow"])
    others = others.merge(own[["run", "t_s"]], on=["run", "t_s"])
    own_means = own.groupby("run", observed=True)[["goodput_mbps", "capacity_mbps"]].mean()
    other_sums = others.groupby("run", observed=True)["goodput_mbps"].sum()
    slots = own.groupby("run", observed=True).size()
    loads = {}
    for run, goodput, left in own_means.itertuples():
        # The capacity of the slots is what the others left.
        other = float(other_sums.get(run, 0.0)) / int(slots[run])
        loads[int(run)] = LinkLoad(goodput + other, left + other)
    unknown = LinkLoad(math.nan, math.nan)
    return {
        cca: [loads.get(int(run), unknown) for run in comparison.values(cca, "run")]
        for cca in comparison.ccas
    }


def utilisation(comparison: Comparison) -> dict[str, list[float]]:
    """Returns by CCA the utilisation of the link of the flow under test, from 0 to 1, in seed order."""
    return {cca: [each.utilisation for each in runs] for cca, runs in link_loads(comparison).items()}
