"""Backlogs of outages: the time that outages add to frames, also to those made after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from celltcp.comparison.explanation.causes.path import intervals_overlap_outages
from celltcp.comparison.explanation.evidence.frame_load import sent_mbps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.evidence.outages import Outage

#: Minimum part of the excess of a frame over the shortest one that is its reason.
_MIN_PART = 0.5
#: Minimum time that outages add to a frame that they delay, deadlines, and minimum share of the others
#: that are slow where the queue of another flow is the reason.
_MIN_TOUCHED, _MIN_SLOW_APART = 0.1, 0.75
#: Rate that a link has in an outage, so that times of what passes are unique, Mbit/s.
_LEAST_MBPS = 1e-9


class _Due(NamedTuple):
    """Units that are slow by outages, and the time that these add to each, s."""

    is_due: pd.Series
    added_s: pd.Series


class OutageBacklogs:
    """Time that the outages of a flow add to its frames: their length, and the drain after them.

    What the application makes enters a queue that the capacity left by other flows serves, once as it
    was and once as it would be without the outages.
    """

    def __init__(self, evidence: Evidence, units: pd.DataFrame, is_behind: pd.Series) -> None:
        """Takes the units of a flow, and whether each of them arrived after an earlier one."""
        self._evidence, self._units, self._is_behind = evidence, units, is_behind
        self._gaps = [*evidence.outages, *evidence.ack_outages]
        #: Rate at which the application makes frames, Mbit/s; None for other units.
        self._made_mbps = sent_mbps(evidence)
        self._has_rivals = not all(map(evidence.is_thin_flow, evidence.competing_mbps))
        ends_s = units["end_s"].fillna(np.inf)
        #: Whether each unit overlaps an outage.
        self.have_met = pd.Series(
            intervals_overlap_outages(units, units["start_s"], ends_s, self._gaps), units.index
        )

    def late_by_outages(self, min_slow_s: float) -> pd.Series:
        """Returns for each unit whether outages are the largest part of what makes it slow.

        Without them it would have come in time, or in half of its excess. Where no other flow fills the
        queue, that is also so for units behind those of an outage that the link alone would carry in
        time: after losses, windows grow again. Where another flow's queue makes most of the frames slow
        that no outage delays on the link, outages add only what they would there without that flow.
        Units other than frames met an outage, or wait for one.

        Args:
            min_slow_s: duration above which units are slow, s.
        """
        is_left = self.have_met | self._are_behind_met
        if self._made_mbps is None or not self._gaps:
            return is_left
        if self._has_rivals:
            of_link = self._are_due(min_slow_s, self._link_slots)
            is_slow = ~(self._units["duration_s"] <= min_slow_s)
            if is_slow[of_link.added_s < _MIN_TOUCHED * min_slow_s].mean() >= _MIN_SLOW_APART:
                return of_link.is_due & is_left
        return self._are_due(min_slow_s, self._evidence.slots).is_due & is_left

    def _are_due(self, min_slow_s: float, slots: pd.DataFrame) -> _Due:
        """Returns the units that are slow by outages, at the capacities of some slots."""
        is_due = pd.Series(data=False, index=self._units.index)
        added = pd.Series(0.0, self._units.index)
        end_s = float(self._evidence.slots["t_s"].max()) + self._evidence.slot_s
        for run in self._units["run"].unique():
            units = self._units[self._units["run"] == run]
            of_run = slots[slots["run"] == run].sort_values("t_s")
            with_s, without_s = self._delays_s(run, of_run, units["start_s"].to_numpy(float))
            durations_s = units["end_s"].fillna(end_s) - units["start_s"]
            excess_s = durations_s - float(durations_s.min())
            added_s = np.maximum(with_s - without_s, self._met_s(run, units, end_s))
            of_units = added_s >= np.minimum(durations_s - min_slow_s, _MIN_PART * excess_s)
            if not self._has_rivals:
                of_units |= durations_s.min() + without_s <= min_slow_s
            is_due[units.index], added[units.index] = of_units, added_s
        return _Due(is_due, added)

    @property
    def _link_slots(self) -> pd.DataFrame:
        """Slots with the capacity of the whole link: what other flows left, and what they took."""
        evidence = self._evidence
        slots = evidence.slots.set_index(["run", "t_s"])[["capacity_mbps"]]
        for name in evidence.competing_mbps:
            rows = evidence.comparison.slots_of(name)
            taken = rows[rows["cca"] == evidence.cca].set_index(["run", "t_s"])["goodput_mbps"]
            slots["capacity_mbps"] += taken.reindex(slots.index).fillna(0.0)
        return slots.reset_index()

    @property
    def _are_behind_met(self) -> pd.Series:
        """Whether each unit waits behind an earlier one that met an outage, or waits for it as well."""
        marked = self._units.assign(has_met=self.have_met, is_behind=self._is_behind)
        ordered = marked.sort_values(["run", "connection", "start_s"], kind="stable")
        result = pd.Series(data=False, index=self._units.index)
        for _, rows in ordered.groupby(["run", "connection"]):
            is_left = False
            for index, met, is_behind in rows[["has_met", "is_behind"]].itertuples(name=None):
                is_left = met or (is_left and is_behind)
                result[index] = is_left
        return result

    def _until_data_s(self, gap: Outage) -> float:
        """Returns the end of an outage, or the time at which data arrive again after it, s."""
        return gap.end_s + float(np.nan_to_num(self._evidence.wait_after(gap)))

    def _met_s(self, run: int, units: pd.DataFrame, run_end_s: float) -> NDArray[np.float64]:
        """Returns the time of units of a run in outages and until data arrive after them, s."""
        total_s = np.zeros(len(units))
        ends_s = units["end_s"].fillna(run_end_s)
        for gap in self._gaps:
            if gap.run == run:
                overlap_s = np.minimum(ends_s, self._until_data_s(gap)) - units["start_s"].clip(
                    gap.start_s
                )
                total_s += overlap_s.clip(lower=0.0).to_numpy()
        return total_s

    def _delays_s(
        self, run: int, slots: pd.DataFrame, starts_s: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the delays of frames of a run from some times on, with and without outages, s."""
        evidence, made_mbps = self._evidence, self._made_mbps or 0.0
        times_s, slot_s = slots["t_s"].to_numpy(float), evidence.slot_s
        is_out = np.zeros(len(times_s))
        for gap in self._gaps:
            if gap.run == run:
                end_s = self._until_data_s(gap)
                overlap_s = np.minimum(times_s + slot_s, end_s) - np.maximum(times_s, gap.start_s)
                is_out = np.maximum(is_out, overlap_s.clip(0.0, slot_s) / slot_s)
        rates = slots["capacity_mbps"].to_numpy(float)
        is_whole = (is_out == 0.0) & np.isfinite(rates)
        if not is_whole.any():
            return np.zeros(len(starts_s)), np.zeros(len(starts_s))
        whole = np.interp(times_s, times_s[is_whole], rates[is_whole]).clip(_LEAST_MBPS)
        ways = (whole * (1.0 - is_out)).clip(_LEAST_MBPS), whole
        delays = [_waits_s(times_s, slot_s, each, made_mbps, starts_s) for each in ways]
        return delays[0], delays[1]


def _waits_s(
    times_s: NDArray[np.float64],
    slot_s: float,
    rates_mbps: NDArray[np.float64],
    made_mbps: float,
    starts_s: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Returns how long data that enter a queue at some times wait in it, s.

    Args:
        times_s: starts of slots, s.
        slot_s: their length, s.
        rates_mbps: rate of the link in each of them.
        made_mbps: rate at which data enter the queue.
        starts_s: the times.
    """
    edges_s = np.append(times_s, times_s[-1] + slot_s)
    served = np.concatenate(([0.0], np.cumsum(rates_mbps * np.diff(edges_s))))
    # The queue is what came since the last time at which it was empty (Lindley).
    net = made_mbps * (edges_s - edges_s[0]) - served
    queued = np.interp(starts_s, edges_s, net - np.minimum.accumulate(net))
    passed = np.interp(starts_s, edges_s, served) + queued
    waits_s = np.interp(passed, served, edges_s) - starts_s
    # Beyond the end of the run, at the mean rate.
    rest = (passed - served[-1]).clip(0.0) / float(rates_mbps.mean())
    delays_s: NDArray[np.float64] = np.maximum(waits_s + rest, 0.0)
    return delays_s
