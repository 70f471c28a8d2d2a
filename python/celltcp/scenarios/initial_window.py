"""Initial congestion window of the hosts of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Default, segments (RFC 6928), and the larger one of content delivery networks.
_DEFAULT, LARGE_INITIAL_WINDOW = 10, 32


def initial_window(tcp: Mapping[str, Any]) -> int:
    """Returns the initial window of the table `tcp` of a scenario, segments."""
    return int(tcp.get("initial_window", _DEFAULT))
