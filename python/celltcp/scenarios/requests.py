"""Requests: sizes, deadline, and round trips of large ones beyond what the first window holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit
from celltcp.scenarios.initial_window import initial_window

#: Payload of a segment on a path without a smaller MSS, bytes.
MSS = 1448
#: Clause on the congestion control of large requests.
REQUESTS_KEEP_CCA = (
    "--cca sets that of the responses; large requests keep the default of the engine. To compare "
    "theirs, exchange from and to of the flow, and the sizes of request and response"
)


def request_and_response(workload: Mapping[str, Any]) -> tuple[float, float] | None:
    """Returns the constant sizes of requests and responses, bytes; None for other workloads."""
    if workload.get("kind") != "request-response":
        return None
    sizes = (_constant(workload.get(name), "B") for name in ("request", "response"))
    request, response = sizes
    return (request, response) if request and response else None


def has_larger_requests(scenario: Mapping[str, Any]) -> bool:
    """Returns whether each flow of a scenario sends requests that are larger than its responses."""
    sizes = [request_and_response(flow.get("workload", {})) for flow in scenario.get("flows", ())]
    return bool(sizes) and all(size is not None and size[0] > size[1] for size in sizes)


def has_large_requests(scenario: Mapping[str, Any]) -> bool:
    """Returns whether a flow of a scenario sends requests that take several round trips."""
    tcp = scenario.get("tcp", {})
    return any(
        rounds_of_request(flow.get("workload", {}), tcp) > 1 for flow in scenario.get("flows", ())
    )


def rounds_of_request(workload: Mapping[str, Any], tcp: Mapping[str, Any]) -> int:
    """Returns the round trips of a request in slow start; 1 if it fits into the first window."""
    sizes = request_and_response(workload)
    window = MSS * initial_window(tcp)
    # The window doubles each round trip.
    return 1 if sizes is None else max(math.ceil(math.log2(sizes[0] / window + 1)), 1)


def think_s(workload: Mapping[str, Any]) -> float | None:
    """Returns the constant time of the server for a response, s; None where it varies."""
    return _constant(workload.get("think"), "s")


def pause_s(workload: Mapping[str, Any]) -> float | None:
    """Returns the time between the end of a request and the next one, beside the RTT, s; or None."""
    times = [_constant(workload.get(name), "s") for name in ("think", "gap")]
    return None if None in times else sum(time or 0.0 for time in times)


def _constant(value: Any, unit: str) -> float | None:
    text = value.get("value") if isinstance(value, Mapping) else value
    return None if text is None else in_unit(str(text), unit)


def response_deadline_s(workload: Mapping[str, Any]) -> float | None:
    """Returns the time after which a response is late, s; None for other workloads or without one."""
    if workload.get("kind") != "request-response" or "deadline" not in workload:
        return None
    return in_unit(str(workload["deadline"]), "s")
