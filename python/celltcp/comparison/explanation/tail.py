"""Rule about the slowest units of work: the reasons of their delay."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.application_metrics import nearest_rank
from celltcp.comparison.explanation.cause import Cause, grouped, percent
from celltcp.comparison.units_of_work import UNITS
from celltcp.present.quantities import size_text

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Kinds of units that the rule `slow_units` checks. Other kinds take long because of their size.
_UNIT_KINDS = ("response", "frame_delay", "page_load")
#: Minimum duration of a slow unit, medians of the durations.
_MIN_SLOW_MEDIANS = 1.5
#: Minimum share of the duration of a queued unit that a recovery has to take to be its reason, and
#: share of first units from which on opening the connection is the usual case.
_MAJORITY = 0.5
#: Minimum duration of a page at which round trips are a cause: in lowest RTTs, and in times that the
#: link needs for its bytes.
_MIN_ROUND_TRIPS, _MIN_TRANSFER_TIMES = 5, 2
#: Minimum mean RTT, in lowest RTTs, at which packets waited in a queue.
MIN_QUEUED_RTTS = 1.5


def slow_units(evidence: Evidence) -> Cause | None:
    """Some units of work were slow: their duration was over {_MIN_SLOW_MEDIANS} times the median.

    Frames with a deadline are slow if they came after it. Some slow units overlap an outage, time-out,
    loss probe or fast recovery. Others waited behind earlier units for most of their time, or in a
    queue, where the mean RTT is at least {MIN_QUEUED_RTTS} times the lowest one. Further ones opened
    their connection, or the peer had time-outs.
    """
    if evidence.units is None:
        return None
    for name in _UNIT_KINDS:
        units = evidence.units[evidence.units["unit"] == name]
        # A frame that never arrives has an infinite duration, as in the percentiles of the tables.
        units = units.assign(duration_s=units["duration_s"].fillna(np.inf))
        median = median_of_runs(units)
        min_slow_s = _MIN_SLOW_MEDIANS * median
        bound_text = f"took over {_MIN_SLOW_MEDIANS} times the median of {median:.3f} s"
        deadline, dropped = evidence.deadline_s, 0
        if deadline is not None and (units["duration_s"] > deadline).any():
            min_slow_s, bound_text = deadline, f"came after their deadline of {1e3 * deadline:g} ms"
            dropped = evidence.dropped_frames
        slow = units[units["duration_s"] > min_slow_s]
        reasons = _reasons(evidence, units, slow)
        if not any(reasons.values()):
            continue
        other_count = len(slow) - sum(reasons.values())
        parts = [
            f"{grouped(count)} {reason}{_queue_owners_text(evidence) if reason == IN_QUEUE else ''}"
            for reason, count in reasons.items()
            if count
        ]
        if dropped:
            parts.insert(0, f"{grouped(dropped)} were dropped by the sender")
        if other_count:
            parts.append(f"{grouped(other_count)} had other reasons")
        slow_count, count = len(slow) + dropped, len(units) + dropped
        runs_text = f" in {len(evidence.runs)} runs" if len(evidence.runs) > 1 else ""
        waiting = max(evidence.frames_due - count, 0) if name == "frame_delay" else 0
        more = f"; {grouped(waiting)} more had not arrived at the end" if waiting else ""
        ended = slow[np.isfinite(slow["duration_s"])]
        longest = f", up to {ended['duration_s'].max():.2f} s" if len(ended) else ""
        excess = float((ended["duration_s"] - min(median, min_slow_s)).sum())
        total_s = units["duration_s"][np.isfinite(units["duration_s"])].sum()
        return Cause(
            "slow_units",
            f"{grouped(slow_count)} of {grouped(count)} {UNITS[name].noun}{runs_text} "
            f"({percent(slow_count / count)}) {bound_text}{' or never' if dropped else ''}"
            f"{longest}: {', '.join(parts)}{more}.",
            min(excess / float(total_s), 1.0) if total_s > 0 else 0.0,
            {reason: count for reason, count in reasons.items() if count},
        )
    return None


def round_trips(evidence: Evidence) -> Cause | None:
    """The objects of pages wait for each other, while the link is idle.

    The median page takes at least {_MIN_ROUND_TRIPS} round trips, and at least {_MIN_TRANSFER_TIMES}
    times as long as the link needs for its bytes. No queue makes the RTT long: the mean RTT is below
    {MIN_QUEUED_RTTS} times the lowest one.
    """
    units = evidence.units
    if units is None or evidence.workload.get("kind") != "page" or not evidence.capacity_mbps > 0:
        return None
    pages = units[units["unit"] == "page_load"]
    least_ms, median = evidence.mean("rtt_min_ms"), median_of_runs(pages.dropna(subset=["duration_s"]))
    rounds = 1e3 * median / least_ms if median and least_ms > 0 else 0.0
    size = evidence.total("bytes") / max(len(pages), 1)
    needed_s = size / (evidence.capacity_mbps * 1e6 / 8)
    is_queued = evidence.mean("rtt_mean_ms") >= MIN_QUEUED_RTTS * least_ms
    if rounds < _MIN_ROUND_TRIPS or median < _MIN_TRANSFER_TIMES * needed_s or is_queued:
        return None
    return Cause(
        "round_trips",
        f"A page takes {rounds:.0f} round trips of {least_ms:.0f} ms ({median:.2f} s in the median), "
        f"while the {size_text(size)} of it would pass the link in {needed_s:.2f} s: its objects wait "
        "for requests, responses and each other.",
        1.0 - needed_s / median,
    )


def _queue_owners_text(evidence: Evidence) -> str:
    """Returns the flows that fill the queues of the units as text; empty if there are none.

    A request goes in the opposite direction, and may wait in a queue there.
    """
    texts = []
    for rates, link_text in (
        (evidence.competing_mbps, ""),
        (evidence.reverse_mbps, evidence.ack_link_text),
    ):
        if flows := {name: rate for name, rate in rates.items() if not evidence.is_thin_flow(name)}:
            texts.append(f"{max(flows, key=flows.__getitem__)}{link_text}")
    return f" (that of {' and of '.join(texts)})" if texts else ""


def median_of_runs(units: pd.DataFrame) -> float:
    """Returns the mean over the runs of the median duration of units, as in the tables, s."""
    medians = [
        nearest_rank(durations.tolist(), 50) for _, durations in units.groupby("run")["duration_s"]
    ]
    return float(np.mean(medians)) if medians else 0.0


#: Reasons of slow units.
OUTAGE, TIME_OUT, PROBE, RECOVERY, BEHIND, IN_QUEUE, PEER_TIME_OUT, OPENS_CONNECTION = _REASONS = (
    "met an outage",
    "waited for a time-out",
    "waited for a loss probe",
    "waited for a fast recovery",
    "waited behind earlier ones",
    "waited in a queue",
    "waited for a time-out of the other end",
    "opened their connection",
)


def _reasons(evidence: Evidence, units: pd.DataFrame, slow: pd.DataFrame) -> dict[str, int]:
    """Returns the number of slow units by reason.

    Args:
        evidence: evidence of the flow.
        units: all units of the kind.
        slow: slow units of the kind.
    """
    # The objects of a page come over several connections.
    keys = ["run"] if (slow["unit"] == "page_load").any() else ["run", "flow"]
    by_connection = dict(tuple(evidence.recoveries.groupby(keys))) if len(evidence.recoveries) else {}
    is_behind = _wait_behind_earlier(units)
    queued_ms = MIN_QUEUED_RTTS * evidence.mean("rtt_min_ms")
    counts = dict.fromkeys(_REASONS, 0)
    is_first = _are_first(units)
    peer_timeouts = _peer_timeouts(evidence, keys)
    # A unit that never ends overlaps all events after its start.
    columns = slow[["run", "connection", "start_s", "end_s"]].fillna({"end_s": np.inf})
    for index, run, connection, start, end in columns.itertuples(name=None):
        key = (run, connection)[: len(keys)]
        reason, overlap_s = _reason(evidence, by_connection.get(key), run, start, end)
        # The repair of a loss takes only a small part of the time for which a backlog waits.
        if is_behind[index] and (reason is None or overlap_s < _MAJORITY * (end - start) < np.inf):
            reason = BEHIND
        if reason is None and evidence.mean_rtt_ms(run, start, end) >= queued_ms:
            reason = IN_QUEUE
        if reason is None and is_first[index]:
            reason = OPENS_CONNECTION
        if reason is None and peer_timeouts[key] > 0:
            reason = PEER_TIME_OUT
            peer_timeouts[key] -= 1
        if reason is not None:
            counts[reason] += 1
    return counts


class _ReasonOfUnit(NamedTuple):
    """Reason of a slow unit."""

    #: `OUTAGE`, `TIME_OUT`, `PROBE` or `RECOVERY`; None without an outage and a recovery.
    reason: str | None
    #: Time for which it overlaps the unit, s.
    overlap_s: float


def _reason(
    evidence: Evidence, recoveries: pd.DataFrame | None, run: int, start: float, end: float
) -> _ReasonOfUnit:
    """Returns the outage or loss recovery that overlaps the time of a unit."""
    if any(gap.overlaps(run, start, end) for gap in (*evidence.outages, *evidence.ack_outages)):
        # The outage is the reason even if the unit waits for the time-out after it.
        return _ReasonOfUnit(OUTAGE, np.inf)
    if recoveries is None:
        return _ReasonOfUnit(None, 0.0)
    starts = recoveries[["dropped_s", "t_s"]].min(axis=1).to_numpy()
    ends = recoveries["end_s"].fillna(np.inf).to_numpy()
    is_overlapping = (starts <= end) & (ends >= start)
    overlapping = recoveries[is_overlapping]
    if not len(overlapping):
        return _ReasonOfUnit(None, 0.0)
    overlap_s = float((np.minimum(ends, end) - np.maximum(starts, start))[is_overlapping].sum())
    if (overlapping["timeouts"] > 0).any():
        return _ReasonOfUnit(TIME_OUT, overlap_s)
    has_probes = (overlapping["loss_probes"] > 0).any()
    return _ReasonOfUnit(PROBE if has_probes else RECOVERY, overlap_s)


def _wait_behind_earlier(units: pd.DataFrame) -> pd.Series:
    """Returns for each unit whether it began before the end of an earlier one of its connection."""
    ordered = units.sort_values(["run", "connection", "start_s"], kind="stable")
    ends = ordered["end_s"].fillna(np.inf).groupby([ordered["run"], ordered["connection"]])
    return ends.transform(lambda earlier: earlier.shift().cummax()) > ordered["start_s"]


def _are_first(units: pd.DataFrame) -> pd.Series:
    """Returns for each unit whether it is the first of its connection; False if most units are."""
    starts = units.groupby(["run", "connection"])["start_s"].transform("min")
    is_first = units["start_s"] == starts
    return is_first & (is_first.mean() < _MAJORITY)


def _peer_timeouts(evidence: Evidence, keys: list[str]) -> collections.Counter[tuple[int, ...]]:
    """Returns the number of time-outs of the peer by `keys`; no table has their times."""
    counts: collections.Counter[tuple[int, ...]] = collections.Counter()
    if "far_timeouts" in evidence.flows:
        rows = evidence.flows[[*keys, "far_timeouts"]].fillna(0)
        for *key, count in rows.itertuples(index=False, name=None):
            counts[tuple(key)] += int(count)
    return counts
