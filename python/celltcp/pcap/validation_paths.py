"""Random cases for the validation of the pcap analysis: RTT, buffer, loss, delayed ACKs and CCA."""

from __future__ import annotations

import math
import random

from celltcp.pcap.validation_cases import CCAS, Case

#: Ranges of RTT (ms) and buffer (BDP), drawn log-uniformly.
_RTT_MS = (5.0, 300.0)
_BUFFER_BDP = (0.05, 4.0)
#: Smallest buffer: ten packets, as in shallow Ethernet switches.
_MIN_BUFFER_BYTES = 15_000

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
_MSS_BYTES = 1_448


def path_cases(count: int, seed: int) -> tuple[Case, ...]:
    """Returns random cases that cycle through low and high RTT, small and large buffer.

    Each case depends only on the seed and its index.
    """
    return tuple(_path_case(random.Random(f"{seed} {index}"), index) for index in range(count))


def _path_case(rng: random.Random, index: int) -> Case:
    rtt_ms, rtt_range = _draw_in_half(rng, _RTT_MS, index % 2)
    buffer_bdps, buffer_range = _draw_in_half(rng, _BUFFER_BDP, index // 2 % 2)
    rate_mbps = rng.choice(_RATES_MBPS)
    bdp_bytes = rate_mbps * 1e6 / 8 * rtt_ms / 1e3
    changes = [
        f"path.rtt={rtt_ms:.2f}ms",
        f'path.down={{ rate = "{rate_mbps}Mbit/s" }}',
        f"path.buffer={max(round(buffer_bdps * bdp_bytes), _MIN_BUFFER_BYTES)}B",
        f"path.loss={rng.choice(_LOSSES_PERCENT)}%",
        *rng.choice(_DELAYED_ACKS),
    ]
    if rng.random() < 0.35:
        size, gap = rng.choice(_RESPONSES) * _MSS_BYTES, rng.choice((1, 10, 30))
        changes.append(
            'flows.0.workload={ kind = "request-response", request = "400B", '
            f'response = "{size}B", think = "0ms", gap = "{gap}ms", jitter = 0, count = 3000 }}'
        )
    # Fast paths have as many packets in less time.
    duration = "10s" if rate_mbps >= 50 else "20s"
    return Case(
        f"path {index}",
        "steady-20-68",
        rng.choice(CCAS),
        tuple(changes),
        duration,
        group=f"RTT {rtt_range} ms, buffer {buffer_range} BDP",
    )


def _draw_in_half(rng: random.Random, bounds: tuple[float, float], half: int) -> tuple[float, str]:
    """Returns a random value of the lower (0) or upper (1) half of a range, and that half as text."""
    low, high = bounds
    middle = math.sqrt(low * high)
    low, high = ((low, middle), (middle, high))[half]
    return math.exp(rng.uniform(math.log(low), math.log(high))), f"{low:.3g} to {high:.3g}"
