"""Rule about the slowest units of work: the reasons of their delay."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.application_metrics import nearest_rank
from celltcp.comparison.explanation.cause import Cause, grouped, percent
from celltcp.comparison.units_of_work import UNITS
from celltcp.present.quantities import size_text

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Units that the rule looks at. Fetches of segments and transfers are long or short by their size.
_KINDS = ("response", "frame_delay", "page_load")
#: Minimum time at which a unit is slow, medians.
_SLOW = 1.5
#: Share of the time of a unit behind others that what it met has to take to be its reason.
_MOST = 0.5
#: Minimum round trips of a page, and its time by that of its bytes, at which round trips are a cause.
_ROUNDS, _LATENCY = 5, 2
#: Minimum mean RTT at which packets waited in a queue, lowest RTTs.
QUEUED = 1.5


def slow_units(evidence: Evidence) -> Cause | None:
    """Some frames came after their deadline, or some units took over {_SLOW} times their median.

    An outage, time-out, loss probe or fast recovery falls into the time of some of them, or they waited
    behind earlier ones, for most of their time, or in a queue: the mean RTT meanwhile is {QUEUED} times
    the lowest one. Others opened their connection, or the other end had time-outs.
    """
    if evidence.units is None:
        return None
    for name in _KINDS:
        units = evidence.units[evidence.units["unit"] == name]
        # A frame that never arrives counts as in the percentiles of the tables.
        units = units.assign(duration_s=units["duration_s"].fillna(np.inf))
        median = median_of_runs(units)
        least, bound = _SLOW * median, f"took over {_SLOW} times the median of {median:.3f} s"
        deadline, dropped = evidence.deadline_s, 0
        if deadline is not None and (units["duration_s"] > deadline).any():
            least, bound = deadline, f"came after their deadline of {1e3 * deadline:g} ms"
            dropped = evidence.dropped_frames
        slow = units[units["duration_s"] > least]
        reasons = _reasons(evidence, units, slow)
        if not any(reasons.values()):
            continue
        rest = len(slow) - sum(reasons.values())
        parts = [
            f"{grouped(count)} {reason}{_queue_of(evidence) if reason == IN_QUEUE else ''}"
            for reason, count in reasons.items()
            if count
        ]
        if dropped:
            parts.insert(0, f"{grouped(dropped)} were dropped by the sender")
        if rest:
            parts.append(f"{grouped(rest)} had other reasons")
        of, among = len(slow) + dropped, len(units) + dropped
        runs = f" in {len(evidence.runs)} runs" if len(evidence.runs) > 1 else ""
        waiting = max(evidence.frames_due - among, 0) if name == "frame_delay" else 0
        more = f"; {grouped(waiting)} more had not arrived at the end" if waiting else ""
        ended = slow[np.isfinite(slow["duration_s"])]
        longest = f", up to {ended['duration_s'].max():.2f} s" if len(ended) else ""
        excess = float((ended["duration_s"] - min(median, least)).sum())
        whole = units["duration_s"][np.isfinite(units["duration_s"])].sum()
        return Cause(
            "slow_units",
            f"{grouped(of)} of {grouped(among)} {UNITS[name].noun}{runs} ({percent(of / among)}) "
            f"{bound}{' or never' if dropped else ''}{longest}: {', '.join(parts)}{more}.",
            min(excess / float(whole), 1.0) if whole > 0 else 0.0,
            {reason: count for reason, count in reasons.items() if count},
        )
    return None


def round_trips(evidence: Evidence) -> Cause | None:
    """Pages take {_ROUNDS} round trips and more, and {_LATENCY} times as long as their bytes need.

    Their objects wait for each other, while the link idles. No queue makes the RTT long: its mean is
    below {QUEUED} times the lowest one.
    """
    units = evidence.units
    if units is None or evidence.workload.get("kind") != "page" or not evidence.capacity > 0:
        return None
    pages = units[units["unit"] == "page_load"]
    least_ms, median = evidence.mean("rtt_min_ms"), median_of_runs(pages.dropna(subset=["duration_s"]))
    rounds = 1e3 * median / least_ms if median and least_ms > 0 else 0.0
    size = evidence.total("bytes") / max(len(pages), 1)
    needed_s = size / (evidence.capacity * 1e6 / 8)
    is_queued = evidence.mean("rtt_mean_ms") >= QUEUED * least_ms
    if rounds < _ROUNDS or median < _LATENCY * needed_s or is_queued:
        return None
    return Cause(
        "round_trips",
        f"A page takes {rounds:.0f} round trips of {least_ms:.0f} ms ({median:.2f} s in the median), "
        f"while the {size_text(size)} of it would pass the link in {needed_s:.2f} s: its objects wait "
        "for requests, responses and each other.",
        1.0 - needed_s / median,
    )


def _queue_of(evidence: Evidence) -> str:
    """Returns the flows in whose queue units wait in words, in parentheses; empty if there are none.

    A request goes the other way, and waits there as well.
    """
    texts = []
    for others, way in ((evidence.others, ""), (evidence.others_back, evidence.way_back)):
        if flows := {name: rate for name, rate in others.items() if not evidence.is_thin_flow(name)}:
            texts.append(f"{max(flows, key=flows.__getitem__)}{way}")
    return f" (that of {' and of '.join(texts)})" if texts else ""


def median_of_runs(units: pd.DataFrame) -> float:
    """Returns the median as tables have it: the mean over the runs of that of each."""
    of_runs = [nearest_rank(of.tolist(), 50) for _, of in units.groupby("run")["duration_s"]]
    return float(np.mean(of_runs)) if of_runs else 0.0


#: Reasons of slow units, in the order of their check.
OUTAGE, TIME_OUT, PROBE, RECOVERY, BEHIND, IN_QUEUE, FAR, OPENED = _REASONS = (
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
    """Returns how many of the slow units each reason has.

    Args:
        evidence: of the flow.
        units: all units of the kind.
        slow: those that are slow.
    """
    # The objects of a page come over several connections.
    keys = ["run"] if (slow["unit"] == "page_load").any() else ["run", "flow"]
    by_connection = dict(tuple(evidence.recoveries.groupby(keys))) if len(evidence.recoveries) else {}
    behind = _waits_behind(units)
    queued_ms = QUEUED * evidence.mean("rtt_min_ms")
    counts = dict.fromkeys(_REASONS, 0)
    opening = _opens(units)
    far = _far_timeouts(evidence, keys)
    # What never ends meets all that comes after its start.
    columns = slow[["run", "connection", "start_s", "end_s"]].fillna({"end_s": np.inf})
    for place, run, connection, start, end in columns.itertuples(name=None):
        key = (run, connection)[: len(keys)]
        reason, met_s = _reason(evidence, by_connection.get(key), run, start, end)
        # A loss is repaired in a moment of the time for which a backlog waits.
        if behind[place] and (reason is None or met_s < _MOST * (end - start) < np.inf):
            reason = BEHIND
        if reason is None and evidence.mean_rtt_ms(run, start, end) >= queued_ms:
            reason = IN_QUEUE
        if reason is None and opening[place]:
            reason = OPENED
        if reason is None and far[key] > 0:
            reason = FAR
            far[key] -= 1
        if reason is not None:
            counts[reason] += 1
    return counts


def _reason(
    evidence: Evidence, recoveries: pd.DataFrame | None, run: int, start: float, end: float
) -> tuple[str | None, float]:
    """Returns what the connections of a unit met in its time, and for how long, s.

    None stands for no outage and no loss.
    """
    if any(gap.overlaps(run, start, end) for gap in (*evidence.outages, *evidence.ack_outages)):
        # What waits for an outage may wait for the time-out after it, too.
        return OUTAGE, np.inf
    if recoveries is None:
        return None, 0.0
    starts = recoveries[["dropped_s", "t_s"]].min(axis=1).to_numpy()
    ends = recoveries["end_s"].fillna(np.inf).to_numpy()
    is_met = (starts <= end) & (ends >= start)
    met = recoveries[is_met]
    if not len(met):
        return None, 0.0
    met_s = float((np.minimum(ends, end) - np.maximum(starts, start))[is_met].sum())
    if (met["timeouts"] > 0).any():
        return TIME_OUT, met_s
    return PROBE if (met["loss_probes"] > 0).any() else RECOVERY, met_s


def _waits_behind(units: pd.DataFrame) -> pd.Series:
    """Returns which units began before an earlier one of their connection had ended."""
    ordered = units.sort_values(["run", "connection", "start_s"], kind="stable")
    ends = ordered["end_s"].fillna(np.inf).groupby([ordered["run"], ordered["connection"]])
    return ends.transform(lambda of: of.shift().cummax()) > ordered["start_s"]


def _opens(units: pd.DataFrame) -> pd.Series:
    """Returns which units are the first of their connection; none where most units are."""
    starts = units.groupby(["run", "connection"])["start_s"].transform("min")
    is_first = units["start_s"] == starts
    return is_first & (is_first.mean() < _MOST)


def _far_timeouts(evidence: Evidence, keys: list[str]) -> collections.Counter[tuple[int, ...]]:
    """Returns the time-outs of the other end, whose times are in no table, by run and connection."""
    found: collections.Counter[tuple[int, ...]] = collections.Counter()
    if "far_timeouts" in evidence.flows:
        rows = evidence.flows[[*keys, "far_timeouts"]].fillna(0)
        for *key, count in rows.itertuples(index=False, name=None):
            found[tuple(key)] += int(count)
    return found
