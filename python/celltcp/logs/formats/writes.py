"""Rates of an iperf sender, which are writes into its send buffer, and estimated deliveries."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from celltcp.logs.formats.report_lines import Interval
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Maximum relative difference of the mean delivered rate from the mean written rate.
_MEAN_TOLERANCE = 0.02


class Writes(NamedTuple):
    """Intervals in which a sender wrote data."""

    intervals: Sequence[Interval]
    #: Maximum data in flight, bits; 0 if unknown. The send buffer holds at least as much.
    in_flight: float = 0.0
    #: Mean rate that the receiver reported, bit/s; None without its report.
    received_bps: float | None = None
    is_udp: bool = False
    #: Whether the sender waited for time-outs, so that nothing arrived; empty if unknown.
    timed_out: Sequence[bool] = ()

    @property
    def warning(self) -> str:
        """Reason why the rates are no capacity, and the rates that are used instead."""
        verb = "sent over UDP" if self.is_udp else "wrote into its send buffer"
        mean_text = ""
        if self.received_bps is not None:
            mean_text = f" (on average {self.received_bps / 1e6:.3f} Mbit/s, as the receiver said)"
        used_text = "" if self.is_udp else self._used_text
        return (
            f"its rates are what the sender {verb}, not what arrived{mean_text}.{used_text} iperf3 "
            "--get-server-output, or the receiver's log, has what arrived"
        )

    @property
    def _used_text(self) -> str:
        """Sentence on the rates that are used, with their mean difference from those of the writes."""
        used = self.delivered()
        bits = sum(_length_s(interval) * interval.bps for interval in self.intervals)
        moved = sum(
            _length_s(new) * abs(new.bps - old.bps)
            for new, old in zip(used, self.intervals, strict=True)
        )
        if not moved or not bits:
            return ""
        return (
            " Used are the steadiest deliveries that fit the writes and a send buffer, on average "
            f"{three_digits(100 * moved / bits)} % from the writes."
        )

    def delivered(self) -> list[Interval]:
        """Returns the steadiest deliveries that fit the writes and a send buffer.

        What is written and not yet delivered is in the send buffer. An interval without writes is no
        outage of the link, but the time in which the buffer emptied, unless TCP waited for time-outs.
        """
        waits = iter(self.timed_out or [False] * len(self.intervals))
        result = []
        for test in _tests(self.intervals):
            are_waits = list(itertools.islice(waits, len(test)))
            busy = [interval for interval, is_wait in zip(test, are_waits, strict=True) if not is_wait]
            delivered = iter(self._delivered_in(busy, length_s=sum(map(_length_s, test))))
            result += [
                interval if is_wait else next(delivered)
                for interval, is_wait in zip(test, are_waits, strict=True)
            ]
        return result

    def _delivered_in(self, test: Sequence[Interval], length_s: float) -> list[Interval]:
        """Returns the deliveries in the intervals of a test that lasts `length_s` with its waits."""
        lengths_s = list(map(_length_s, test))
        amounts = (length * interval.bps for length, interval in zip(lengths_s, test, strict=True))
        # Bits written, and times, at the bounds of the intervals.
        written = list(itertools.accumulate(amounts, initial=0.0))
        times_s = list(itertools.accumulate(lengths_s, initial=0.0))
        total = arrived = written[-1]
        if self.received_bps is not None and len(_tests(self.intervals)) == 1:
            arrived = min(self.received_bps * length_s, total)
        if self.is_udp:
            # No data waits in a buffer: missing data was lost, at unknown times.
            share = arrived / total if total and arrived < (1 - _MEAN_TOLERANCE) * total else 1.0
            return [interval._replace(bps=share * interval.bps) for interval in test]
        buffer = max(self.in_flight, total - arrived)
        if not buffer:
            return list(test)
        min_delivered = [max(bits - buffer, 0.0) for bits in written]
        min_delivered[-1] = written[-1] = arrived
        rates = _steadiest_rates(times_s, min_delivered, written)
        return [interval._replace(bps=bps) for interval, bps in zip(test, rates, strict=True)]


def _length_s(interval: Interval) -> float:
    return (interval.end_ns - interval.start_ns) / 1e9


def _tests(intervals: Sequence[Interval]) -> list[list[Interval]]:
    """Returns the intervals by test; a test begins where times step back."""
    tests: list[list[Interval]] = []
    for interval in intervals:
        if not tests or interval.start_ns < tests[-1][-1].start_ns:
            tests.append([])
        tests[-1].append(interval)
    return tests


def _steadiest_rates(times_s: list[float], lower: list[float], upper: list[float]) -> list[float]:
    """Returns the slopes of the shortest curve between two bounds that meet at both ends.

    The bounds are bits at each time.
    """
    rates: list[float] = []
    start, bits, last = 0, 0.0, len(times_s) - 1
    while start < last:
        min_slope, max_slope = float("-inf"), float("inf")
        min_index = max_index = start + 1
        bend, bend_bits = last, upper[last]
        for index in range(start + 1, last + 1):
            length_s = times_s[index] - times_s[start]
            lower_slope, upper_slope = ((bound[index] - bits) / length_s for bound in (lower, upper))
            if lower_slope > max_slope:
                bend, bend_bits = max_index, upper[max_index]
                break
            if upper_slope < min_slope:
                bend, bend_bits = min_index, lower[min_index]
                break
            if lower_slope >= min_slope:
                min_slope, min_index = lower_slope, index
            if upper_slope <= max_slope:
                max_slope, max_index = upper_slope, index
        rates += [(bend_bits - bits) / (times_s[bend] - times_s[start])] * (bend - start)
        start, bits = bend, bend_bits
    return rates
