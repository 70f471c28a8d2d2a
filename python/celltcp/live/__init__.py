"""Live runs: programs behind the path of a scenario, in real time."""

from __future__ import annotations

from celltcp.live.shell import Shell

__all__ = ["Shell"]
