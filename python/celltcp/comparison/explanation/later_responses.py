"""Slowest responses after the first of each connection, whose time has that of its handshake.

A lost handshake takes a second, so that it would hide what a remedy gains for lost answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.results.columns import rows_of

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.comparison import Comparison

#: Metric of the slowest response.
LONGEST_RESPONSE = "response_max_s"
_UNIT = "response"


def later_maxima(comparison: Comparison, flow: str, cca: str) -> list[float] | None:
    """Returns the time of the slowest later response of each run, in the order of the seeds, s.

    None where a run has no later response.
    """
    units = _responses(comparison, flow, cca)
    starts = units.groupby(["run", "connection"])["start_s"].transform("min")
    by_seed = units[units["start_s"] > starts].groupby("seed")["lasted_s"].max()
    is_whole = 0 < len(by_seed) == units["seed"].nunique()
    return [float(value) for value in by_seed.sort_index()] if is_whole else None


def _responses(comparison: Comparison, flow: str, cca: str) -> pd.DataFrame:
    """Returns the responses of a flow, with `lasted_s`, also of those that its run cut off."""
    units = comparison.units
    units = units[(units["flow"] == flow) & (units["cca"] == cca) & (units["unit"] == _UNIT)]
    ends_s = units["run"].map(dict(rows_of(comparison.results.tables["runs"], "run", "duration_s")))
    return units.assign(lasted_s=units["duration_s"].fillna(ends_s - units["start_s"]))
