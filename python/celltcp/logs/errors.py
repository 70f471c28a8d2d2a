"""Errors about logs: one line with the ambiguity, and the option that resolves it."""

from __future__ import annotations

from celltcp._core import CelltcpError


def refuse(message: str) -> CelltcpError:
    """Returns the error for a log that cannot be used as it is."""
    return CelltcpError(message)


def listed(names: list[str], most: int = 12) -> str:
    """Returns names in quotes, the first `most` of them."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
