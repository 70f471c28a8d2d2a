"""Warning about applications that make more data than the path carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.results.columns import numbers
from celltcp.results.openings import opening_outages_s
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.demand import SUSTAINED_VERBS, sustained_mbps
from celltcp.scenarios.frames import MAX_FRAME_SHARE, growth_text
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from celltcp.results.tables import Results


def overload(results: Results) -> list[str]:
    """Returns a warning if the only flow produces more than the path carries on average."""
    ((flow, workload), *other_flows) = FlowUnderTest.each_with_workload(results.about)
    made_mbps = sustained_mbps(workload)
    slots = results.tables.get("slots")
    if other_flows or made_mbps is None or slots is None or not len(slots):
        return []
    capacity_mbps = float(numbers(slots["capacity_mbps"]).mean())
    # Slots begin with the first data, so that they lack an outage before it.
    slots_s = len(slots) * float(results.about["slot_s"])
    capacity_mbps *= slots_s / (slots_s + sum(opening_outages_s(results).values()))
    if not 0 < capacity_mbps < made_mbps / MAX_FRAME_SHARE:
        return []
    effect = growth_text(workload, made_mbps, capacity_mbps) or "they wait, or are dropped"
    verb = SUSTAINED_VERBS[workload["kind"]][0]
    return [
        f"{flow.name} {verb} of {rate_text(made_mbps)}, and the path carries "
        f"{rate_text(capacity_mbps)}: {effect}, so that its figures are those of this duration only"
    ]
