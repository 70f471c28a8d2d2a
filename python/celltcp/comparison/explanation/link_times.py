"""Link times: what a link needs for the bytes of a unit of work, at its rate in that time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Kinds of units of several segments whose time is that of their bytes on the link, too.
_KINDS = ("response", "page_load")
#: Minimum share of what a unit takes over the shortest one by which a slower link explains it.
_MIN_SHARE = 0.5


class LinkTimes:
    """Times that the link needs for the units of a flow, which has it to itself."""

    def __init__(self, evidence: Evidence, units: pd.DataFrame) -> None:
        """Takes the evidence of a flow, and its units of one kind."""
        is_kind = bool(units["unit"].isin(_KINDS).all())
        is_alone = all(map(evidence.is_thin_flow, evidence.competing_mbps))
        self._bits = 8 * evidence.total("bytes") / max(len(units), 1)
        slots = evidence.slots[["run", "t_s", "capacity_mbps"]].dropna()
        # Each of several connections has what others leave.
        slots = slots.groupby(["run", "t_s"])[["capacity_mbps"]].max().reset_index()
        self._by_run = {
            run: (group["t_s"].to_numpy(float), group["capacity_mbps"].to_numpy(float))
            for run, group in (slots.groupby("run") if is_kind and is_alone else ())
        }
        self._slot_s = evidence.slot_s
        ended = units.dropna(subset=["end_s"])
        columns = ended[["run", "start_s", "end_s"]].itertuples(index=False, name=None)
        all_needed_s = (self._needed_s(*row) for row in columns)
        self._shortest_s = min(
            (each for each in all_needed_s if not math.isnan(each)), default=math.inf
        )

    def explain(self, run: int, start_s: float, end_s: float, shortest_s: float) -> bool:
        """Returns whether a slower link explains most of what a unit took over the shortest one, s."""
        needed_s = self._needed_s(run, start_s, end_s) - self._shortest_s
        return needed_s >= _MIN_SHARE * (end_s - start_s - shortest_s)

    def _needed_s(self, run: int, start_s: float, end_s: float) -> float:
        """Returns the time for a unit at the mean rate of a part of a run, s; NaN if it is unknown."""
        if run not in self._by_run:
            return math.nan
        times_s, mbps = self._by_run[run]
        overlapping = mbps[(times_s < end_s) & (times_s + self._slot_s > start_s)]
        mean_mbps = float(overlapping.mean()) if len(overlapping) else 0.0
        return self._bits / (1e6 * mean_mbps) if mean_mbps > 0 else math.nan
