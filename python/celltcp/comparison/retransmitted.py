"""Share of the segments that a flow sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.tested import FlowUnderTest


def retransmitted_share(comparison: Comparison, flow: FlowUnderTest, cca: str) -> float:
    """Returns the retransmissions of a flow under a CCA as a share of its segments; 0 without any."""
    runs = comparison.runs.loc[comparison.runs["cca"] == cca, "run"]
    rows = comparison.flows[comparison.flows["run"].isin(runs)]
    rows = rows[flow.has(rows["name"])]
    return float(rows["retransmissions"].sum() / max(rows["segments"].sum(), 1))
