"""Low bandwidth estimates of BBR: data wait, but it sends far less than the link carries."""

from __future__ import annotations

import collections
import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Maximum goodput as a share of the capacity, and maximum window as a share of the largest one before,
#: of a low estimate: the window is a multiple of the estimate.
_MAX_RATE_SHARE, _MAX_WINDOW_SHARE = 0.25, 0.25
#: Minimum length, RTTs, and minimum RTT in it, s: PROBE_RTT takes 200 ms and a round trip.
_MIN_RTTS, _MIN_RTT_S = 4, 1.0
#: Maximum pause between two parts of one, RTTs.
_MAX_PAUSE_RTTS = 2
#: Minimum share of the time of a unit in low estimates that are its reason.
_MIN_UNIT_SHARE = 0.5
#: Maximum number that a text names.
_MAX_NAMED = 3
#: Reason of slow units.
LOW_ESTIMATE = "waited while BBR's estimate of the bandwidth was far too low, or for its backlog"


class LowEstimate(NamedTuple):
    """Time in which the bandwidth estimate of BBR was far below the capacity."""

    run: int
    start_s: float
    end_s: float
    #: Means meanwhile, Mbit/s.
    goodput_mbps: float
    capacity_mbps: float
    #: End of the backlog that it leaves, s.
    drained_s: float

    def share_of(self, run: int, start_s: float, end_s: float) -> float:
        """Returns the share of an interval that is within it or its backlog."""
        overlap_s = min(end_s, self.drained_s) - max(start_s, self.start_s)
        return max(overlap_s, 0.0) / (end_s - start_s) if run == self.run and end_s > start_s else 0.0


class LowEstimates:
    """Low bandwidth estimates of a flow of units of work over a single connection; none of others."""

    def __init__(self, evidence: Evidence, units: pd.DataFrame) -> None:
        """Takes the evidence of a flow, and its units of work."""
        self._evidence, self._units = evidence, units

    @functools.cached_property
    def all(self) -> list[LowEstimate]:
        """All of them, by run and time."""
        evidence = self._evidence
        if not evidence.is_bbr or evidence.connections["run"].duplicated().any():
            return []
        return [each for run in evidence.runs for each in self._of_run(run)]

    def are_met_by(self, units: pd.DataFrame) -> pd.Series:
        """Returns for each unit whether most of its time is in one, or in its backlog."""
        # Those that did not end waited until the end.
        last_s = float(self._evidence.slots["t_s"].max()) + self._evidence.slot_s
        rows = units[["run", "start_s", "end_s"]].fillna({"end_s": last_s})
        columns = rows.itertuples(index=False, name=None)
        shares = [max((low.share_of(*each) for low in self.all), default=0.0) for each in columns]
        return units["start_s"].notna() & (np.array(shares, float) >= _MIN_UNIT_SHARE)

    def _of_run(self, run: int) -> Iterator[LowEstimate]:
        evidence = self._evidence
        slots = evidence.slots[evidence.slots["run"] == run].sort_values("t_s")
        rtt_s = max(evidence.mean("rtt_mean_ms") / 1e3, _MIN_RTT_S)
        count = round(rtt_s / evidence.slot_s)
        rates = (
            slots[["goodput_mbps", "capacity_mbps"]].rolling(count, center=True, min_periods=1).mean()
        )
        times_s = slots["t_s"].to_numpy(float)
        is_small = slots["cwnd"] <= _MAX_WINDOW_SHARE * slots["cwnd"].cummax()
        # What waits for a time-out sends nothing.
        is_slow = rates["goodput_mbps"] <= _MAX_RATE_SHARE * rates["capacity_mbps"]
        is_slow &= rates["goodput_mbps"] > 0
        are_waiting = self._have_waiting_data(run, times_s)
        is_low = (is_small & is_slow).to_numpy(bool) & are_waiting
        for gap in (*evidence.outages, *evidence.ack_outages):
            if gap.run == run:
                end_s = gap.end_s + np.nan_to_num(evidence.wait_after(gap)) + rtt_s
                is_low &= ~((times_s + evidence.slot_s > gap.start_s) & (times_s < end_s))
        low_s = times_s[is_low]
        pauses = np.flatnonzero(np.diff(low_s) > _MAX_PAUSE_RTTS * rtt_s) + 1
        for part in np.split(low_s, pauses):
            if len(part) * evidence.slot_s >= _MIN_RTTS * rtt_s:
                end_s = float(part[-1]) + evidence.slot_s
                own = slots[slots["t_s"].isin(part)]
                goodput, capacity = (
                    float(own[name].mean()) for name in ("goodput_mbps", "capacity_mbps")
                )
                drained_s = times_s[(times_s >= end_s) & ~are_waiting].min(initial=times_s[-1])
                yield LowEstimate(run, float(part[0]), end_s, goodput, capacity, float(drained_s))

    def _have_waiting_data(self, run: int, times_s: np.ndarray) -> np.ndarray:
        """Returns for each slot whether a unit of a run is under way in it and was a slot before."""
        units = self._units[self._units["run"] == run]
        starts, ends = np.sort(units["start_s"]), np.sort(units["end_s"].fillna(np.inf))
        begun = np.searchsorted(starts, times_s - self._evidence.slot_s, "right")
        result: np.ndarray = begun > np.searchsorted(ends, times_s, "right")
        return result

    @property
    def text(self) -> str:
        """Sentences on those of the run with the longest time in them; empty without any."""
        evidence, seconds = self._evidence, collections.defaultdict[int, float](float)
        for each in self.all:
            seconds[each.run] += each.end_s - each.start_s
        if not self.all:
            return ""
        run = max(seconds, key=seconds.__getitem__)
        own = [each for each in self.all if each.run == run]
        longest = sorted(sorted(own, key=lambda each: each.start_s - each.end_s)[:_MAX_NAMED])
        parts = [
            f"from {each.start_s:.1f} to {each.end_s:.1f} s it sent {rate_text(each.goodput_mbps)} of "
            f"{rate_text(each.capacity_mbps)}"
            for each in longest
        ]
        seed = f" in the run of seed {evidence.seeds[run]}" if len(evidence.runs) > 1 else ""
        kept = "two of its cycles" if evidence.is_bbr3 else "10 round trips"
        return (
            f" BBR's estimate of the bandwidth fell far below what the link had for it{seed}: "
            f"{', '.join(parts)}, while data waited. It is the maximum of {kept}: where few segments, "
            "in pauses or after an outage, are all in these, it is their low rate, which its probes "
            "raise by a quarter at a time."
        )
