"""Steady state of a bulk flow that random losses limit: the laws of Reno and CUBIC (RFC 9438)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from celltcp.results.statistics import NORMAL_HALF_WIDTH
from celltcp.scenarios.cca_mix import parse_flow_cca

#: Names, multiplicative decreases, and constants C of the cubic function, of the CCAs with a law.
_LAWS = {"reno": ("Reno", 0.5, 0.0), "cubic": ("CUBIC", 0.7, 0.4)}

#: Parameters with which the law is another one.
_OF_LAW = {"beta", "c", "tcp_friendliness", "fast_convergence"}


#: Mean window with independent losses by that of the law, whose losses are periodic. Of CUBIC it is
#: 1.17 to 1.25 in runs with 100 to 400 losses, at RTTs of 100 and 200 ms and loss rates of 0.01 to
#: 0.1 %. Of Reno it is 1.31/1.22 (Mathis et al., 1997, table 1), and 1.02 to 1.08 in runs with 2500
#: losses, up to the loss rate below; beyond it, recoveries take as much.
_CUBIC_GAIN, _RENO_GAIN, _MAX_RENO_GAIN_LOSS = 1.2, 1.07, 2e-3

#: Standard deviation of the goodput over many independent losses by its mean, times the root of their
#: number: that of the renewal process with an exponential number of segments from loss to loss.
_RENO_SPREAD, _FRIENDLY_SPREAD, _CUBIC_SPREAD = 0.52, 0.50, 0.83
#: Variance of the segments that a start-up adds, in those from loss to loss: 0 to 40 in 24 runs each at
#: RTTs of 60 to 150 ms and loss rates of 0.01 to 0.1 %.
_START_UP_VARIANCE = 25.0


class SteadyState(NamedTuple):
    """Law of the average window of a CCA under random losses, each of which reduces the window once.

    The window of Reno, and of CUBIC in its Reno-friendly region, is √(3/2p) segments (RFC 9438, section
    4.3); a receiver that delays ACKs changes nothing, as Linux counts the segments that an ACK reports.
    The cubic function has (C (3 + beta) / (4 (1 - beta)))^¼ (RTT/p)^¾ (section 5.1), and the larger one
    holds. The losses of both are periodic. With independent ones, the Reno-friendly region has about as
    much up to 0.1 %, and 0.8 times as much at 1 %, where many round trips are recoveries.
    """

    #: Name of the CCA.
    name: str
    beta: float
    cubic_constant: float

    def window(self, loss: float, rtt_s: float) -> float:
        """Returns the average window at a loss rate, segments."""
        return max(math.sqrt(1.5 / loss), self._cubic_factor * math.pow(rtt_s / loss, 0.75))

    def tolerated_loss(self, window: float, rtt_s: float) -> float:
        """Returns the loss rate at which the average window is this one, in segments."""
        return max(1.5 / window**2, rtt_s * math.pow(self._cubic_factor / window, 4 / 3))

    def longest_rtt_s(self, loss: float, segments_per_s: float) -> float:
        """Returns the RTT up to which the rate at a loss rate is at least this one, s.

        CUBIC is in its Reno-friendly region at short RTTs, as `formula` says of that RTT.
        """
        of_reno = math.sqrt(1.5 / loss) / segments_per_s
        of_cubic = math.pow(self._cubic_factor / segments_per_s, 4) / loss**3
        return max(of_reno, of_cubic)

    @property
    def _cubic_factor(self) -> float:
        return math.sqrt(math.sqrt(self.cubic_constant * (3 + self.beta) / (4 * (1 - self.beta))))

    @property
    def source(self) -> str:
        """Publication of the law."""
        return "RFC 9438" if self.cubic_constant else "Mathis et al., 1997"

    def formula(self, loss: float, rtt_s: float) -> str:
        """Returns the rate at a loss rate p as a formula, with its source."""
        if self.is_cubic(loss, rtt_s):
            return f"{self._cubic_factor:.3g} MSS / (RTT^1/4 p^3/4) ({self.source})"
        region = " in its Reno-friendly region" if self.cubic_constant else ""
        return f"MSS/RTT · √(3/2p){region} ({self.source})"

    def independent_text(self, loss: float, rtt_s: float) -> str:
        """Returns what follows the rate where losses are independent; empty where it hardly differs."""
        gain = _CUBIC_GAIN if self.is_cubic(loss, rtt_s) else _RENO_GAIN
        if gain == _RENO_GAIN and (self.cubic_constant or loss > _MAX_RENO_GAIN_LOSS):
            return ""
        return f" with periodic losses, {gain} times as much with these independent ones"

    def half_width(self, losses: float, runs: int, loss: float, rtt_s: float) -> float:
        """Returns the half width of the 95 % interval of the mean goodput of some runs, as its share.

        Args:
            losses: expected number of independent losses in each run.
            runs: number of runs.
            loss: loss rate.
            rtt_s: RTT, s.
        """
        variance = self._spread(loss, rtt_s) ** 2 * losses + _START_UP_VARIANCE
        return NORMAL_HALF_WIDTH * math.sqrt(variance / runs) / losses

    def losses_for(self, half_width: float, runs: int, loss: float, rtt_s: float) -> int:
        """Returns the number of losses in each of some runs with which `half_width` is this share."""
        per_loss = (NORMAL_HALF_WIDTH / half_width) ** 2 / runs
        linear = per_loss * self._spread(loss, rtt_s) ** 2 / 2
        return math.ceil(linear + math.sqrt(linear**2 + per_loss * _START_UP_VARIANCE))

    def _spread(self, loss: float, rtt_s: float) -> float:
        if self.is_cubic(loss, rtt_s):
            return _CUBIC_SPREAD
        return _FRIENDLY_SPREAD if self.cubic_constant else _RENO_SPREAD

    def is_cubic(self, loss: float, rtt_s: float) -> bool:
        """Returns whether the cubic function decides the average window at a loss rate."""
        return self._cubic_factor * math.pow(rtt_s / loss, 0.75) > math.sqrt(1.5 / loss)


def steady_state_of(cca: str) -> SteadyState | None:
    """Returns the law of a CCA with its default parameters; None for others."""
    flow_cca = parse_flow_cca(cca)
    if flow_cca.name not in _LAWS or not _OF_LAW.isdisjoint(flow_cca.parameters):
        return None
    return SteadyState(*_LAWS[flow_cca.name])


def random_loss_rate(scenario: Mapping[str, Any], *, is_upload: bool) -> float:
    """Returns the probability at which the path loses a packet; 0 if no loss is independent of others.

    Args:
        scenario: scenario, parsed from its file.
        is_upload: whether the packets are those of an upload.
    """
    path = scenario.get("path", {})
    field = "uplink_loss" if is_upload else "loss"
    losses = [path.get(field, 0.0), *(hop.get("loss", 0.0) for hop in path.get("wired", ()))]
    if not all(isinstance(loss, int | float) for loss in losses):
        return 0.0
    # Without the rounding error of the difference, so that a limit of 1 % includes a loss of 1 %.
    return round(1.0 - math.prod(1.0 - float(loss) for loss in losses), 15)
