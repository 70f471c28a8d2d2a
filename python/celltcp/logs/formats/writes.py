"""Rates of an iperf sender: writes into the send buffer, not deliveries."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from celltcp.logs.formats.report_lines import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Maximum relative difference of the mean delivered rate from the mean written rate.
_MEAN_TOLERANCE = 0.02


class Writes(NamedTuple):
    """Intervals of a sender."""

    intervals: Sequence[Interval]
    #: Maximum data in flight, bits; 0 if unknown. The send buffer holds at least as much.
    in_flight: float = 0.0
    #: Mean rate that the receiver reported, bit/s.
    received_bps: float | None = None
    is_udp: bool = False

    @property
    def warning(self) -> str:
        """Reason why they are no capacity, and the rates that are used instead."""
        if self.is_udp:
            what = "its rates are what the sender sent over UDP, not what arrived"
        else:
            what = "its rates are what the sender wrote into its send buffer, not what arrived"
        mean = ""
        if self.received_bps is not None:
            mean = f" (on average {self.received_bps / 1e6:.3f} Mbit/s, as the receiver said)"
        used = "" if self.is_udp else " Used are the steadiest rates that fit."
        return (
            f"{what}{mean}.{used} iperf3 --get-server-output, or the receiver's log, has what arrived"
        )

    def delivered(self) -> list[Interval]:
        """Returns the steadiest deliveries that fit the writes and a send buffer.

        What is written and not yet delivered is in the send buffer. An interval without writes is no
        outage of the link, but the time in which the buffer emptied.
        """
        result: list[Interval] = []
        for run in _runs(self.intervals):
            result += self._of_run(run)
        return result

    def _of_run(self, run: Sequence[Interval]) -> list[Interval]:
        seconds = [(interval.end_ns - interval.start_ns) / 1e9 for interval in run]
        written = list(
            itertools.accumulate(
                (length * interval.bps for length, interval in zip(seconds, run, strict=True)),
                initial=0.0,
            )
        )
        times = list(itertools.accumulate(seconds, initial=0.0))
        whole = written[-1]
        is_one = len(run) == len(self.intervals)
        arrived = whole
        if self.received_bps is not None and is_one:
            arrived = min(self.received_bps * times[-1], whole)
        if self.is_udp:
            # No data waits in a buffer: missing data was lost, at unknown times.
            share = arrived / whole if whole and arrived < (1 - _MEAN_TOLERANCE) * whole else 1.0
            return [interval._replace(bps=share * interval.bps) for interval in run]
        buffer = max(self.in_flight, whole - arrived)
        if not buffer:
            return list(run)
        lowest = [max(each - buffer, 0.0) for each in written]
        lowest[-1] = written[-1] = arrived
        rates = _steadiest(times, lowest, written)
        return [interval._replace(bps=bps) for interval, bps in zip(run, rates, strict=True)]


def _runs(intervals: Sequence[Interval]) -> list[list[Interval]]:
    """Returns tests that are one after another; each begins anew."""
    result: list[list[Interval]] = []
    for interval in intervals:
        if not result or interval.start_ns < result[-1][-1].start_ns:
            result.append([])
        result[-1].append(interval)
    return result


def _steadiest(times: list[float], lowest: list[float], highest: list[float]) -> list[float]:
    """Returns the slopes of the shortest way between two bounds, which are one at both ends.

    Args:
        times: moments of the bounds.
        lowest: lower bound at each of them.
        highest: upper bound at each of them.
    """
    rates: list[float] = []
    at, height, last = 0, 0.0, len(times) - 1
    while at < last:
        least, most = float("-inf"), float("inf")
        least_at = most_at = at + 1
        bend, to = last, highest[last]
        for position in range(at + 1, last + 1):
            length = times[position] - times[at]
            below, above = (lowest[position] - height) / length, (highest[position] - height) / length
            if below > most:
                bend, to = most_at, highest[most_at]
                break
            if above < least:
                bend, to = least_at, lowest[least_at]
                break
            if below >= least:
                least, least_at = below, position
            if above <= most:
                most, most_at = above, position
        rates += [(to - height) / (times[bend] - times[at])] * (bend - at)
        at, height = bend, to
    return rates
