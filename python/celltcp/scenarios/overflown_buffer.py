"""Buffer of a path by the congestion window at which the test of a log overflowed its queue."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from celltcp._core import in_unit

if TYPE_CHECKING:
    from celltcp._core import Scenario

#: Payload of a segment with timestamps, and its size at the IP layer, bytes.
_PAYLOAD, _PACKET = 1448, 1500


def overflown_buffer(scenario: Scenario, field: str) -> str:
    """Returns the change that gives a buffer its size by the downlink's log, or an empty text.

    It holds what was in flight at the overflow, but for what the path holds at its RTT.
    """
    window = json.loads(dict(scenario.log_facts).get("down", "{}")).get("overflow_window")
    if not window:
        return ""
    mbps = next(mbps for _, direction, _, _, mbps in scenario.traces if direction == "down")
    rtt_ms = in_unit(tomllib.loads(scenario.to_toml())["path"]["rtt"], "ms") or 0.0
    packets = max(round(window / _PAYLOAD - 125 * mbps * rtt_ms / _PACKET), 1)
    return f"{field}={packets}packets"
