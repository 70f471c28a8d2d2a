"""Remedies of full windows: sizes of windows and buffers that hold what a path or application needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.explanation.evidence.window_demand import window_demand
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.remedies.sender_remedies import connections_line
from celltcp.results.first_window import LARGEST_BUFFER, LARGEST_SEND_BUFFER, initial_buffer
from celltcp.results.tested import is_endless
from celltcp.scenarios.lower_bounds import has_capacity_bound
from celltcp.scenarios.quantity_texts import size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Windows that fill a path, BDPs. Two BDPs still fill it right after a loss; one BDP leaves no queue.
WINDOW_BDPS, SMALL_WINDOW_BDPS = 2, 1
#: Maximum number of parallel connections that a text advises.
_MAX_SESSIONS = 32
#: Ratios of receive and send buffer to the window, as Linux counts the memory of packets.
_RECEIVE_BUFFER_RATIO, SEND_BUFFER_RATIO = 2, 3
#: Ratio of the receive buffer at the start to the window, which has whole segments of its half.
_INITIAL_BUFFER_RATIO = 2.5
#: Family of the remedies that enlarge windows of the hosts.
_FAMILY = "windows of the hosts"


def receive_window(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Windows and buffers for two BDPs, or for one BDP; those of the receiver come first.

    They are for what the application can have in flight if that is less. Several sessions of a flow
    share the BDP. A flow with some of them may have more of them instead.
    """
    changes = (_receiver_changes, _sender_changes)
    yield from _windows(evidence, "receive_window", "a full receive window", changes)


def send_buffer(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Windows and buffers for two BDPs, or for one BDP; those of the sender come first.

    They are for what the application can have in flight if that is less. Several sessions of a flow
    share the BDP. A flow with some of them may have more of them instead.
    """
    changes = (_sender_changes, _receiver_changes)
    yield from _windows(evidence, "send_buffer", "a full send buffer", changes)


def _windows(
    evidence: Evidence,
    limit: str,
    against: str,
    changes_of_hosts: tuple[Callable[[Evidence, float], Iterator[str]], ...],
) -> Iterator[Remedy]:
    if has_capacity_bound(evidence.scenario):
        # The simulated gain of a larger window would be that up to the lower bound.
        if limit == "receive_window":
            yield _of_capture(evidence)
        return
    needed = window_demand(evidence)
    sessions = evidence.sessions
    for factor in (WINDOW_BDPS, SMALL_WINDOW_BDPS):
        window, amount = factor * evidence.bdp / sessions, f"{factor} BDP"
        if sessions > 1:
            amount += f" of {sessions} sessions"
        if needed is not None:
            window = min(window, needed.bytes if needed.is_whole else factor * needed.bytes)
            amount = f"{size_text(window)} of {needed.noun}"
        changes = tuple(change for rule in changes_of_hosts for change in rule(evidence, window))
        reason = f" ({amount} in flight)"
        if any("buffer_initial" in change for change in changes):
            reason = f" ({amount} in flight fit into the first window, half of the buffer)"
        elif any("buffer" in change for change in changes):
            reason = (
                f" ({amount} in flight need {SEND_BUFFER_RATIO} times that to send, "
                f"{_RECEIVE_BUFFER_RATIO} to receive)"
            )
        if changes:
            variant = int(factor != WINDOW_BDPS)
            yield Remedy(f"{against}{reason}", changes, variant=variant, family=_FAMILY)
    more = _connections_for_path(evidence, evidence.max_window(limit))
    if is_endless(evidence.workload) and sessions < more <= _MAX_SESSIONS:
        changes = (f"flows.{evidence.flow_index}.count={more}",)
        yield Remedy(f"{against}, by {more} connections", changes, linux=connections_line(more))


def _connections_for_path(evidence: Evidence, in_flight: float) -> int:
    """Returns how many connections with the window of the present ones fill the path; 0 if none do.

    Args:
        evidence: of the flow.
        in_flight: maximum in flight of its connections together, bytes.
    """
    if not 0 < in_flight < math.inf or not evidence.goodput_mbps > 0:
        return 0
    # Where the window is not full all the time, the rate shows how much it carries.
    needed = max(evidence.bdp / in_flight, evidence.capacity_mbps / evidence.goodput_mbps)
    return math.ceil(evidence.sessions * needed)


def _of_capture(evidence: Evidence) -> Remedy:
    """Returns twice the window of a capture, on a path with twice the rate that it has let pass."""
    window = 2 * evidence.max_window("receive_window") / evidence.sessions
    changes = (*_receiver_changes(evidence, window), *_sender_changes(evidence, window))
    rate = math.ceil(2 * evidence.capacity_mbps)
    against = (
        "a full receive window, if the path carries twice the rate, which the capture does not show"
    )
    return Remedy(against, (f"path.down={rate}Mbit/s", *changes), family=_FAMILY)


def _receiver_changes(evidence: Evidence, window: float) -> Iterator[str]:
    """Yields the changes that the receiver needs for a window, bytes."""
    tcp = evidence.scenario.get("tcp", {})
    in_flight = evidence.max_window("receive_window") / evidence.sessions
    if not evidence.is_split and (first := initial_buffer(tcp, in_flight)):
        size = _INITIAL_BUFFER_RATIO * window
        if (in_unit(first, "B") or 0.0) < size:
            yield f"tcp.receive_buffer_initial={rounded_size(size)}"
            window = max(window, size / _RECEIVE_BUFFER_RATIO)
    if _bytes(tcp, "receive_buffer_max", LARGEST_BUFFER) < _RECEIVE_BUFFER_RATIO * window:
        yield f"tcp.receive_buffer_max={rounded_size(_RECEIVE_BUFFER_RATIO * window)}"
    if "receive_window_max" in tcp and _bytes(tcp, "receive_window_max", "0B") < window:
        yield f"tcp.receive_window_max={rounded_size(window)}"
    if tcp.get("window_scale", True) is not True:
        yield "tcp.window_scale=true"


def _sender_changes(evidence: Evidence, window: float) -> Iterator[str]:
    """Yields the changes that the sender needs for a window, bytes."""
    size = SEND_BUFFER_RATIO * window
    if _bytes(evidence.scenario.get("tcp", {}), "send_buffer_max", LARGEST_SEND_BUFFER) < size:
        yield f"tcp.send_buffer_max={rounded_size(size)}"


def _bytes(tcp: Mapping[str, object], field: str, default: str) -> float:
    """Returns a size in the table `tcp` of a scenario, bytes."""
    return in_unit(str(tcp.get(field, default)), "B") or 0.0


def rounded_size(value: float) -> str:
    """Returns a size in bytes as text, rounded up to two digits."""
    step = 10 ** max(math.floor(math.log10(max(value, 1.0))) - 1, 3)
    return f"{math.ceil(value / step) * step // 1000}kB"
