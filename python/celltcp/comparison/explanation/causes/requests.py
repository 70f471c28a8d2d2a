"""Rule about requests that are larger than the first window of their client."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.causes.tail import median_of_runs
from celltcp.comparison.lines.linux_lines import node_text, node_word
from celltcp.scenarios.initial_window import initial_window
from celltcp.scenarios.narrow_hop import steady_rate
from celltcp.scenarios.quantity_texts import rate_text, size_text, time_text
from celltcp.scenarios.requests import pause_s, request_and_response, rounds_of_request
from celltcp.scenarios.sides import min_rto_s

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Share of a round trip by which the median may be below the round trips of a request.
_MIN_LAST_ROUND = 0.5
#: Maximum number of further round trips, such as that of the response.
_MAX_MORE_ROUNDS = 1.5
#: Minimum share of the median that a limit takes for the bytes of a request.
_MIN_LIMIT_SHARE = 0.7
#: Bytes on the link per byte of payload, and bytes of a send buffer per byte of data in flight.
_HEADERS_RATIO, _SEND_MEMORY_RATIO = 1500 / 1448, 1.8


def large_requests(evidence: Evidence) -> Cause | None:
    """Requests took their client several round trips, each from the initial window on.

    The pause before each request is longer than the minimum RTO, so that the window shrinks, and the
    median response took as many round trips: at least all but {_MIN_LAST_ROUND:.0%} of one, and at most
    {_MAX_MORE_ROUNDS} more.
    """
    tcp, workload = evidence.scenario.get("tcp", {}), evidence.workload
    sizes, pause = request_and_response(workload), pause_s(workload)
    rounds = rounds_of_request(workload, tcp)
    if evidence.units is None or sizes is None or pause is None or rounds < 2:
        return None
    client_rto_s = min_rto_s(evidence.sides[1], evidence.scenario)
    if not tcp.get("slow_start_after_idle", True) or pause <= client_rto_s:
        return None
    rtt_s, median_s = evidence.min_rtt_s, median_of_runs(evidence.units)
    if not -_MIN_LAST_ROUND <= median_s / rtt_s - rounds <= _MAX_MORE_ROUNDS:
        return None
    node = evidence.scenario["flows"][evidence.flow_index].get("to", "phone")
    client = node_text("client", node_word(node, evidence.scenario))
    return Cause(
        "large_requests",
        f"Requests of {size_text(sizes[0])} took {rounds} round trips of {1e3 * rtt_s:.0f} ms: their "
        f"{client} began each with {initial_window(tcp)} segments, as its window "
        "shrinks in pauses (slow start after idle).",
        min((rounds - 1) * rtt_s / median_s, 1.0),
    )


class RequestLimit(NamedTuple):
    """Limit of the bytes of a request: the link of the requests, or a window of the hosts."""

    #: Time that it needs for a request, s.
    needed_s: float
    #: `link`, `receive_window` or `send_buffer`.
    kind: str
    #: Rate that it lets pass, Mbit/s.
    rate_mbps: float


def limit_of_requests(evidence: Evidence) -> RequestLimit | None:
    """Returns what needs most time for a request; None if that is no large part of the median."""
    sizes, tcp = request_and_response(evidence.workload), evidence.scenario.get("tcp", {})
    rate = opposite_rate(evidence)
    if evidence.units is None or sizes is None or rate is None or evidence.has_middleboxes:
        return None
    rtt_s = evidence.min_rtt_s
    rates = {"link": request_link_rate(evidence) / 8}
    for kind, field, ratio in (
        ("receive_window", "receive_window_max", 1.0),
        ("send_buffer", "send_buffer_max", _SEND_MEMORY_RATIO),
    ):
        if size := in_unit(tcp.get(field), "B"):
            rates[kind] = size / ratio / rtt_s
    slowest = min(rates, key=rates.__getitem__)
    limit = RequestLimit(sizes[0] / rates[slowest], slowest, 8e-6 * rates[slowest])
    has_rounds = rounds_of_request(evidence.workload, tcp) > 1
    is_large = limit.needed_s >= _MIN_LIMIT_SHARE * median_of_runs(evidence.units)
    return limit if has_rounds and is_large else None


def opposite_rate(evidence: Evidence) -> float | None:
    """Returns the constant rate of the link of the requests, bit/s; None if it varies."""
    path = evidence.scenario.get("path", {})
    link = path.get("down" if evidence.is_upload else "up")
    return None if evidence.scenario.get("radio") else steady_rate(link)


def request_link_rate(evidence: Evidence) -> float:
    """Returns the payload that the link of the requests carries, bit/s; 0 if that varies."""
    return (opposite_rate(evidence) or 0.0) / _HEADERS_RATIO


def request_limit(evidence: Evidence) -> Cause | None:
    """The link of large requests, or a window of the hosts, needs most of the time for their bytes.

    That is at least {_MIN_LIMIT_SHARE:.0%} of the median response time.
    """
    limit, sizes = limit_of_requests(evidence), request_and_response(evidence.workload)
    if limit is None or sizes is None or evidence.units is None:
        return None
    median_s = median_of_runs(evidence.units)
    tcp = evidence.scenario.get("tcp", {})
    flow = evidence.scenario["flows"][evidence.flow_index]
    limit_text = {
        "link": "their link",
        "receive_window": (
            f"the receive window of the {flow.get('from', 'server')} "
            f"(tcp.receive_window_max = {tcp.get('receive_window_max')})"
        ),
        "send_buffer": (
            f"the send buffer of the {node_word(flow.get('to', 'phone'), evidence.scenario)} "
            f"(tcp.send_buffer_max = {tcp.get('send_buffer_max')})"
        ),
    }[limit.kind]
    return Cause(
        "request_limit",
        f"Requests of {size_text(sizes[0])} take {time_text(median_s)} in the median, as "
        f"{limit_text} lets about {rate_text(limit.rate_mbps)} pass.",
        min(limit.needed_s / median_s, 1.0),
    )
