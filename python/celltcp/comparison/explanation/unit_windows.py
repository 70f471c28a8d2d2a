"""Windows and pacing rates of slow units of work, against those of the whole flow."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pandas as pd

from celltcp.comparison.explanation.unused import PROBE_RTT_SEGMENTS, probe_fills_path

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Maximum window of a slow unit, as a share of the flow's median, at which it is a reason.
_MAX_WINDOW_SHARE = 0.7
#: Maximum data in flight, as a share of the window, at which the pacing rate holds data back.
_MAX_PACED_FLIGHT = 0.5

#: Reasons of slow units.
IN_PROBE_RTT, LOW_PACING, SMALL_WINDOW = (
    "met BBR's PROBE_RTT or its backlog",
    "had a low pacing rate after losses",
    "had a small window after losses",
)


class UnitWindows:
    """Windows of a flow while it sends, by time."""

    def __init__(self, evidence: Evidence) -> None:
        """Takes the evidence of a flow with one connection at a time."""
        self._evidence = evidence

    @functools.cached_property
    def _sending(self) -> pd.DataFrame:
        """Slots in which data was in flight."""
        slots = self._evidence.slots
        return slots[slots["inflight"] > 0]

    @functools.cached_property
    def _median_window(self) -> float:
        return float(self._sending["cwnd"].median())

    def probe_rtt_cost_s(self, run: int, start_s: float, end_s: float) -> float:
        """Returns the time that PROBE_RTT took from a part of a run without losses, s; 0 for none.

        It is that in which BBR had the window of PROBE_RTT, and a round trip to fill the path again.
        """
        evidence = self._evidence
        if not evidence.own_cca.startswith("bbr") or probe_fills_path(evidence):
            return 0.0
        count = int((self._slots(run, start_s, end_s)["cwnd"] <= PROBE_RTT_SEGMENTS).sum())
        return count * evidence.slot_s + evidence.mean("rtt_mean_ms") / 1e3 if count else 0.0

    def _slots(self, run: int, start_s: float, end_s: float) -> pd.DataFrame:
        """Returns the slots of a part of a run in which data was in flight."""
        slots = self._sending[self._sending["run"] == run]
        return slots[(slots["t_s"] < end_s) & (slots["t_s"] + self._evidence.slot_s > start_s)]

    def reason(self, run: int, start_s: float, end_s: float, excess_s: float) -> str | None:
        """Returns why a unit of a run was slow, one of the reasons above; None for another reason.

        `excess_s` is its time beyond that of slow units, s.
        """
        evidence, slots = self._evidence, self._slots(run, start_s, end_s)
        window = float(slots["cwnd"].mean())
        if excess_s < self.probe_rtt_cost_s(run, start_s, end_s):
            return IN_PROBE_RTT
        recoveries = evidence.recoveries
        if not ((recoveries["run"] == run) & (recoveries["t_s"] < end_s)).any():
            # Without an earlier loss, a small window is the initial one.
            return None
        if evidence.time_share("pacing") > evidence.time_share("congestion_window", "startup"):
            is_paced = float(slots["inflight"].mean()) < _MAX_PACED_FLIGHT * window
            return LOW_PACING if is_paced else None
        return SMALL_WINDOW if window < _MAX_WINDOW_SHARE * self._median_window else None
