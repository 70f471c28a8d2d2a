"""Rule about requests that are larger than the first window of their client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.cause import Cause
from celltcp.comparison.explanation.tail import median_of_runs
from celltcp.scenarios.quantity_texts import size_text
from celltcp.scenarios.requests import pause_s, request_and_response, rounds_of_request

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Share of a round trip by which the median may be below the round trips of a request.
_MIN_LAST_ROUND = 0.5


def large_requests(evidence: Evidence) -> Cause | None:
    """Requests took their client several round trips, each from the initial window on.

    The pause before each request is longer than the minimum RTO, so that the window shrinks, and the
    median response took as many round trips, but for {_MIN_LAST_ROUND:.0%} of one.
    """
    tcp, workload = evidence.scenario.get("tcp", {}), evidence.workload
    sizes, pause = request_and_response(workload), pause_s(workload)
    rounds = rounds_of_request(workload, tcp)
    if evidence.units is None or sizes is None or pause is None or rounds < 2:
        return None
    if not tcp.get("slow_start_after_idle", True) or pause <= evidence.min_rto_s:
        return None
    rtt_s, median_s = evidence.mean("rtt_min_ms") / 1e3, median_of_runs(evidence.units)
    if not median_s >= (rounds - _MIN_LAST_ROUND) * rtt_s:
        return None
    client = evidence.scenario["flows"][evidence.flow_index].get("to", "phone")
    return Cause(
        "large_requests",
        f"Requests of {size_text(sizes[0])} took {rounds} round trips of {1e3 * rtt_s:.0f} ms: their "
        f"client ({client}) began each with {tcp.get('initial_window', 10)} segments, as its window "
        "shrinks in pauses (slow start after idle).",
        min((rounds - 1) * rtt_s / median_s, 1.0),
    )
