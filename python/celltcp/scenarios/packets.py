"""Size of a full packet, in which buffers and loss models count, of its headers, and of buffers."""

from __future__ import annotations

from celltcp._core import in_unit

#: Size of a packet with the default MTU, bytes.
PACKET_BYTES = 1500
#: Bytes of IPv4, TCP and its timestamps in each packet.
HEADERS_BYTES = 52


def buffer_size(text: str, bytes_per_s: float | None, rtt_ms: float) -> float | None:
    """Returns the size of a buffer, bytes; None without one, or without the rate that one in time has.

    Args:
        text: size as in a scenario, such as `2bdp`.
        bytes_per_s: rate of the link; None if it varies.
        rtt_ms: RTT of the path without queues.
    """
    if text.endswith("bdp"):
        bdps = float(text.removesuffix("bdp"))
        return None if bytes_per_s is None else bdps * bytes_per_s * rtt_ms / 1e3
    factors = {"packets": PACKET_BYTES, "B": 1.0, "s": bytes_per_s}
    sizes = (
        size * factor
        for unit, factor in factors.items()
        if factor is not None and (size := in_unit(text, unit)) is not None
    )
    return next(sizes, None)
