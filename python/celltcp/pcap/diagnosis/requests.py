"""Requests of which one is under way at a time: each answer is all that its sender has in flight."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from celltcp.pcap.diagnosis.causes import Cause, Sentence, is_headline, named
from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits

#: Minimum number of requests, and maximum range of an answer around the largest flight, as a share.
_MIN_REQUESTS, _MAX_RANGE = 5, 0.1
#: Minimum number of requests with a mean time: that from the first answer on lacks the first request.
_MIN_CYCLES = 20
#: Maximum data of the requests, as a share of the answers.
_MAX_REQUEST_SHARE = 0.1
#: Range of the time of a request and its answer, RTTs, where the capture does not show the flight.
_MIN_RTTS, _MAX_RTTS = 0.95, 3.0
#: Minimum time in which an answer passes, as a share of the RTT: the error of the RTT.
_MIN_PASSING_SHARE = 0.05
#: Time in which an answer passes, over the median wait of its segments in the queue that it makes.
_PASSING_RATIO = 2
#: Minimum time that counts as a wait of an application, ms.
_MIN_WAIT_MS = 0.5


class Requests(NamedTuple):
    """Requests of the receiver, one at a time, with means of their sizes and times."""

    number: int
    request_bytes: float
    answer_bytes: float
    #: Time from one request to the next, and what of it each application waited, ms.
    cycle_ms: float
    think_ms: float
    gap_ms: float
    rtt_ms: float

    @property
    def answer_mbps(self) -> float:
        """Rate at which an answer passes at least, Mbit/s of payload.

        What is left of the time beside RTT and applications is what the path and the hosts take.
        """
        return 8e-3 * self.answer_bytes / self.passing_ms

    @property
    def passing_ms(self) -> float:
        """Time in which an answer passes at most, ms."""
        rest_ms = self.cycle_ms - self.rtt_ms - self.think_ms - self.gap_ms
        return max(rest_ms, _MIN_PASSING_SHARE * self.rtt_ms)

    def at_link(self, mbps: float) -> Requests:
        """Returns the requests on a link of this rate: applications take the rest of their time."""
        waited_ms = self.passing_ms - 8e-3 * self.answer_bytes / mbps
        return self._replace(gap_ms=self.gap_ms + waited_ms) if waited_ms >= _MIN_WAIT_MS else self

    def rate_text(self, segment_bytes: float) -> str:
        """Returns what the answers show of the capacity, as text."""
        size = size_text(self.answer_bytes)
        if self.answer_bytes <= segment_bytes:
            return f"answers of {size} are single segments, which show no rate"
        return f"answers of {size} are sent at once, and the sender waits after each"

    @property
    def largest_mbps(self) -> float:
        """Rate that the RTT allows, Mbit/s."""
        return 8e-3 * self.answer_bytes / self.rtt_ms


def requests_of(row: Mapping[Hashable, Any]) -> Requests | None:
    """Returns the requests that the receiver makes one at a time; None where the capture has none.

    At the sender, the answer to each message of the receiver is as much as is in flight at most.
    Elsewhere, an answer is more than what passes in an RTT, and takes one to three RTTs.
    """
    direction, other = ("down", "up") if row["direction"] == "down" else ("up", "down")
    count, sent, rtt_ms = row[f"segments_{other}"], row[f"bytes_{direction}"], row["rtt_min_ms"]
    if count < _MIN_REQUESTS or not 0 < row[f"bytes_{other}"] < _MAX_REQUEST_SHARE * sent:
        return None
    answer, cycle_ms = sent / count, 1e3 * row["download_s"] / count
    if not rtt_ms > 0:
        return None
    if row["place"] == "sender":
        if abs(answer / row["in_flight_max"] - 1) > _MAX_RANGE:
            return None
    else:
        flight = 125 * row["throughput_mbps"] * max(rtt_ms, row["near_rtt_p50_ms"])
        if (
            not _MIN_RTTS * rtt_ms <= cycle_ms <= _MAX_RTTS * rtt_ms
            or flight > (1 + _MAX_RANGE) * answer
        ):
            return None
    return _requests(row, int(count), cycle_ms)


def _requests(row: Mapping[Hashable, Any], count: int, cycle_ms: float) -> Requests:
    """Returns a number of requests of the receiver, each of which takes a mean time, ms."""
    direction, other = ("down", "up") if row["direction"] == "down" else ("up", "down")
    answer, rtt_ms = row[f"bytes_{direction}"] / count, float(row["rtt_min_ms"])
    think_ms = 1e3 * row[f"turns_{direction}_s"] / count
    gap_ms = 1e3 * row[f"turns_{other}_s"] / count
    if row["place"] == "sender":
        # Waits shorter than an RTT do not show where an ACK comes with the next request. The RTT of a
        # single segment has the time in which it passes.
        passing_ms = _PASSING_RATIO * float(row["far_rtt_p50_ms"] - row["far_rtt_min_ms"])
        if answer <= row["segment_max"]:
            passing_ms = 0.0
        gap_ms = max(cycle_ms - rtt_ms - think_ms - passing_ms, 0.0)
    think_ms, gap_ms = (ms if ms >= _MIN_WAIT_MS else 0.0 for ms in (think_ms, gap_ms))
    return Requests(count, row[f"bytes_{other}"] / count, answer, cycle_ms, think_ms, gap_ms, rtt_ms)


def single_requests(evidence: Evidence) -> Sentence:
    """Requests of which one is under way at a time, at the sender: nothing else limits them."""
    requests = waiting_requests(evidence)
    if requests is None or requests.answer_bytes < (1 - _MAX_RANGE) * evidence.row["in_flight_max"]:
        return Sentence()
    return requests_text(evidence, requests)


def waiting_requests(evidence: Evidence) -> Requests | None:
    """Returns requests whose answers are sent at once, whatever limits them; None without any.

    The capture is at the sender, without losses.
    """
    row, cycle = evidence.row, cycle_of(evidence)
    if cycle is None or not evidence.is_at_sender or row["losses"] or not row["rtt_min_ms"] > 0:
        return None
    requests = _requests(row, cycle.number, cycle.time_ms)
    is_at_once = requests.answer_bytes <= (1 + _MAX_RANGE) * row["in_flight_max"]
    return requests if is_at_once else None


def one_request(row: Mapping[Hashable, Any]) -> Requests | None:
    """Returns the requests of a connection whose diagnosis names them; None for other connections."""
    return requests_of(row) if is_headline(row, Cause.ONE_REQUEST, Cause.MAYBE_ONE_REQUEST) else None


def requests_text(evidence: Evidence, requests: Requests) -> Sentence:
    """Returns the sentence about such requests, with the rate that they allow."""
    size, answer = size_text(requests.request_bytes), size_text(requests.answer_bytes)
    # A capture does not show which application has short waits.
    waited_ms = requests.think_ms + requests.gap_ms
    waited_text = f", applications {ms_text(waited_ms)}" if waited_ms else ""
    cause, limits = Cause.MAYBE_ONE_REQUEST, "seems to be the limit"
    if evidence.is_at_sender:
        cause, limits = Cause.ONE_REQUEST, "limits the rate"
    return named(
        cause,
        f"one request at a time {limits}: each {answer} follow a message of the {evidence.receiver} "
        f"({requests.number} of {size}), and are all that is in flight; each takes "
        f"{ms_text(requests.cycle_ms)} (RTT {ms_text(requests.rtt_ms)}{waited_text}), and the RTT "
        f"allows {three_digits(requests.largest_mbps)} Mbit/s at most",
    )


class Cycle(NamedTuple):
    """Requests of a connection: their number, mean time from one to the next, and its parts, ms.

    What is left beside the parts is `rest_ms`: waits shorter than an RTT, RTTs that segments waited for
    others, and the time in which data pass.
    """

    number: int
    time_ms: float
    parts_ms: dict[str, float]

    @property
    def rest_ms(self) -> float:
        """The time beside the parts; not negative."""
        return max(self.time_ms - sum(self.parts_ms.values()), 0.0)

    @property
    def held_ms(self) -> float:
        """The longest time for which ACKs may have held an answer."""
        return self.parts_ms["ACKs"] + self.rest_ms


def cycle_of(evidence: Evidence) -> Cycle | None:
    """Returns the requests of a connection with the parts of their time; None without any.

    Each segment of the receiver is a request; those of bulk transfers and longer messages are none.
    """
    row = evidence.row
    direction, other = ("down", "up") if row["direction"] == "down" else ("up", "down")
    count = row[f"segments_{other}"]
    are_answered = count >= _MIN_CYCLES and row[f"segments_{direction}"] >= count
    if not are_answered or evidence.sends_full_segments(evidence.receiver):
        return None
    parts_ms = {
        "RTT": evidence.rtt_or_zero_ms,
        "ACKs": 1e3 * row["delayed_ack_s"] / count,
        evidence.sender: 1e3 * evidence.turns_s(evidence.sender) / count,
        evidence.receiver: 1e3 * evidence.turns_s(evidence.receiver) / count,
    }
    return Cycle(int(count), 1e3 * row["download_s"] / count, parts_ms)


def cycle_mbps(evidence: Evidence) -> float:
    """Returns the rate at which answers pass at least, Mbit/s of payload; 0 without requests.

    Beside RTT, ACKs and applications, the rest of the time is what path and hosts take.
    """
    cycle = cycle_of(evidence)
    if cycle is None:
        return 0.0
    row, answer = evidence.row, evidence.payload_bytes / cycle.number
    # At the sender, an answer on its way counts as a wait of the receiver.
    queued_ms = _PASSING_RATIO * float(row["far_rtt_p50_ms"] - row["far_rtt_min_ms"])
    least_ms = max(_MIN_PASSING_SHARE * evidence.rtt_or_zero_ms, 1e-3)
    return 8e-3 * answer / float(np.nanmax([cycle.rest_ms, queued_ms, least_ms]))


def cycle_text(evidence: Evidence) -> str:
    """Returns the mean time from one request to the next and its parts, as text; empty without any."""
    cycle = cycle_of(evidence)
    if cycle is None:
        return ""
    parts = [
        f"{name} {ms_text(part_ms)}"
        for name, part_ms in {**cycle.parts_ms, "the rest": cycle.rest_ms}.items()
        if part_ms >= _MIN_WAIT_MS
    ]
    parts_text = f" ({', '.join(parts)})" if len(parts) > 1 else ""
    return f"; {cycle.number} requests, one in {ms_text(cycle.time_ms)} on average{parts_text}"
