"""Time of a flow from the request of its connections on, which its slots lack before the first data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.results.openings import opening_outages_s, union_s

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.evidence.outages import Outage

#: Maximum difference of the goodput from the requests on to that from the first data on, as a share, at
#: which both are alike.
_MAX_LIKE = 0.02


def requested_s(evidence: Evidence) -> dict[int, float]:
    """Returns for each run the time in which the flow had or requested a connection, s."""
    runs = evidence.comparison.runs
    ends_s = dict(zip(runs["run"], runs["duration_s"], strict=True))
    columns = evidence.connections[["run", "start_s", "first_data_s", "duration_s"]]
    intervals: dict[int, list[tuple[float, float]]] = {run: [] for run in evidence.runs}
    for run, start_s, first_data_s, duration_s in columns.itertuples(index=False, name=None):
        end_s = first_data_s + duration_s
        intervals[run].append((start_s, ends_s[run] if math.isnan(end_s) else end_s))
    return {run: union_s(of_run) for run, of_run in intervals.items()}


def requested_goodput_mbps(evidence: Evidence, goodput_mbps: float) -> float:
    """Returns the goodput from the requests on, Mbit/s: the mean over the runs; NaN without any.

    Where connections open soon, it is `goodput_mbps`, that of the tables from the first data on.
    """
    received = evidence.connections.groupby("run")["bytes"].sum()
    rates = [
        8e-6 * float(received.get(run, 0.0)) / time_s
        for run, time_s in requested_s(evidence).items()
        if time_s > 0
    ]
    rate = sum(rates) / len(rates) if rates else math.nan
    return goodput_mbps if math.isclose(rate, goodput_mbps, rel_tol=_MAX_LIKE) else rate


def opening_outage_s(evidence: Evidence) -> float:
    """Returns the time of outages before the first data of connections, over all runs, s."""
    outages_s = opening_outages_s(evidence.comparison.results)
    keys = evidence.connections[["run", "flow"]].itertuples(index=False, name=None)
    return sum(outages_s.get(key, 0.0) for key in keys)


def requested_capacity_mbps(evidence: Evidence) -> float:
    """Returns the capacity from the requests on, Mbit/s, with outages before the first data."""
    outage_s = opening_outage_s(evidence)
    if not outage_s:
        return evidence.capacity_mbps
    # A run with a long outage has few slots, and counts as much as others.
    slots_s = len(evidence.slots) * evidence.slot_s
    return float(evidence.slots["capacity_mbps"].mean()) * slots_s / (slots_s + outage_s)


def delays_opening(evidence: Evidence, outage: Outage) -> bool:
    """Returns whether a connection without data yet met an outage, which may have lost a handshake."""
    rows = evidence.connections[evidence.connections["run"] == outage.run]
    opens_late = ~(rows["first_data_s"] <= outage.end_s)
    return bool(((rows["start_s"] < outage.end_s) & opens_late).any())


def may_have_lost_data(evidence: Evidence, outage: Outage) -> bool:
    """Returns whether the flow may have lost packets in an outage that loses all."""
    rows = evidence.recoveries[evidence.recoveries["run"] == outage.run]
    overlaps = (rows["earliest_s"] <= outage.end_s) & (rows["latest_s"] >= outage.start_s)
    slots = evidence.slots[(evidence.slots["run"] == outage.run) & (evidence.slots["rate_mbps"] > 0)]
    arrives_later = (slots["t_s"] >= outage.end_s).any()
    # Results of earlier versions have no recoveries.
    is_unknown = evidence.recoveries.empty and evidence.total("retransmissions") > 0
    is_met = _has_units_during(evidence, outage) or delays_opening(evidence, outage)
    return bool(overlaps.any() or not arrives_later or is_unknown or is_met)


def _has_units_during(evidence: Evidence, outage: Outage) -> bool:
    """Returns whether a unit of work overlaps an outage, which may have lost its request."""
    if evidence.units is None:
        return False
    units = evidence.units[evidence.units["run"] == outage.run]
    return bool(((units["start_s"] < outage.end_s) & ~(units["end_s"] < outage.start_s)).any())
