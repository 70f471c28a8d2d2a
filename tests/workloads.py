"""Parts of tests of workloads: a path with a deep buffer, a game, and the rank of a percentile."""

from __future__ import annotations

import math

#: A path with a buffer in which a download makes others wait.
DEEP_BUFFER = """
[path]
rtt = "40ms"
down = { rate = "20Mbit/s" }
buffer = "4bdp"
"""

#: Workload of a game: a small request every 150 ms, so that its goodput ranks nothing.
GAME = '{ kind = "request-response", request = "100B", response = "200B", gap = "150ms" }'


def nearest_rank(values: list[float], percentile: float) -> float:
    return sorted(values)[math.ceil(percentile / 100 * len(values)) - 1]
