"""Windows and pacing rates of slow units of work, against those of the whole flow."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.causes.unused import PROBE_RTT_SEGMENTS, probe_fills_path
from celltcp.comparison.explanation.evidence.recoveries import of_connection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Maximum window of a slow unit, as a share of the flow's median, at which it is a reason.
_MAX_WINDOW_SHARE = 0.7
#: Maximum data in flight, as a share of the window, at which the pacing rate holds data back.
_MAX_PACED_FLIGHT = 0.5

#: Minimum share of the time without pauses in which the window limits units that are larger.
MIN_WINDOW_SHARE = 0.2
#: Minimum share of the time of units with a full window, and maximum goodput as a share of the capacity
#: meanwhile, at which the window holds them back.
MIN_FULL_SHARE, _MAX_USED_SHARE = 0.5, 0.5

#: Reasons of slow units.
IN_PROBE_RTT, LOW_PACING, SMALL_WINDOW = (
    "met BBR's PROBE_RTT or its backlog",
    "had a low pacing rate after losses",
    "had a small window after losses",
)


def window_share(evidence: Evidence) -> float:
    """Returns the share of the time without pauses in which the window limits a flow; 0 for BBR."""
    active_share = 1.0 - evidence.time_share("idle")
    if evidence.is_bbr or not active_share > 0:
        return 0.0
    return evidence.time_share("startup", "congestion_window") / active_share


def full_window_text(evidence: Evidence, units: pd.DataFrame) -> str:
    """Returns the window that held units back while the link had room, in parentheses; empty for none.

    `units` are those that waited behind earlier ones. Windows and data in flight are those of slots.
    """
    met = []
    for run, rows in units.groupby("run"):
        slots = evidence.slots[evidence.slots["run"] == run].sort_values("t_s")
        times_s = slots["t_s"].to_numpy(float)
        begun = np.searchsorted(np.sort(rows["start_s"]), times_s + evidence.slot_s)
        ended = np.searchsorted(np.sort(rows["end_s"]), times_s, "right")
        met.append(slots[begun > ended])
    slots = pd.concat(met) if met else evidence.slots[:0]
    is_full = slots["inflight"] >= slots["cwnd"] - 1
    goodput_mbps, capacity_mbps = slots[["goodput_mbps", "capacity_mbps"]].mean()
    if not is_full.mean() >= MIN_FULL_SHARE or not goodput_mbps <= _MAX_USED_SHARE * capacity_mbps:
        return ""
    window = number_text(slots["cwnd"].mean())
    return (
        f" (the congestion window was full with {window} segments on average "
        f"at {goodput_mbps:.2f} of the {capacity_mbps:.2f} Mbit/s that the link had for it)"
    )


class UnitWindows:
    """Windows of a flow while it sends, by time."""

    def __init__(self, evidence: Evidence, count: int) -> None:
        """Takes the evidence of a flow, and the number of its units."""
        self._evidence = evidence
        sent = evidence.total("segments") - evidence.total("retransmissions")
        self._unit_segments = round(sent / max(count, 1))

        keys = evidence.connections[["run", "flow"]]
        slots = evidence.comparison.slots.merge(keys, on=["run", "flow"])
        #: Slots by run and connection: time, window and data in flight at their end.
        self._by_connection = {
            key: group[["t_s", "cwnd", "inflight"]].to_numpy(float).T
            for key, group in slots.groupby(["run", "flow"])
        }
        slots = slots[slots["inflight"] > 0]
        self._median_window = float(slots["cwnd"].median())
        #: Window that the flow exceeds for a quarter of the time.
        self._large_window = float(slots["cwnd"].quantile(0.75))

    @functools.cached_property
    def _shows_probe_rtt(self) -> bool:
        """Whether a small window is that of PROBE_RTT."""
        return self._evidence.is_bbr and not probe_fills_path(self._evidence)

    def probe_rtt_cost_s(self, connection: tuple[int, ...], start_s: float, end_s: float) -> float:
        """Returns the time that PROBE_RTT took from a part of a run without losses, s; 0 for none.

        It is that in which BBR had the window of PROBE_RTT, and a round trip to fill the path again.
        """
        if not self._shows_probe_rtt:
            return 0.0
        evidence, (windows, _) = self._evidence, self._windows(connection, start_s, end_s)
        count = int((windows <= PROBE_RTT_SEGMENTS).sum())
        return count * evidence.slot_s + evidence.mean("rtt_mean_ms") / 1e3 if count else 0.0

    def _slots(self, connection: tuple[int, ...], start_s: float, end_s: float) -> NDArray[np.float64]:
        """Returns the windows and the data in flight of slots of a connection, segments."""
        times_s, *windows = self._by_connection.get(connection, np.empty((3, 0)))
        is_within = (times_s < end_s) & (times_s + self._evidence.slot_s > start_s)
        return np.array(windows)[:, is_within]

    def _windows(
        self, connection: tuple[int, ...], start_s: float, end_s: float
    ) -> NDArray[np.float64]:
        """Returns the same of the slots that end with data in flight."""
        rows = self._slots(connection, start_s, end_s)
        return rows[:, rows[1] > 0]

    def full_share(self, connection: tuple[int, ...], start_s: float, end_s: float) -> float:
        """Returns the share of the slots of a part of a connection at whose end its window was full."""
        windows, in_flight = self._windows(connection, start_s, end_s)
        return float((in_flight >= windows - 1).mean()) if len(windows) else 0.0

    def reason(
        self, connection: tuple[int, ...], start_s: float, end_s: float, excess_s: float
    ) -> str | None:
        """Returns why a unit of a run was slow, one of the reasons above; None for another reason.

        `excess_s` is its time beyond that of slow units, s.
        """
        evidence = self._evidence
        if excess_s < self.probe_rtt_cost_s(connection, start_s, end_s):
            return IN_PROBE_RTT
        if not (of_connection(evidence.recoveries, *connection)["t_s"] < end_s).any():
            # Without an earlier loss, a small window is the initial one.
            return None
        median = self._median_window
        windows, in_flight = self._windows(connection, start_s, end_s)
        if evidence.time_share("pacing") > evidence.time_share("congestion_window", "startup"):
            is_paced = len(windows) and in_flight.mean() < _MAX_PACED_FLIGHT * windows.mean()
            return LOW_PACING if is_paced else None
        # A unit for which large windows are enough waits for ACKs where it is not. Slots have the
        # window at their end, so that the one before the unit counts, too.
        earlier, _ = self._slots(connection, start_s - evidence.slot_s, end_s)
        is_cut = min(earlier[earlier > 0], default=np.inf) < self._unit_segments <= self._large_window
        is_low = len(windows) and windows.mean() < _MAX_WINDOW_SHARE * median
        return SMALL_WINDOW if is_cut or is_low else None
