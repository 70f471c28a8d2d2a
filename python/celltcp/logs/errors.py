"""Errors about logs: one line with the ambiguity, and the option that resolves it."""

from __future__ import annotations

from celltcp._core import CelltcpError


def log_error(message: str) -> CelltcpError:
    """Returns the error for a log that cannot be used as it is."""
    return CelltcpError(message)


def quoted_names(names: list[str], most: int = 12) -> str:
    """Returns names in quotes, the first `most` of them."""
    quoted = ", ".join(f'"{name}"' for name in names[:most])
    return quoted if len(names) <= most else f"{quoted} and {len(names) - most} more"
