"""Receive windows that are still near their size at the start, from which automatic tuning goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Defaults of the receive buffer at the start, and of its largest size.
INITIAL_BUFFER, LARGEST_BUFFER = "128KiB", "6MiB"
#: Default of the largest send buffer.
LARGEST_SEND_BUFFER = "4MiB"
#: Minimum share of a receive buffer that is window, with a margin: the packets that waste most memory
#: leave 0.45 of it. With less in flight, the window still grows, or something else bounds it.
MIN_WINDOW_SHARE_OF_BUFFER = 0.3


def initial_buffer(tcp: Mapping[str, Any], window: float) -> str | None:
    """Returns the receive buffer at the start if a full window is not that of the largest one.

    A window that is capped or has no scale gets None.

    Args:
        tcp: table `tcp` of a scenario.
        window: maximum in flight under the window, bytes.
    """
    largest = in_unit(str(tcp.get("receive_buffer_max", LARGEST_BUFFER)), "B") or 0.0
    is_free = "receive_window_max" not in tcp and tcp.get("window_scale", True) is True
    if not is_free or window >= MIN_WINDOW_SHARE_OF_BUFFER * largest:
        return None
    return str(tcp.get("receive_buffer_initial", INITIAL_BUFFER))
