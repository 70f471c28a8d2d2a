"""Growth of the congestion window between losses, under Reno (RFC 5681) and CUBIC (RFC 9438)."""

from __future__ import annotations

import math
from typing import NamedTuple

from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.scenarios.ccas import default_parameters

_ON = ("on", "true")


class WindowGrowth(NamedTuple):
    """Window of Reno or CUBIC from one loss to the next one; windows are in segments."""

    #: Share of the window that a loss leaves.
    beta: float
    #: Constant C of the cubic function, segments/s³; 0 for Reno.
    cubic_constant: float
    has_fast_convergence: bool
    is_reno_friendly: bool

    @property
    def per_rtt(self) -> float:
        """Segments per round trip of Reno, or of the Reno-friendly region (RFC 9438, section 4.3).

        Delayed ACKs change nothing, as Linux counts the segments that an ACK reports.
        """
        if not self.cubic_constant:
            return 1.0
        return 3 * (1 - self.beta) / (1 + self.beta) if self.is_reno_friendly else 0.0

    def lowers_w_max(self, window: float, w_max: float) -> bool:
        """Returns whether a loss at a window has fast convergence, by the W_max of the loss before."""
        return self.has_fast_convergence and window < w_max

    def w_max(self, window: float, *, is_lowered: bool) -> float:
        """Returns W_max after a loss at a window (RFC 9438, section 4.7)."""
        return window * (1 + self.beta) / 2 if is_lowered else window

    def k_s(self, w_max: float, trough: float) -> float:
        """Returns the time K in which the cubic function grows from a trough to W_max, s."""
        return math.cbrt(max(w_max - trough, 0.0) / self.cubic_constant)

    def cubic_s(self, trough: float, w_max: float, window: float) -> float:
        """Returns the time in which the cubic function grows from a trough to a window, s.

        Linux has whole segments: below W_max the window is a segment ahead of the function.
        """
        if not self.cubic_constant:
            return math.inf
        beyond = window - max(w_max, trough)
        beyond -= 1.0 if window <= w_max else 0.0
        return max(self.k_s(w_max, trough) + math.cbrt(beyond / self.cubic_constant), 0.0)

    def linear_s(self, trough: float, window: float, rtt_s: float) -> float:
        """Returns the time in which Reno, or the Reno-friendly region, grows to a window, s."""
        return max(window - trough, 0.0) / self.per_rtt * rtt_s if self.per_rtt else math.inf

    def growth_s(self, trough: float, w_max: float, window: float, rtt_s: float) -> float:
        """Returns the time in which the window grows from a trough to another one, s."""
        return min(self.cubic_s(trough, w_max, window), self.linear_s(trough, window, rtt_s))

    def epoch(self, trough: float, w_max: float, window: float, rtt_s: float) -> tuple[float, bool]:
        """Returns the time from the end of a recovery until a loss at a window shows, s.

        Also returns whether growth by segments per round trip, that of Reno, reaches it first. The last
        segment is sent for a round trip until its loss shows; the cubic function is that much ahead.
        """
        cubic_s = self.cubic_s(trough, w_max, window)
        linear_s = self.linear_s(trough, window, rtt_s) + rtt_s
        return min(cubic_s, linear_s), linear_s < cubic_s


def window_growth_of(cca: str) -> WindowGrowth | None:
    """Returns the growth under Reno or CUBIC with its parameters; None for other CCAs."""
    flow_cca = parse_flow_cca(cca)
    if flow_cca.name == "reno":
        return WindowGrowth(0.5, 0.0, has_fast_convergence=False, is_reno_friendly=False)
    if flow_cca.name != "cubic":
        return None
    values = default_parameters("cubic") | flow_cca.parameters
    return WindowGrowth(
        float(values["beta"]),
        float(values["c"]),
        has_fast_convergence=values["fast_convergence"] in _ON,
        is_reno_friendly=values["tcp_friendliness"] in _ON,
    )
