"""Estimated path of a captured transfer: its capacity, RTT, buffer and losses, and their bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.policing import Policing
from celltcp.pcap.diagnosis.trains import LinkRate
from celltcp.pcap.estimation.blackouts import Blackout, unknown_ends
from celltcp.pcap.estimation.endpoint_settings import HEADERS_RATIO
from celltcp.pcap.estimation.rerun import Rerun
from celltcp.results.statistics import NORMAL_HALF_WIDTH
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.lower_bounds import (
    FEW_LOSSES,
    LOWER_BOUND,
    MAYBE_POLICED,
    OF_CAPTURE,
    SENDER_LIMIT,
    UNSEEN_OVERFLOW,
)
from celltcp.scenarios.quantity_texts import digits_text

#: MTU of Ethernet, bytes: no buffer is smaller.
MTU = 1_500
#: Node before the phone, of an upload with a policer on a link between both.
POLICED_UPLOADER = "host"
#: Minimum mean number of segments in a burst of losses; random losses of 4 % have fewer.
MIN_LOSS_BURST = 1.5
#: Number of losses with which the 95 % interval of their rate is within a fifth of it.
_MIN_LOSSES = 100
#: Duration of a simulation of a transfer with an end, over that of the capture: other CCAs are slower.
_DURATION_RATIO = 3


@dataclass(frozen=True)
class PathEstimate:
    """Estimated path of a transfer."""

    file: str
    connection: int
    #: `down` if the server sent, `up` if the client did.
    direction: str
    rtt_ms: float
    #: Start of each interval of 100 ms since the first packet, s, and its capacity at the IP layer.
    times_s: NDArray[np.float64]
    capacity_mbps: NDArray[np.float64]
    #: Whether the sender filled the path in an interval; elsewhere the capacity is interpolated.
    is_measured: NDArray[np.bool_]
    #: Rate of the narrowest link by the gaps of trains, if the sender never filled the path.
    link: LinkRate | None
    buffer_bytes: float
    #: Whether an overflow at a known capacity shows the buffer; otherwise it is the longest queue.
    is_buffer_full: bool
    #: Whether an overflow was seen, even at an unknown capacity.
    has_overflow: bool
    #: Most data in flight with headers, bytes; 0 if it is not known, or some of it was dropped.
    flight_bytes: float
    #: Share of the segments that are lost at random, mean number of those that are lost at once, and
    #: number of such bursts.
    random_loss: float
    loss_burst: float
    loss_bursts: int
    #: Policer that dropped the losses; None without one.
    policing: Policing | None
    #: Payload that passed above the rate of the policer before its first drop, bytes.
    burst_bytes: float
    #: Parts of a scenario about the endpoints: windows, segment size, options and CCA.
    endpoints: str
    #: Times in which nothing passed.
    blackouts: tuple[Blackout, ...] = ()
    #: Properties of the path in the capture that the scenario lacks.
    left_out: tuple[str, ...] = ()
    #: What the answers of requests show of the capacity, as text; empty without requests.
    answers_text: str = ""
    #: Number of other transfers between the same hosts meanwhile, and what they carried, Mbit/s.
    others: int = 0
    others_mbps: float = 0.0
    #: Connection that sends in the opposite direction, in whose queue the ACKs may wait; None without.
    opposite: int | None = None
    #: Start of the transfer in the scenario, s: others that share the path may be before it.
    start_s: float = 0.0
    #: Flows beside it, and links of servers with a longer RTT, as TOML.
    flows_beside: str = ""
    server_links: str = ""
    #: Link of the other direction as TOML if `opposite` fills it; empty without.
    reverse_link: str = ""
    #: Whether its losses may be those of a policer: they are too few to decide.
    may_be_policed: bool = False
    #: p-value of the RTTs at losses, if these are independent of the queue; whether a queue discipline
    #: (AQM) explains them.
    p_value_of_losses: float = 1.0
    has_discipline: bool = False
    #: Simulation of the scenario, beside the capture; None before it.
    rerun: Rerun | None = None
    #: By need, the CCAs of which each is best with some ends of the blackouts; None if not tried.
    best_by_ends: Mapping[str, Sequence[str]] | None = None

    @property
    def mean_mbps(self) -> float:
        """Mean capacity, Mbit/s."""
        return float(self.capacity_mbps.mean())

    @property
    def measured_share(self) -> float:
        """Share of the time in which the capacity could be measured."""
        return float(self.is_measured.mean())

    @property
    def transfer_s(self) -> float:
        """Duration of the transfer, s; at least a second."""
        return max(float(self.times_s[-1]), 1.0)

    @property
    def is_finite(self) -> bool:
        """Whether the capture has the end of the transfer."""
        return "bytes = " in self.endpoints or "count = " in self.endpoints

    @property
    def duration_s(self) -> float:
        """Duration of the scenario, s."""
        return _DURATION_RATIO * self.transfer_s if self.is_finite else self.transfer_s

    @property
    def scenario_buffer_bytes(self) -> float:
        """Buffer for simulations: without an overflow at least a BDP, and what was in flight beyond it.

        The longest queue of a sender that never filled the buffer would make it a shallow one.
        """
        bdp = self._bdp
        unseen = max(bdp, self.flight_bytes - bdp)
        return max(self.buffer_bytes, MTU if self.has_overflow else unseen)

    @property
    def _bdp(self) -> float:
        return 125 * self.mean_mbps * self.rtt_ms

    @property
    def buffer_note(self) -> str:
        """Text about the certainty of the buffer; empty if an overflow shows it."""
        if self.is_buffer_full:
            return ""
        if self.opposite is not None:
            return "unknown; the scenario has one bandwidth-delay product"
        if self.has_overflow:
            return "lower bound: by overflow, beside a capacity that is one"
        if self.scenario_buffer_bytes == self.buffer_bytes:
            return "lower bound: no overflow observed"
        is_bdp = self.scenario_buffer_bytes == self._bdp
        size = "one bandwidth-delay product" if is_bdp else "room for all that was in flight"
        return (
            f"lower bound: no overflow observed; the scenario has {size}, "
            f"{self.scenario_buffer_bytes / 1e3:.0f} kB"
        )

    @property
    def loss_rate_text(self) -> str:
        """Score interval of the loss rate as text, by the number of loss events; empty without any.

        That number has Poisson's distribution. The goodput of Reno is as the power -1/2 of the rate,
        that of CUBIC as the power -3/4.
        """
        if not self.loss_bursts:
            return ""
        events, square = self.loss_bursts, NORMAL_HALF_WIDTH**2
        center, half = events + square / 2, math.sqrt(square * (events + square / 4))
        low, high = (
            digits_text(100 * self.random_loss * bound / events, 2)
            for bound in (center - half, center + half)
        )
        return f"{count_text(events, 'loss event')}: {low} to {high} % (95 % interval)"

    @property
    def others_text(self) -> str:
        """What other transfers took of the path, as text; empty without any."""
        if not self.others:
            return ""
        noun = "connection" if self.others == 1 else "connections"
        rate = f"{self.others_mbps:.2f} Mbit/s"
        return f"{self.others} other {noun} between the same hosts took {rate} meanwhile"

    @property
    def description(self) -> str:
        """Description of the scenario; simulations warn if it has lower bounds."""
        texts = [f"{OF_CAPTURE}{self.connection} in {Path(self.file).name}."]
        if not self.is_measured.any() and self.link is None:
            texts.append(f"Its capacity {LOWER_BOUND}: {self._why_unmeasured}.")
        elif self.others:
            texts.append(f"Its capacity {LOWER_BOUND}, as is its buffer: {self.others_text}.")
        if self.has_overflow and not self.is_buffer_full:
            texts.append(f"Its buffer {LOWER_BOUND}, as the capacity is one.")
        elif self.opposite is None and not self.is_buffer_full:
            texts.append(f"Its buffer {LOWER_BOUND}: {UNSEEN_OVERFLOW}.")
        if self.link is not None:
            gaps_text = self.link.gaps_text(HEADERS_RATIO)
            texts.append(f"Its capacity is {gaps_text}: the sender never filled the path for 100 ms.")
        if 0 < self.loss_bursts < _MIN_LOSSES:
            texts.append(f"{FEW_LOSSES}{self.loss_rate_text}.")
        if self.may_be_policed and self.random_loss:
            texts.append(f"{MAYBE_POLICED}: then none has more goodput than at its rate.")
        if ends := unknown_ends(self.blackouts, self.transfer_s, self.best_by_ends):
            texts.append(ends)
        if "# for the limit of the sender" in self.endpoints:
            texts.append(SENDER_LIMIT)
        if self.rerun is not None and self.rerun.sentence:
            texts.append(self.rerun.sentence)
        return " ".join(texts)

    @property
    def capacity_note(self) -> str:
        """Text about the time in which the capacity was measured."""
        if self.is_measured.any():
            others = f"; {self.others_text}" if self.others else ""
            return f"measured in {100 * self.measured_share:.0f} % of the time{others}"
        if self.link is not None:
            return self.link.gaps_text(HEADERS_RATIO)
        return f"at least: {self._why_unmeasured}"

    @property
    def _why_unmeasured(self) -> str:
        if self.opposite is None:
            return self.answers_text or "the sender never filled the path for 100 ms"
        return f"ACKs may have waited behind connection {self.opposite}, which sends the other way"
