"""Growth of a congestion window after losses: it limits a sender while no queue stands."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from celltcp.pcap.diagnosis.causes import Cause, Sentence, named
from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.scenarios.quantity_texts import size_text, three_digits, time_text

#: Minimum number of intervals, and of round trips, over which the growth of a window shows.
_MIN_INTERVALS, _MIN_ROUND_TRIPS = 30, 10
#: Range of the growth, segments a round trip: up to one by Reno with an ACK for each segment.
_MIN_GROWTH, _MAX_GROWTH = 0.2, 2.0
#: Range of the growth by Reno, segments a round trip. CUBIC's in its Reno-friendly region is 0.53.
_MIN_RENO, _MAX_RENO = 0.8, 1.2
#: Maximum data in flight after losses, as a share of those before, that is a reduction of the window.
_MAX_REDUCED = 0.9
#: Maximum data before the first loss, as a share of a round trip, that come in bursts.
_MAX_BURST = 0.9
#: Minimum coefficient of determination of a straight line through the data in flight.
_MIN_DETERMINATION = 0.9
#: Number of intervals at the start and at the end.
_ENDS = 3


class Growth(NamedTuple):
    """Data in flight that grow evenly: bytes at the start and the end, and segments a round trip."""

    start: float
    end: float
    segments: float
    #: Growth, bytes/s.
    rate: float
    #: Mean RTT meanwhile, s.
    rtt_s: float
    #: Acknowledged payload at its start and end, Mbit/s.
    rates_mbps: tuple[float, float]

    @property
    def is_reno(self) -> bool:
        """Whether the growth is that of Reno, a segment a round trip (RFC 5681, section 3.1)."""
        return _MIN_RENO <= self.segments <= _MAX_RENO


def window_growth(evidence: Evidence, after_s: float) -> Growth | None:
    """Returns the even growth of the data in flight after losses; None where none shows.

    They grow by about a segment a round trip, while the RTT is at its lowest.

    Args:
        evidence: evidence of a connection whose capture is at the sender.
        after_s: end of the losses, after which no queue stands, s.
    """
    # The first RTTs after the last repair belong to the recovery.
    rtt_s = evidence.rtt_or_zero_ms / 1e3
    later = evidence.steady
    begin_s = max(after_s, _repaired_s(evidence, after_s)) + 2 * rtt_s
    later = later[later["t_s"] > begin_s].dropna(subset=["in_flight_max"])
    if len(later) < _MIN_INTERVALS or not rtt_s > 0:
        return None
    times_s, flights = later["t_s"].to_numpy(float), later["in_flight_max"].to_numpy(float)
    if times_s[-1] - times_s[0] < _MIN_ROUND_TRIPS * rtt_s or not np.ptp(flights) > 0:
        return None
    slope = float(np.polyfit(times_s - times_s[0], flights, 1)[0])
    determination = float(np.corrcoef(times_s, flights)[0, 1] ** 2)
    segments = slope * rtt_s / evidence.segment_bytes
    if determination < _MIN_DETERMINATION or not _MIN_GROWTH <= segments <= _MAX_GROWTH:
        return None
    mean_rtt_s = float(later["rtt_mean_ms"].mean()) / 1e3
    start, end = float(np.median(flights[:_ENDS])), float(np.median(flights[-_ENDS:]))
    length_s = float(np.median(np.diff(times_s)))
    acked = later["acked_bytes"].to_numpy(float) * 8e-6 / length_s
    rates_mbps = float(acked[:_ENDS].mean()), float(acked[-_ENDS:].mean())
    return Growth(start, end, segments, slope, mean_rtt_s, rates_mbps)


def grows_as_reno(evidence: Evidence) -> bool:
    """Returns whether the window of a sender grows as Reno's after its only losses."""
    losses = evidence.true_losses
    if not evidence.is_at_sender or losses.empty or not evidence.row["download_s"] > 0:
        return False
    growth = window_growth(evidence, float(losses["t_s"].max()))
    return growth is not None and growth.is_reno


def growth_text(evidence: Evidence, after_s: float) -> Sentence:
    """Returns a clause on the window that limits a sender after its losses; empty where none shows.

    The arguments are those of `window_growth`.
    """
    growth = window_growth(evidence, after_s)
    if growth is None:
        return Sentence()
    start, end, rtt_s = growth.start, growth.end, growth.rtt_s
    rates = [three_digits(each) for each in growth.rates_mbps]
    rates_text = rates[0] if rates[0] == rates[1] else f"{rates[0]} to {rates[1]}"
    text = named(
        Cause.WINDOW_GROWTH,
        f"the congestion window is the limit: the data in flight grow from {size_text(start)} to "
        f"{size_text(end)}, by {three_digits(growth.segments)} segments a round trip"
        f"{', as those of Reno' if growth.is_reno else ''}. That gives {rates_text} Mbit/s at "
        f"a mean RTT of {three_digits(1e3 * rtt_s)} ms",
    )
    own = evidence.sender_intervals
    before = float(own.loc[own["t_s"] <= after_s, "in_flight_max"].max())
    if not start <= _MAX_REDUCED * before:
        return text
    repaired_s = _repaired_s(evidence, after_s)
    repaired_text = f", sent again until {time_text(repaired_s)}," if repaired_s > 0 else ""
    text += f". The losses{repaired_text} had reduced them from {size_text(before)}"
    rate = link_rate(evidence.row)
    full = 0.0 if rate is None else 1e6 / 8 * rate.mbps * rtt_s
    if rate is None or not full > end:
        return text
    first = evidence.true_losses.sort_values(["t_s", "seq"]).iloc[0]
    bursts = Sentence()
    # A sender that spreads its data over the round trip has no queue then.
    if 0 < first["ahead_bytes"] < _MAX_BURST * full:
        ahead = size_text(float(first["ahead_bytes"]))
        bursts = named(
            Cause.BURSTS_OVERFLOWED,
            f". The first loss had {ahead} before it, less than the {size_text(full)} of a round trip: "
            "bursts overflowed the buffer",
        )
    link_text = (
        f". The narrowest link has {rate} Mbit/s of payload by the gaps of bursts, and a round "
        f"trip {size_text(full)}: some {time_text((full - end) / growth.rate)} more until the window "
        "has those"
    )
    return text + link_text + bursts


def _repaired_s(evidence: Evidence, after_s: float) -> float:
    """Returns the time of the last repair of losses up to a time, s; 0 without any."""
    losses = evidence.true_losses
    repaired_s = float(losses.loc[losses["t_s"] <= after_s, "repaired_s"].max())
    return 0.0 if math.isnan(repaired_s) else repaired_s
