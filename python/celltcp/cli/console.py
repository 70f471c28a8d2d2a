"""Console on which tables are printed."""

from __future__ import annotations

from rich.console import Console


def wide_console(columns: int = 120) -> Console:
    """The terminal; where there is none, a page of so many columns."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=columns)
