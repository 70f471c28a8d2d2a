"""A flow under a congestion control, with its metrics, the causes of these, and its longest events."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.causes.cause import number_text, percent_text
from celltcp.comparison.explanation.evidence.evidence import MIN_LIMITED_SHARE
from celltcp.comparison.explanation.kinds import Trait, names_with
from celltcp.scenarios.frames import MAX_FRAME_SHARE
from celltcp.scenarios.quantity_texts import delay_text, rate_text, size_text, three_digits

if TYPE_CHECKING:
    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.causes.events import Event
    from celltcp.comparison.explanation.causes.sawtooth import Sawtooth
    from celltcp.comparison.explanation.standing import Standing

#: Limits in which the congestion window holds data back.
_WINDOW_LIMITS = ("startup", "congestion_window", "recovery", "timeout")
#: Causes that leave the congestion window as it is, and minimum weight of other causes.
_CAUSES_BESIDE_WINDOW = names_with(Trait.BESIDE_CWND)
_MIN_WINDOW_CAUSE = 0.01
#: Share of the time below which a text says that a rate is that of a part of it.
_MAX_ACTIVE_SHARE = 0.9


class ExplainedCca(NamedTuple):
    """A flow under a congestion control or CCA mix, with the causes of its metrics."""

    cca: str
    flow: str
    #: Whether the flow sends now and then, so that its goodput and share of the capacity say nothing.
    is_intermittent: bool
    #: Mean goodput, Mbit/s, and mean RTT, ms.
    goodput_mbps: float
    rtt_mean_ms: float
    #: What delayed ACKs add to that RTT, as text; empty for little.
    delayed_acks_text: str
    #: Share of the capacity left by other flows that the flow used; NaN if the capacity is not known.
    used_share: float
    #: Half width of its 95 % interval over the runs; NaN without one.
    used_half_width: float
    #: Whether other flows took a share of the capacity.
    is_shared: bool
    #: Share of the time of the runs in its transfers; 1 without any that have an end.
    active_share: float
    #: Rate of the frames of the application, Mbit/s; None for other applications.
    frames_mbps: float | None
    #: Goodput of frames from the request of their connections on, Mbit/s.
    frames_goodput_mbps: float
    standing: Standing
    #: Share of the time under each limit; empty for results of earlier versions.
    limits: dict[str, float]
    #: Kind of the units of work, and the flow, such as `response:game`; empty without units.
    unit_key: str
    causes: list[Cause]
    events: list[Event]
    #: Mean and largest congestion window, segments, and bytes of a segment.
    cwnd_mean: float
    cwnd_max: float
    mss: float
    #: Share of the segments that were sent again.
    resent_share: float
    sawtooth: Sawtooth
    #: Sentence on unequal shares of the connections of the flow; empty without them.
    shares_text: str

    def cause_text(self, name: str) -> str:
        """Returns the sentence of a cause; empty without that cause."""
        return next((cause.text for cause in self.causes if cause.name == name), "")

    @property
    def window_text(self) -> str:
        """The congestion window as text; empty unless it limits `MIN_LIMITED_SHARE` of the time.

        It is empty, too, if no cause changes the window.
        """
        has_cause = any(
            cause.name not in _CAUSES_BESIDE_WINDOW and cause.weight >= _MIN_WINDOW_CAUSE
            for cause in self.causes
        )
        if not self._is_window_limited or math.isnan(self.cwnd_mean) or not has_cause:
            return ""
        interval_text = ""
        if (interval_s := self.sawtooth.interval_s) > 0 and not self.sawtooth_text:
            interval_text = f", a loss recovery every {three_digits(interval_s)} s"
        return (
            f"Congestion window: {self.cwnd_mean:.1f} segments on average, "
            f"{number_text(self.cwnd_max)} ({size_text(self.cwnd_max * self.mss)}) at "
            f"most{interval_text}."
        )

    @property
    def sawtooth_text(self) -> str:
        """The time between loss recoveries as text; empty unless the window limits the flow."""
        return self.sawtooth.text if self._is_window_limited else ""

    @property
    def start_text(self) -> str:
        """The exit from slow start as text; empty where a cause has it."""
        has_cause = any(cause.name == "overshoot" for cause in self.causes)
        return self.sawtooth.start_text if self._is_window_limited and not has_cause else ""

    @property
    def _is_window_limited(self) -> bool:
        return sum(self.limits.get(name, 0.0) for name in _WINDOW_LIMITS) >= MIN_LIMITED_SHARE

    @property
    def _used_text(self) -> str:
        """The share of the capacity with its interval, where that shows in its digits."""
        text, half = percent_text(self.used_share), 100 * self.used_half_width
        digits = len(text.removesuffix(" %").partition(".")[2])
        if not half >= 0.5 * 10**-digits:
            return text
        return f"{text.removesuffix(' %')} ±{half:.{digits}f} %"

    def metrics_text(self, *, has_capacity_bound: bool = False) -> str:
        """Returns the metrics; `has_capacity_bound` if the capacity is a lower bound, of a capture."""
        metric_texts = [self.standing.metric_text] if self.standing.metric_text else []
        whole = "the lower bound of the capacity" if has_capacity_bound else "the capacity"
        whole = "what other flows left" if self.is_shared else whole
        if math.isnan(self.goodput_mbps):
            metric_texts.append("no data arrived")
        elif self.frames_mbps is not None:
            if self.frames_goodput_mbps < MAX_FRAME_SHARE * self.frames_mbps:
                rates = map(rate_text, (self.frames_goodput_mbps, self.frames_mbps))
                share_text = ""
                if not math.isnan(self.used_share):
                    needed = self.used_share * self.frames_mbps / self.frames_goodput_mbps
                    all_text = f"; all of them need {percent_text(needed)}" if needed < 1.0 else ""
                    share_text = f" ({self._used_text} of {whole}{all_text})"
                metric_texts.append(f"{' of the '.join(rates)} of its frames{share_text}")
        elif not self.is_intermittent:
            share_text = ""
            if not math.isnan(self.used_share):
                share_text = f" ({self._used_text} of {whole})"
            # Rates of flows that send at different times may exceed that of the link together.
            is_part = self.is_shared and self.active_share < _MAX_ACTIVE_SHARE
            while_text = " while it sends" if is_part else ""
            metric_texts.append(f"{rate_text(self.goodput_mbps)}{while_text}{share_text}")
        if not math.isnan(self.rtt_mean_ms):
            metric_texts.append(f"mean RTT {delay_text(self.rtt_mean_ms)}{self.delayed_acks_text}")
        return ", ".join(metric_texts)
