"""Parts of tests of workloads: paths, files of a server, a game, and the rank of a percentile."""

from __future__ import annotations

import math
from typing import Any

#: A path with a buffer in which a download makes others wait.
DEEP_BUFFER = """
[path]
rtt = "40ms"
down = { rate = "20Mbit/s" }
buffer = "4bdp"
"""

#: Workload of a game: a small request every 150 ms, so that its goodput ranks nothing.
GAME = '{ kind = "request-response", request = "100B", response = "200B", gap = "150ms" }'

#: Files of 2 MB from a fast server to a home; buffers are those of its router.
FILES: dict[str, Any] = {
    "name": "files",
    "duration": "20s",
    "path": {
        "rtt": "25ms",
        "down": {"rate": "50Mbit/s"},
        "up": {"rate": "10Mbit/s"},
        "buffer": "300packets",
        "wired": [{"name": "wan", "rate": "1Gbit/s"}],
    },
    "flows": [
        {
            "name": "files",
            "workload": {
                "kind": "sequence",
                "size": "2MB",
                "gap": {"kind": "exponential", "mean": "1s"},
            },
        }
    ],
}


def nearest_rank(values: list[float], percentile: float) -> float:
    return sorted(values)[math.ceil(percentile / 100 * len(values)) - 1]
