"""Parts of scenarios that several tests have: a path with a deep buffer, and a game."""

from __future__ import annotations

#: A path with a buffer in which a download makes others wait.
DEEP_BUFFER = """
[path]
rtt = "40ms"
down = { rate = "20Mbit/s" }
buffer = "4bdp"
"""

#: Workload of a game: a small request every 150 ms, so that its goodput ranks nothing.
GAME = '{ kind = "request-response", request = "100B", response = "200B", gap = "150ms" }'
