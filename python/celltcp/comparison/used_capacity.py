"""Share of the capacity that a flow used, per run: its goodput over what other flows left it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.tested import FlowUnderTest


def used_capacity(comparison: Comparison, flow: FlowUnderTest) -> dict[str, list[float]]:
    """Returns by CCA the used share of the capacity, from 0 to 1, in the order of the seeds.

    It is NaN in runs whose capacity is unknown or 0.
    """
    slots = comparison.slots_of(flow.name)
    known = slots[slots["capacity_mbps"].notna()]
    sums = known.groupby("run", observed=True)[["goodput_mbps", "capacity_mbps"]].sum()
    shares = {
        run: min(goodput / capacity, 1.0)
        for run, goodput, capacity in sums.itertuples()
        if capacity > 0
    }
    return {
        cca: [shares.get(int(run), math.nan) for run in comparison.values(cca, "run")]
        for cca in comparison.ccas
    }
