"""Line-ups of the runs of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.results.columns import rows_of

if TYPE_CHECKING:
    from celltcp.results.tables import Results


def lineups_of(results: Results) -> dict[int, str]:
    """Returns the congestion control or line-up of several flows of each run."""
    return dict(rows_of(results.tables["runs"], "run", "cca"))
