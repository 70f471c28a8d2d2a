"""Reasons of slow units of work: what each of them waited for."""

from __future__ import annotations

import collections
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from celltcp.comparison.applications.frame_kinds import other_kinds
from celltcp.comparison.applications.units_of_work import other_frames
from celltcp.comparison.explanation.causes.bandwidth_estimates import LOW_ESTIMATE, LowEstimates
from celltcp.comparison.explanation.causes.far_losses import DATA, HANDSHAKE
from celltcp.comparison.explanation.causes.outage_backlogs import OutageBacklogs
from celltcp.comparison.explanation.causes.sleep import units_after_sleep
from celltcp.comparison.explanation.evidence.evidence import MIN_QUEUED_RTTS
from celltcp.comparison.explanation.evidence.frame_sizes import oversized_frames
from celltcp.comparison.explanation.evidence.unit_windows import (
    IN_PROBE_RTT,
    LOW_PACING,
    MIN_FULL_SHARE,
    MIN_WINDOW_SHARE,
    SMALL_WINDOW,
    UnitWindows,
    window_share,
)
from celltcp.scenarios.requests import request_and_response

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.evidence.outages import Outage

#: Minimum share of the time of a unit behind earlier ones for which a recovery is its reason. Also the
#: minimum share of units that open a connection at which opening is the usual case.
MAJORITY = 0.5
#: Time before a unit in which PROBE_RTT may have left a backlog, s.
_BACKLOG_S = 1.0

#: Reasons of slow units.
REASONS = (
    DROPPED,
    OUTAGE,
    TOO_LARGE,
    GIVEN_UP,
    TIME_OUT,
    PROBE,
    RECOVERY,
    BEHIND_LOST,
    REQUEST_LOST,
    NAGLE,
    BEHIND,
    ASLEEP,
    SLOW_LINK,
    IN_QUEUE,
    HANDSHAKE_LOST,
    PEER_TIME_OUT,
    OPENS_CONNECTION,
    MORE_TRIPS,
    AT_FULL_WINDOW,
    *_,
) = (
    "were dropped by the sender",
    "met an outage",
    "were too large for it",
    "were sent after TCP had given their connection up",
    "waited for a time-out",
    "waited for a loss probe",
    "waited for a fast recovery",
    "stood behind a lost one in it",
    "lost their request",
    "waited for ACKs (Nagle's algorithm)",
    "waited behind earlier ones",
    "waited for the phone to wake up (DRX)",
    "met a slow link",
    "waited in a queue",
    "lost a packet of their handshake",
    "waited for a time-out of the other end",
    "opened their connection",
    "were larger than the window, and took further round trips",
    "waited for ACKs at a full congestion window",
    IN_PROBE_RTT,
    LOW_ESTIMATE,
    LOW_PACING,
    SMALL_WINDOW,
)
#: Kinds of units of several segments whose time is that of their bytes on the link, too.
_KINDS_ON_LINK = ("response", "page_load")
#: Minimum share of what a unit takes over the shortest one by which a slower link explains it.
_MIN_LINK_SHARE = 0.5


def reasons_of(
    evidence: Evidence, units: pd.DataFrame, slow: pd.DataFrame, min_slow_s: float
) -> dict[Hashable, str]:
    """Returns the reasons of slow units by their index, without those that have none.

    Args:
        evidence: evidence of the flow.
        units: all units of the kind.
        slow: slow units of the kind.
        min_slow_s: duration above which they are slow, s.
    """
    # The objects of a page come over several connections.
    outages = (*evidence.outages, *evidence.ack_outages)
    keys = ["run"] if (slow["unit"] == "page_load").any() else ["run", "flow"]
    rows = evidence.recoveries
    by_connection = {
        key: _Recoveries.of(group) for key, group in (rows.groupby(keys) if len(rows) else ())
    }
    all_units = _with_other_frames(evidence, units)
    is_behind = _wait_behind_earlier(all_units)
    is_of_outage = backlogs_of(evidence, units).late_by_outages(min_slow_s)
    reasons: dict[Hashable, str] = {}
    is_first, slept = _are_first(units), units_after_sleep(evidence)
    peer_timeouts = _peer_timeouts(evidence, keys)
    far_losses = {kind: _drop_times(evidence, kind, keys) for kind in (DATA, HANDSHAKE)}
    rtts_ms, link_times = _SlotRtts(evidence), LinkTimes(evidence, units)
    idle_share, in_flight_share = map(evidence.time_share, ("idle", "in_flight"))
    is_sent_at_once = in_flight_share >= MAJORITY * (1.0 - idle_share)
    too_large = oversized_frames(evidence, units)
    met_low = LowEstimates(evidence, units).are_met_by(slow)
    shortest_s = float((units["end_s"] - units["start_s"]).min())
    # A page has several connections, each with a window of its own.
    windows = UnitWindows(evidence, len(all_units)) if len(keys) > 1 else None
    takes_further_trips, is_one_way = window_share(evidence) >= MIN_WINDOW_SHARE, _go_one_way(evidence)
    # Responses of one size are all larger than the window, or none is.
    is_response = evidence.workload.get("kind") == "request-response"
    varies = is_response and request_and_response(evidence.workload) is None
    # A unit that never ends overlaps all events after its start.
    columns = slow[["run", "connection", "start_s", "end_s"]].fillna({"end_s": np.inf})
    for index, run, connection, start_s, end_s in columns.itertuples(name=None):
        key = (run, connection)[: len(keys)]
        if len(keys) > 1 and start_s >= evidence.aborts_s.get((run, connection), np.inf):
            reasons[index] = GIVEN_UP
            continue
        if index in too_large:
            reasons[index] = TOO_LARGE
            continue
        if met_low[index]:
            reasons[index] = LOW_ESTIMATE
            continue
        recoveries = by_connection.get(key)
        gaps = outages if is_of_outage[index] else ()
        reason, overlap_s = _overlap(gaps, recoveries, run, start_s, end_s)
        # The repair of a loss takes only a small part of the time for which a backlog waits.
        is_mostly_behind = overlap_s < MAJORITY * (end_s - start_s)
        if is_behind[index] and (reason is None or is_mostly_behind):
            reason = BEHIND
            since_s = start_s - _BACKLOG_S
            has_losses = _overlap(outages, recoveries, run, since_s, end_s).reason
            # A unit that is later than PROBE_RTT made it would be late without it.
            if windows and not has_losses:
                cost_s = windows.probe_rtt_cost_s(key, since_s, end_s)
                reason = IN_PROBE_RTT if end_s - start_s - min_slow_s < cost_s else BEHIND
        is_after_drop = start_s > recoveries.first_drop_s(start_s, end_s) if recoveries else False
        if reason == RECOVERY and is_behind[index] and is_after_drop:
            reason = BEHIND_LOST
        if reason is None and _has_drop(far_losses[DATA].get(key), start_s, end_s):
            reason = REQUEST_LOST
        # Earlier units are in the queue, too, if the sender held none of them back.
        is_queued = rtts_ms.explain(run, start_s, end_s, shortest_s)
        if reason == BEHIND and is_sent_at_once and is_queued:
            reason = IN_QUEUE
        if evidence.is_held_by_nagle and reason in (None, BEHIND) and not is_first[index]:
            reason = NAGLE
        if reason is None and index in slept:
            reason = ASLEEP
        if reason is None and _has_drop(far_losses[HANDSHAKE].get(key), start_s, end_s):
            reason = HANDSHAKE_LOST
        if reason is None and is_queued:
            reason = IN_QUEUE
        is_short = reason in (None, IN_QUEUE, TIME_OUT, PROBE, RECOVERY)
        if is_short and link_times.explain(run, start_s, end_s, shortest_s):
            reason = SLOW_LINK
        if reason is None and is_first[index]:
            reason = OPENS_CONNECTION
        if reason is None and peer_timeouts[key] > 0:
            reason = PEER_TIME_OUT
            peer_timeouts[key] -= 1
        if reason is None and windows is not None:
            reason = windows.reason(key, start_s, end_s, end_s - start_s - min_slow_s)
        full_share = windows.full_share(key, start_s, end_s) if windows else 0.0
        if reason is None and varies and (full_share or takes_further_trips):
            reason = MORE_TRIPS
        if reason is None and is_one_way and full_share >= MIN_FULL_SHARE:
            reason = AT_FULL_WINDOW
        # What is sent at once arrives as late as the packets of these slots.
        if reason is None and is_one_way and rtts_ms.are_long(run, start_s, end_s):
            reason = IN_QUEUE
        if reason is not None:
            reasons[index] = reason
    return reasons


def backlogs_of(evidence: Evidence, units: pd.DataFrame) -> OutageBacklogs:
    """Returns what the outages of a flow add to its units."""
    return OutageBacklogs(evidence, units, _wait_behind_earlier(units))


def _go_one_way(evidence: Evidence) -> bool:
    """Returns whether units are frames, which wait for no queue on the way of their ACKs."""
    return evidence.workload.get("kind") == "frames"


class _SlotMeans:
    """Means over the slots of parts of runs."""

    def __init__(self, slots: pd.DataFrame, column: str, slot_s: float) -> None:
        """Takes slots with a column whose means are wanted, and their length, s."""
        self._by_run = {
            run: (group["t_s"].to_numpy(float), group[column].to_numpy(float))
            for run, group in slots.groupby("run")
        }
        self._slot_s = slot_s

    def mean(self, run: int, start_s: float, end_s: float) -> float:
        """Returns the mean over the slots of a part of a run; NaN without any."""
        if run not in self._by_run:
            return math.nan
        times_s, values = self._by_run[run]
        overlapping = values[(times_s < end_s) & (times_s + self._slot_s > start_s)]
        return float(overlapping.mean()) if len(overlapping) else math.nan


class _SlotRtts:
    """RTTs of the packets of each slot, by their one-way delays: no sample may fall into a unit.

    Samples count where other data may delay requests; elsewhere they have the delays of ACKs.
    """

    def __init__(self, evidence: Evidence) -> None:
        # The last data of a unit arrive in it, but their ACK, with the sample of the RTT, comes later.
        min_ack_delay_ms = evidence.min_rtt_ms - evidence.mean("owd_min_ms")
        slots = evidence.slots
        rtts_ms = slots["owd_mean_ms"] + min_ack_delay_ms
        waits_both_ways = evidence.has_data_on_ack_path and not _go_one_way(evidence)
        if waits_both_ways or evidence.scenario.get("radio"):
            rtts_ms = slots["rtt_mean_ms"].fillna(rtts_ms)
        rows = slots[["run", "t_s"]].assign(rtt_ms=rtts_ms).dropna()
        self._rtts_ms = _SlotMeans(rows, "rtt_ms", evidence.slot_s)
        self._min_rtt_ms = evidence.min_rtt_ms + evidence.rtt_jitter_ms

    def explain(self, run: int, start_s: float, end_s: float, shortest_s: float) -> bool:
        """Returns whether waits in a queue explain most of what a unit took over the shortest one, s.

        Each of its round trips waits once. A unit that never ends may have waited for its whole time.
        """
        if not self.are_long(run, start_s, end_s):
            return False
        rtt_ms = self._rtts_ms.mean(run, start_s, end_s)
        round_trips = max(1e3 * shortest_s / self._min_rtt_ms, 1.0)
        waited_s = round_trips * (rtt_ms - self._min_rtt_ms) / 1e3
        return np.isinf(end_s) or waited_s >= MAJORITY * (end_s - start_s - shortest_s)

    def are_long(self, run: int, start_s: float, end_s: float) -> bool:
        """Returns whether packets waited in a queue in a part of a run."""
        return self._rtts_ms.mean(run, start_s, end_s) >= MIN_QUEUED_RTTS * self._min_rtt_ms


def _drop_times(
    evidence: Evidence, kind: str, keys: list[str]
) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """Returns the times of the drops of one kind in the table `far_losses` by `keys`, s."""
    rows = evidence.far_losses
    rows = rows[rows["kind"] == kind]
    times: collections.defaultdict[tuple[int, ...], list[float]] = collections.defaultdict(list)
    for *key, t_s in rows[[*keys, "t_s"]].itertuples(index=False, name=None):
        times[tuple(map(int, key))].append(float(t_s))
    return {key: np.array(values) for key, values in times.items()}


def _has_drop(times_s: NDArray[np.float64] | None, start_s: float, end_s: float) -> bool:
    """Returns whether a packet was dropped in an interval."""
    return times_s is not None and bool(((times_s >= start_s) & (times_s <= end_s)).any())


class _Overlap(NamedTuple):
    """Outages or loss recoveries that overlap a slow unit."""

    #: `OUTAGE`, `TIME_OUT`, `PROBE` or `RECOVERY`; None if nothing overlaps.
    reason: str | None
    #: Time of the unit in recoveries, s; infinite for an outage.
    overlap_s: float


class _Recoveries(NamedTuple):
    """Loss recoveries of a connection."""

    #: Start at the first drop, and end, s.
    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    has_timeouts: NDArray[np.bool_]
    has_probes: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: pd.DataFrame) -> _Recoveries:
        """Returns the recoveries in rows of the table `recoveries`."""
        return cls(
            rows["earliest_s"].to_numpy(float),
            rows["latest_s"].to_numpy(float),
            (rows["timeouts"] > 0).to_numpy(bool),
            (rows["loss_probes"] > 0).to_numpy(bool),
        )

    def overlaps(self, start_s: float, end_s: float) -> NDArray[np.bool_]:
        """Returns for each recovery whether it overlaps an interval."""
        return (self.starts <= end_s) & (self.ends >= start_s)

    def first_drop_s(self, start_s: float, end_s: float) -> float:
        """Returns the time of the first drop of those that overlap an interval, s; or infinity."""
        return float(self.starts[self.overlaps(start_s, end_s)].min(initial=np.inf))


def _overlap(
    outages: Iterable[Outage], recoveries: _Recoveries | None, run: int, start_s: float, end_s: float
) -> _Overlap:
    """Returns the outages or loss recoveries that overlap the time of a unit."""
    if any(gap.overlaps(run, start_s, end_s) for gap in outages):
        # The outage is the reason even if the unit waits for the time-out after it.
        return _Overlap(OUTAGE, np.inf)
    if recoveries is None:
        return _Overlap(None, 0.0)
    is_overlapping = recoveries.overlaps(start_s, end_s)
    if not is_overlapping.any():
        return _Overlap(None, 0.0)
    starts, ends = recoveries.starts[is_overlapping], recoveries.ends[is_overlapping]
    overlap_s = float((np.minimum(ends, end_s) - np.maximum(starts, start_s)).sum())
    if recoveries.has_timeouts[is_overlapping].any():
        return _Overlap(TIME_OUT, overlap_s)
    has_probes = recoveries.has_probes[is_overlapping].any()
    return _Overlap(PROBE if has_probes else RECOVERY, overlap_s)


def _with_other_frames(evidence: Evidence, units: pd.DataFrame) -> pd.DataFrame:
    """Returns units with the frames of other kinds that share their connections."""
    if not other_kinds(evidence.workload):
        return units
    others = other_frames(evidence.comparison.results, evidence.flow_name)
    others = others[others["cca"] == evidence.cca]
    return pd.concat([units, others.set_axis(-1 - np.arange(len(others)))])


def _wait_behind_earlier(units: pd.DataFrame) -> pd.Series:
    """Returns for each unit whether an earlier one of its connection arrived after its earliest end."""
    ordered = units.sort_values(["run", "connection", "start_s"], kind="stable")
    connections = [ordered["run"], ordered["connection"]]
    by_connection = ordered["end_s"].fillna(np.inf).groupby(connections)
    latest_end_s = by_connection.transform(lambda ends: ends.shift().cummax())
    shortest_s = (ordered["end_s"] - ordered["start_s"]).groupby(connections).transform("min")
    return latest_end_s > ordered["start_s"] + shortest_s.fillna(0.0)


def _are_first(units: pd.DataFrame) -> pd.Series:
    """Returns for each unit whether it is the first of its connection; False if most units are."""
    starts = units.groupby(["run", "connection"])["start_s"].transform("min")
    is_first = units["start_s"] == starts
    return is_first & (is_first.mean() < MAJORITY)


def _peer_timeouts(evidence: Evidence, keys: list[str]) -> collections.Counter[tuple[int, ...]]:
    """Returns the number of time-outs of the peer by `keys`; no table has their times."""
    counts: collections.Counter[tuple[int, ...]] = collections.Counter()
    if "far_timeouts" in evidence.connections:
        rows = evidence.connections[[*keys, "far_timeouts"]].fillna(0)
        for *key, count in rows.itertuples(index=False, name=None):
            counts[tuple(key)] += int(count)
    return counts


class LinkTimes:
    """Times that the link needs for the units of a flow, which has it to itself."""

    def __init__(self, evidence: Evidence, units: pd.DataFrame) -> None:
        """Takes the evidence of a flow, and its units of one kind."""
        is_kind = bool(units["unit"].isin(_KINDS_ON_LINK).all())
        is_alone = all(map(evidence.is_thin_flow, evidence.competing_mbps))
        self._bits = 8 * evidence.total("bytes") / max(len(units), 1)
        slots = evidence.slots[["run", "t_s", "capacity_mbps"]].dropna()
        # Each of several connections has what others leave.
        slots = slots.groupby(["run", "t_s"])[["capacity_mbps"]].max().reset_index()
        slots = slots if is_kind and is_alone else slots[:0]
        self._capacity_mbps = _SlotMeans(slots, "capacity_mbps", evidence.slot_s)
        ended = units.dropna(subset=["end_s"])
        columns = ended[["run", "start_s", "end_s"]].itertuples(index=False, name=None)
        all_needed_s = (self._needed_s(*row) for row in columns)
        self._shortest_s = min(
            (each for each in all_needed_s if not math.isnan(each)), default=math.inf
        )

    def explain(self, run: int, start_s: float, end_s: float, shortest_s: float) -> bool:
        """Returns whether a slower link explains most of what a unit took over the shortest one, s."""
        needed_s = self._needed_s(run, start_s, end_s) - self._shortest_s
        return needed_s >= _MIN_LINK_SHARE * (end_s - start_s - shortest_s)

    def _needed_s(self, run: int, start_s: float, end_s: float) -> float:
        """Returns the time for a unit at the mean rate of a part of a run, s; NaN if it is unknown."""
        mean_mbps = self._capacity_mbps.mean(run, start_s, end_s)
        return self._bits / (1e6 * mean_mbps) if mean_mbps > 0 else math.nan
