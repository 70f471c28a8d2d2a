"""Time after senders gave their connections up, in which the table `limits` still counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.results.columns import rows_of
from celltcp.results.openings import union_s

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Kind of the event that an end aborted a connection after its timeout.
TIMED_OUT = "timed_out"
#: Limits under which a sender gives up, and that the table has until the end of the run.
_LIMITS_AT_ABORT = ("timeout", "recovery")


class TimeAfterAbort(NamedTuple):
    """Time from the abort of a connection by its sender to the end of the run, s."""

    total_s: float
    #: Part of it in outages.
    outage_s: float

    def without(self, limited_s: dict[str, float]) -> dict[str, float]:
        """Returns the times under each limit without those after the abort."""
        result = {**limited_s, "outage": max(limited_s["outage"] - self.outage_s, 0.0)}
        rest_s = self.total_s - self.outage_s
        for limit in _LIMITS_AT_ABORT:
            # The kernel engine does not report these limits.
            taken_s = min(rest_s, result[limit]) if result[limit] > 0 else 0.0
            result[limit] -= taken_s
            rest_s -= taken_s
        return result


def times_after_aborts(results: Results) -> dict[tuple[int, int], TimeAfterAbort]:
    """Returns the time after the abort of connections by their senders, by run and connection."""
    if "events" not in results.tables:
        return {}
    events = rows_of(results.tables["events"], "run", "flow", "kind", "detail", "t_ns")
    aborts_s = {
        (run, flow): t_ns * 1e-9
        for run, flow, kind, detail, t_ns in events
        if kind == TIMED_OUT and detail == "sender"
    }
    flows = rows_of(results.tables["flows"], "run", "flow", "first_data_s", "duration_s")
    ends_s = {(run, flow): first_data_s + duration_s for run, flow, first_data_s, duration_s in flows}
    outages: dict[tuple[int, int], list[tuple[float, float]]] = {}
    if "outages" in results.tables:
        columns = ("run", "flow", "t_s", "duration_s", "direction")
        for run, flow, t_s, length_s, direction in rows_of(results.tables["outages"], *columns):
            if direction == "data" and (run, flow) in aborts_s:
                outages.setdefault((run, flow), []).append((t_s, t_s + length_s))
    result = {}
    for key, abort_s in aborts_s.items():
        # A connection without data has no times.
        if not (end_s := ends_s[key]) > abort_s:
            continue
        clipped = [(max(start, abort_s), min(end, end_s)) for start, end in outages.get(key, ())]
        outage_s = union_s((start, end) for start, end in clipped if end > start)
        result[key] = TimeAfterAbort(end_s - abort_s, outage_s)
    return result
