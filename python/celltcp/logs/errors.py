"""Names of columns, fields or files in error messages about logs."""

from __future__ import annotations


def quoted_names(names: list[str], max_count: int = 12) -> str:
    """Returns the first `max_count` names in quotes, and the number of the others."""
    quoted = ", ".join(f'"{name}"' for name in names[:max_count])
    return quoted if len(names) <= max_count else f"{quoted} and {len(names) - max_count} more"
