"""Share of the segments that a flow sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.cause import percent_text
from celltcp.results.columns import rows_of

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.tested import FlowUnderTest


def retransmitted_text(comparison: Comparison, flow: FlowUnderTest, cca: str) -> str:
    """Returns the share of retransmissions as a text after their number; empty without any."""
    share = retransmitted_share(comparison, flow, cca)
    return f" ({percent_text(share)})" if share else ""


def retransmitted_share(comparison: Comparison, flow: FlowUnderTest | None, cca: str) -> float:
    """Returns the retransmissions of a flow, or of all, as a share of the segments; 0 without any."""
    tables = comparison.results.tables
    runs = {run for run, name in rows_of(tables["runs"], "run", "cca") if name == cca}
    columns = rows_of(tables["flows"], "run", "name", "retransmissions", "segments")
    counts = [
        (retransmissions or 0, segments or 0)
        for run, name, retransmissions, segments in columns
        if run in runs and (flow is None or flow.includes(name))
    ]
    return sum(retransmitted for retransmitted, _ in counts) / max(sum(sent for _, sent in counts), 1)
