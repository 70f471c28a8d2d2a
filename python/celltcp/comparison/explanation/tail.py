"""Rule about the slowest units of work: the reasons of their delay."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.application_metrics import nearest_rank
from celltcp.comparison.explanation.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.sleep import units_after_sleep
from celltcp.comparison.explanation.unit_windows import (
    IN_PROBE_RTT,
    LOW_PACING,
    SMALL_WINDOW,
    UnitWindows,
)
from celltcp.comparison.units_of_work import UNITS
from celltcp.scenarios.frames import constant_frames
from celltcp.scenarios.quantity_texts import size_text, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Kinds of units that the rule `slow_units` checks. Other kinds may take long because of their size.
_UNIT_KINDS = ("response", "frame_delay", "page_load")
#: Minimum duration of a slow unit, medians of the durations.
_MIN_SLOW_MEDIANS = 1.5
#: Minimum share of the time of a unit behind earlier ones for which a recovery is its reason. Also the
#: minimum share of units that open a connection at which opening is the usual case.
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
    their connection, the peer had time-outs, or losses or PROBE_RTT left them a low window.
    """
    if evidence.units is None:
        return None
    for name in _UNIT_KINDS:
        units = evidence.units[evidence.units["unit"] == name]
        # A frame that never arrives has an infinite duration, as in the percentiles of the tables.
        units = units.assign(duration_s=units["duration_s"].fillna(np.inf))
        median_s = median_of_runs(units)
        min_slow_s = _MIN_SLOW_MEDIANS * median_s
        bound_text = f"took over {_MIN_SLOW_MEDIANS} times the median of {median_s:.3f} s"
        deadline_s, dropped_count = evidence.deadline_s, 0
        if deadline_s is not None and (units["duration_s"] > deadline_s).any():
            min_slow_s, bound_text = deadline_s, f"came after their deadline of {time_text(deadline_s)}"
            dropped_count = evidence.dropped_frames
        path_ms = evidence.mean("owd_min_ms")
        if deadline_s is not None and len(units) and 1e3 * deadline_s < path_ms:
            return Cause(
                "slow_units",
                f"All {number_text(len(units))} {UNITS[name].noun} came after their deadline of "
                f"{time_text(deadline_s)} or never: the path alone takes {path_ms:.0f} ms, so that no "
                "CCA and no setting keeps it.",
                1.0,
            )
        slow = units[units["duration_s"] > min_slow_s]
        reasons = _count_reasons(evidence, units, slow)
        if not reasons:
            continue
        other_count = len(slow) - reasons.total()
        parts = [
            f"{number_text(reasons[reason])} {reason}"
            f"{_queue_owners_text(evidence) if reason == IN_QUEUE else ''}"
            for reason in _REASONS
            if reason in reasons
        ]
        if dropped_count:
            parts.insert(0, f"{number_text(dropped_count)} were dropped by the sender")
        if other_count:
            parts.append(f"{number_text(other_count)} had other reasons")
        slow_count, count = len(slow) + dropped_count, len(units) + dropped_count
        runs_text = f" in {len(evidence.runs)} runs" if len(evidence.runs) > 1 else ""
        missing_count = max(evidence.frames_due - count, 0) if name == "frame_delay" else 0
        missing_text = ""
        if missing_count:
            missing_text = f"; {number_text(missing_count)} more had not arrived at the end"
        ended = slow[np.isfinite(slow["duration_s"])]
        longest_text = f", up to {ended['duration_s'].max():.2f} s" if len(ended) else ""
        excess_s = float((ended["duration_s"] - min(median_s, min_slow_s)).sum())
        total_s = units["duration_s"][np.isfinite(units["duration_s"])].sum()
        return Cause(
            "slow_units",
            f"{number_text(slow_count)} of {number_text(count)} {UNITS[name].noun}{runs_text} "
            f"({percent_text(slow_count / count)}) {bound_text}{' or never' if dropped_count else ''}"
            f"{longest_text}: {', '.join(parts)}{missing_text}.{_repair_text(evidence, reasons)}",
            min(excess_s / float(total_s), 1.0) if total_s > 0 else 0.0,
            {reason: reasons[reason] for reason in _REASONS if reason in reasons},
        )
    return None


def _repair_text(evidence: Evidence, reasons: Mapping[str, int]) -> str:
    """Returns a sentence on repairs of losses that take longer than a deadline; empty for shorter ones.

    The next frame has to arrive after the lost one, its ACK at the sender, and the retransmission at
    the receiver (RFC 8985).
    """
    frames = constant_frames(evidence.workload)
    is_usual = reasons.get(RECOVERY, 0) >= _MAJORITY * sum(reasons.values())
    if frames is None or evidence.deadline_s is None or not is_usual:
        return ""
    min_interval_s = frames[1] * (1.0 - float(evidence.workload.get("jitter", 0.0)))
    repair_s = min_interval_s + 1.5 * evidence.mean("rtt_min_ms") / 1e3
    if repair_s <= evidence.deadline_s:
        return ""
    return (
        f" Under every CCA a lost frame arrives after {1e3 * repair_s:.0f} ms or more: the next frame "
        "shows its loss, and its repair takes 1.5 RTTs. Only a shorter RTT keeps that deadline."
    )


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
    min_rtt_ms = evidence.mean("rtt_min_ms")
    median_s = median_of_runs(pages.dropna(subset=["duration_s"]))
    count = 1e3 * median_s / min_rtt_ms if median_s and min_rtt_ms > 0 else 0.0
    page_bytes = evidence.total("bytes") / max(len(pages), 1)
    transfer_s = page_bytes / (evidence.capacity_mbps * 1e6 / 8)
    is_queued = evidence.mean("rtt_mean_ms") >= MIN_QUEUED_RTTS * min_rtt_ms
    if count < _MIN_ROUND_TRIPS or median_s < _MIN_TRANSFER_TIMES * transfer_s or is_queued:
        return None
    return Cause(
        "round_trips",
        f"A page takes {count:.0f} round trips of {min_rtt_ms:.0f} ms ({median_s:.2f} s in the "
        f"median), while the {size_text(page_bytes)} of it would pass the link in {transfer_s:.2f} s: "
        "its objects wait for requests, responses and each other.",
        1.0 - transfer_s / median_s,
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
        if names := [name for name in rates if not evidence.is_thin_flow(name)]:
            texts.append(f"{max(names, key=rates.__getitem__)}{link_text}")
    return f" (that of {' and of '.join(texts)})" if texts else ""


def median_of_runs(units: pd.DataFrame) -> float:
    """Returns the mean over the runs of the median duration of units, as in the tables, s."""
    medians = [
        nearest_rank(durations.tolist(), 50) for _, durations in units.groupby("run")["duration_s"]
    ]
    return float(np.mean(medians)) if medians else 0.0


#: Reasons of slow units.
_REASONS = (
    OUTAGE,
    TIME_OUT,
    PROBE,
    RECOVERY,
    NAGLE,
    BEHIND,
    ASLEEP,
    IN_QUEUE,
    PEER_TIME_OUT,
    OPENS_CONNECTION,
    _,
    _,
    _,
) = (
    "met an outage",
    "waited for a time-out",
    "waited for a loss probe",
    "waited for a fast recovery",
    "waited for ACKs (Nagle's algorithm)",
    "waited behind earlier ones",
    "waited for the phone to wake up (DRX)",
    "waited in a queue",
    "waited for a time-out of the other end",
    "opened their connection",
    IN_PROBE_RTT,
    LOW_PACING,
    SMALL_WINDOW,
)


def _count_reasons(
    evidence: Evidence, units: pd.DataFrame, slow: pd.DataFrame
) -> collections.Counter[str]:
    """Returns the number of slow units by reason, without those that have none.

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
    counts: collections.Counter[str] = collections.Counter()
    is_first, slept = _are_first(units), units_after_sleep(evidence)
    peer_timeouts = _peer_timeouts(evidence, keys)
    # A page has several connections, each with a window of its own.
    windows = UnitWindows(evidence) if len(keys) > 1 else None
    # A unit that never ends overlaps all events after its start.
    columns = slow[["run", "connection", "start_s", "end_s"]].fillna({"end_s": np.inf})
    for index, run, connection, start_s, end_s in columns.itertuples(name=None):
        key = (run, connection)[: len(keys)]
        reason, overlap_s = _overlap(evidence, by_connection.get(key), run, start_s, end_s)
        # The repair of a loss takes only a small part of the time for which a backlog waits.
        is_mostly_behind = overlap_s < _MAJORITY * (end_s - start_s) < np.inf
        if is_behind[index] and (reason is None or is_mostly_behind):
            reason = BEHIND
        if evidence.is_held_by_nagle and reason in (None, BEHIND) and not is_first[index]:
            reason = NAGLE
        if reason is None and index in slept:
            reason = ASLEEP
        if reason is None and evidence.mean_rtt_ms(run, start_s, end_s) >= queued_ms:
            reason = IN_QUEUE
        if reason is None and is_first[index]:
            reason = OPENS_CONNECTION
        if reason is None and peer_timeouts[key] > 0:
            reason = PEER_TIME_OUT
            peer_timeouts[key] -= 1
        if reason is None and windows is not None:
            reason = windows.reason(run, start_s, end_s)
        if reason is not None:
            counts[reason] += 1
    return counts


class _Overlap(NamedTuple):
    """Outages or loss recoveries that overlap a slow unit."""

    #: `OUTAGE`, `TIME_OUT`, `PROBE` or `RECOVERY`; None if nothing overlaps.
    reason: str | None
    #: Time of the unit in recoveries, s; infinite for an outage.
    overlap_s: float


def _overlap(
    evidence: Evidence, recoveries: pd.DataFrame | None, run: int, start_s: float, end_s: float
) -> _Overlap:
    """Returns the outages or loss recoveries that overlap the time of a unit."""
    if any(gap.overlaps(run, start_s, end_s) for gap in (*evidence.outages, *evidence.ack_outages)):
        # The outage is the reason even if the unit waits for the time-out after it.
        return _Overlap(OUTAGE, np.inf)
    if recoveries is None:
        return _Overlap(None, 0.0)
    starts = recoveries[["dropped_s", "t_s"]].min(axis=1).to_numpy()
    ends = recoveries["end_s"].fillna(np.inf).to_numpy()
    is_overlapping = (starts <= end_s) & (ends >= start_s)
    overlapping = recoveries[is_overlapping]
    if not len(overlapping):
        return _Overlap(None, 0.0)
    overlap_s = float((np.minimum(ends, end_s) - np.maximum(starts, start_s))[is_overlapping].sum())
    if (overlapping["timeouts"] > 0).any():
        return _Overlap(TIME_OUT, overlap_s)
    has_probes = (overlapping["loss_probes"] > 0).any()
    return _Overlap(PROBE if has_probes else RECOVERY, overlap_s)


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
    return is_first & (is_first.mean() < _MAJORITY)


def _peer_timeouts(evidence: Evidence, keys: list[str]) -> collections.Counter[tuple[int, ...]]:
    """Returns the number of time-outs of the peer by `keys`; no table has their times."""
    counts: collections.Counter[tuple[int, ...]] = collections.Counter()
    if "far_timeouts" in evidence.connections:
        rows = evidence.connections[[*keys, "far_timeouts"]].fillna(0)
        for *key, count in rows.itertuples(index=False, name=None):
            counts[tuple(key)] += int(count)
    return counts
