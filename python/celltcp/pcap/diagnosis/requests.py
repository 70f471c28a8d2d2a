"""Requests of which one is under way at a time: each answer is all that its sender has in flight."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits

#: Beginning of the sentence.
ONE_REQUEST = "one request at a time limits the rate"
#: Minimum number of requests, and maximum range of an answer around the largest flight, as a share.
_MIN_REQUESTS, _MAX_RANGE = 5, 0.1
#: Maximum data of the requests, as a share of the answers.
_MAX_REQUEST_SHARE = 0.1
#: Minimum time in which an answer passes, as a share of the RTT: the error of the RTT.
_MIN_PASSING_SHARE = 0.05


def requested_bytes(row: Mapping[Hashable, Any]) -> float:
    """Returns the data that the receiver requests at a time, bytes; 0 where the capture shows none.

    The sender answers each message of the receiver with as much as it has in flight at most.
    """
    direction, other = ("down", "up") if row["direction"] == "down" else ("up", "down")
    requests, sent = row[f"segments_{other}"], row[f"bytes_{direction}"]
    if requests < _MIN_REQUESTS or not 0 < row[f"bytes_{other}"] < _MAX_REQUEST_SHARE * sent:
        return 0.0
    answer = float(sent / requests)
    return answer if abs(answer / row["in_flight_max"] - 1) <= _MAX_RANGE else 0.0


def requests_text(evidence: Evidence) -> str:
    """Returns the sentence about such requests, with the rate that they allow."""
    row = evidence.row
    answer, rtt_ms = requested_bytes(row), row["rtt_min_ms"]
    other = "up" if row["direction"] == "down" else "down"
    count = int(row[f"segments_{other}"])
    request_text = f"{count} of {size_text(row[f'bytes_{other}'] / count)}"
    return (
        f"{ONE_REQUEST}: each {size_text(answer)} follow a message of the {evidence.receiver} "
        f"({request_text}), and are all that is in flight, at most "
        f"{three_digits(8e-3 * answer / rtt_ms)} Mbit/s at an RTT of {ms_text(rtt_ms)}"
    )


def burst_mbps(row: Mapping[Hashable, Any], rtt_ms: float) -> float:
    """Returns the rate at which answers pass at least, Mbit/s of payload; 0 without such requests.

    The time of a request and its answer, less an RTT, is what the path and the hosts take for it.
    """
    answer = requested_bytes(row)
    if not answer or not rtt_ms > 0:
        return 0.0
    time_ms = 8e-3 * answer / row["throughput_mbps"]
    return float(8e-3 * answer / max(time_ms - rtt_ms, _MIN_PASSING_SHARE * rtt_ms))
