"""Growth of a congestion window after losses: it limits a sender while no queue stands."""

from __future__ import annotations

import math

import numpy as np

from celltcp.pcap.diagnosis.evidence import Evidence, max_passed_mbps
from celltcp.scenarios.quantity_texts import size_text, three_digits, time_text

#: Words of sentences with such a clause.
WINDOW_LIMIT = "the congestion window is the limit"
#: Minimum number of intervals, and of round trips, over which the growth of a window shows.
_MIN_INTERVALS, _MIN_ROUND_TRIPS = 30, 10
#: Range of the growth, segments a round trip: up to one by Reno with an ACK for each segment.
_MIN_GROWTH, _MAX_GROWTH = 0.2, 2.0
#: Maximum data in flight after losses, as a share of those before, that is a reduction of the window.
_MAX_REDUCED = 0.9
#: Minimum coefficient of determination of a straight line through the data in flight.
_MIN_DETERMINATION = 0.9


def growth_text(evidence: Evidence, after_s: float) -> str:
    """Returns a clause on the window that limits a sender after its losses; empty where none shows.

    The data in flight then grow evenly, by about a segment a round trip (RFC 5681, section 3.1), while
    the RTT is at its lowest.

    Args:
        evidence: evidence of a connection whose capture is at the sender.
        after_s: end of the losses, after which no queue stands, s.
    """
    # The first RTTs after the losses belong to their recovery.
    rtt_s = evidence.rtt_or_zero_ms / 1e3
    later = evidence.steady
    later = later[later["t_s"] > after_s + 2 * rtt_s].dropna(subset=["in_flight_max"])
    if len(later) < _MIN_INTERVALS or not rtt_s > 0:
        return ""
    times_s, flights = later["t_s"].to_numpy(float), later["in_flight_max"].to_numpy(float)
    if times_s[-1] - times_s[0] < _MIN_ROUND_TRIPS * rtt_s or not np.ptp(flights) > 0:
        return ""
    slope, start = np.polyfit(times_s - times_s[0], flights, 1)
    determination = float(np.corrcoef(times_s, flights)[0, 1] ** 2)
    growth = slope * rtt_s / evidence.segment_bytes
    if determination < _MIN_DETERMINATION or not _MIN_GROWTH <= growth <= _MAX_GROWTH:
        return ""
    end = start + slope * (times_s[-1] - times_s[0])
    rates = [three_digits(8e-6 * flight / rtt_s) for flight in (start, end)]
    rates_text = rates[0] if rates[0] == rates[1] else f"{rates[0]} to {rates[1]}"
    text = (
        f"{WINDOW_LIMIT}: the data in flight grow from {size_text(start)} to "
        f"{size_text(end)}, by {three_digits(growth)} segments a round trip, which gives {rates_text} "
        f"Mbit/s at the lowest RTT of {three_digits(1e3 * rtt_s)} ms"
    )
    own = evidence.sender_intervals
    early = own[own["t_s"] <= after_s]
    before = float(early["in_flight_max"].max())
    if not start <= _MAX_REDUCED * before:
        return text
    repaired_s = float(evidence.true_losses["repaired_s"].max())
    repaired_text = "" if math.isnan(repaired_s) else f", repaired by {time_text(repaired_s)},"
    # They may have been more than path and buffer hold, so that none will be as many again.
    passed = three_digits(max_passed_mbps(early))
    return (
        f"{text}; before the losses{repaired_text} they were {size_text(before)}, and up to {passed} "
        "Mbit/s passed"
    )
