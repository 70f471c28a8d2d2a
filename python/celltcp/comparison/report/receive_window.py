"""Receive window as the limit of a flow: share of the time, and Linux sysctls to raise it."""

from __future__ import annotations

import tomllib
from typing import NamedTuple

from celltcp._core import in_unit
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.evidence.window_demand import top_bitrate
from celltcp.present.section import Block
from celltcp.results.first_window import INITIAL_BUFFER
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.demand import Demand, demand
from celltcp.scenarios.lower_bounds import has_capacity_bound, has_sender_limit

#: Share of the time above which the window counts as the limit of a flow.
_MIN_SHARE = 0.5
#: Share of the capacity above which a larger window would only lengthen the queue.
_FULL_SHARE = 0.9
#: Largest receive buffer of Linux by default, bytes: Documentation/networking/ip-sysctl.rst, tcp_rmem.
_DEFAULT_MAX_BUFFER = 6 * 1024 * 1024
#: Bytes of buffer per byte of the window, by default (tcp_adv_win_scale = 1).
_BUFFER_PER_WINDOW = 2


class WindowLimit(NamedTuple):
    """Receive window that limited the flow under test for most of the time."""

    #: Share of the time in which it was the limit.
    share: float
    #: Mean rate of the link, Mbit/s.
    rate_mbps: float
    #: Lowest RTT, ms.
    rtt_ms: float
    #: Data that the application can have in flight; None if it is more than a BDP.
    demand: Demand | None = None
    #: Whether that rate is a lower bound from a capture, so that the window has no target.
    is_lower_bound: bool = False
    #: Receive buffer at the start, bytes.
    initial_bytes: float = 131072

    @property
    def needed_bytes(self) -> int:
        """The smallest window that fills the path (a BDP), or that holds what the application sends."""
        if self.demand is not None:
            return round(self.demand.bytes)
        return round(self.rate_mbps * 1e6 / 8 * self.rtt_ms / 1e3)

    @property
    def text(self) -> str:
        """Sentences on the limit and on the window that is needed."""
        purpose, reason = (
            "fill the path",
            f"rate x RTT: {self.rate_mbps:.1f} Mbit/s x {self.rtt_ms:.1f} ms",
        )
        if self.demand is not None:
            purpose = f"hold {self.demand.noun}"
            reason = f"what can be in flight in an RTT of {self.rtt_ms:.1f} ms"
        first = f"First the receive window: it was the limit for {100 * self.share:.0f} % of the time. "
        if self.is_lower_bound:
            return f"{first}The capture does not show what the path carries, and so no size for it."
        return f"{first}To {purpose} it has to be {self.needed_bytes / 1e3:.0f} kB or more ({reason})."

    @property
    def block(self) -> Block | None:
        """The sysctls that allow for that window on Linux, never less than the default; or None."""
        if self.is_lower_bound:
            return None
        max_buffer = max(_BUFFER_PER_WINDOW * self.needed_bytes, _DEFAULT_MAX_BUFFER)
        return Block(
            "Linux, on the host that receives: lines of /etc/sysctl.d/90-receive-window.conf. The "
            "numbers are the least, initial and largest buffer, bytes; the window is about half of it. "
            "An application that sets SO_RCVBUF keeps to that, which net.core.rmem_max bounds.",
            "net.ipv4.tcp_window_scaling = 1\n"
            f"net.ipv4.tcp_rmem = 4096 {min(self.initial_bytes, max_buffer):.0f} {max_buffer}\n",
        )


def window_limit(comparison: Comparison, cca: str) -> WindowLimit | None:
    """Returns the receive window if it was the limit under a CCA for most of the time, else None.

    None as well if the flow fills its path, behind middleboxes, which may set the window, and where it
    stands for the limit of a captured sender.
    """
    text = str(comparison.results.about["scenario"])
    scenario = tomllib.loads(text)
    if has_sender_limit(scenario):
        return None
    shares = [
        flow_limit.shares["receive_window"]
        for flow_limit in comparison.results.flow_limits
        if (flow_limit.cca, flow_limit.flow) == (cca, comparison.tested.name)
    ]
    if not shares or not shares[0] > _MIN_SHARE or comparison.middlebox(cca) != "none":
        return None
    slots = comparison.tested_slots
    rate = float(slots.loc[slots["cca"] == cca, "capacity_mbps"].mean())
    goodput, rtt = (
        estimate(comparison.values(cca, each)).mean for each in ("goodput_mbps", "rtt_min_ms")
    )
    is_bound = has_capacity_bound(scenario)
    if (goodput >= _FULL_SHARE * rate and not is_bound) or not rtt > 0:
        return None
    _, workload = FlowUnderTest.each_with_workload(comparison.results.about)[0]
    needed = demand(workload, rtt / 1e3, top_bitrate(workload, text, 0))
    initial = in_unit(scenario.get("tcp", {}).get("receive_buffer_initial", INITIAL_BUFFER), "B") or 0.0
    limit = WindowLimit(shares[0], rate, rtt, is_lower_bound=is_bound, initial_bytes=initial)
    is_less = needed is not None and needed.bytes < limit.needed_bytes
    return limit._replace(demand=needed) if is_less else limit
