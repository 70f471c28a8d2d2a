"""Paths of the validation: cases drawn over RTT, buffer, random loss, delayed ACKs and CCA."""

from __future__ import annotations

import math
import random

from celltcp.pcap.validation_cases import CCAS, Case

#: Bounds of the RTT, ms, and of the buffer, bandwidth-delay products; their logarithms are drawn.
_RTT_MS = (5.0, 300.0)
_BUFFER_BDP = (0.05, 4.0)
#: Smallest buffer, bytes: ten packets, as the shallowest of switches.
_LEAST_BUFFER_BYTES = 15_000

_RATES_MBPS = (5, 10, 20, 50, 100)
_LOSSES_PERCENT = (0, 0.05, 0.1, 0.3, 1)
_DELAYED_ACKS = (
    (),
    ("tcp.delayed_ack=false",),
    ("tcp.delayed_ack_timeout=40ms",),
    ("tcp.delayed_ack_timeout=100ms",),
    ("tcp.delayed_ack_timeout=200ms",),
)
#: Responses in segments: after an odd number of them, the last ACK is delayed.
_RESPONSES = (5, 7, 15, 31, 101)
#: Payload of a segment, bytes.
_SEGMENT = 1_448


def path_cases(count: int, seed: int) -> tuple[Case, ...]:
    """Draws cases in turn from each quarter of RTT and buffer; each depends only on seed and number."""
    return tuple(_path_case(random.Random(f"{seed} {number}"), number) for number in range(count))


def _path_case(draw: random.Random, number: int) -> Case:
    rtt_ms, rtt = _half(draw, _RTT_MS, number % 2)
    buffer_bdp, buffer = _half(draw, _BUFFER_BDP, number // 2 % 2)
    rate = draw.choice(_RATES_MBPS)
    bdp = rate * 1e6 / 8 * rtt_ms / 1e3
    changes = [
        f"path.rtt={rtt_ms:.2f}ms",
        f'path.down={{ rate = "{rate}Mbit/s" }}',
        f"path.buffer={max(round(buffer_bdp * bdp), _LEAST_BUFFER_BYTES)}B",
        f"path.loss={draw.choice(_LOSSES_PERCENT)}%",
        *draw.choice(_DELAYED_ACKS),
    ]
    if draw.random() < 0.35:
        size, gap = draw.choice(_RESPONSES) * _SEGMENT, draw.choice((1, 10, 30))
        changes.append(
            'flows.0.workload={ kind = "request-response", request = "400B", '
            f'response = "{size}B", think = "0ms", gap = "{gap}ms", jitter = 0, count = 3000 }}'
        )
    # Fast paths have as many packets in less time.
    duration = "10s" if rate >= 50 else "20s"
    return Case(
        f"path {number}",
        "steady-20-68",
        draw.choice(CCAS),
        tuple(changes),
        duration,
        group=f"RTT {rtt} ms, buffer {buffer} BDP",
    )


def _half(draw: random.Random, bounds: tuple[float, float], half: int) -> tuple[float, str]:
    """Draws from the lower or the upper half of a range; returns the value and the name of the half."""
    low, high = bounds
    middle = math.sqrt(low * high)
    first, last = ((low, middle), (middle, high))[half]
    return math.exp(draw.uniform(math.log(first), math.log(last))), f"{first:.3g} to {last:.3g}"
