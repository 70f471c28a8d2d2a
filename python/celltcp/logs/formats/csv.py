"""Delimited text: the reader of files that match no other format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.logs.table.reader import read_table as read

if TYPE_CHECKING:
    from celltcp.logs.source import Source

__all__ = ["read", "recognises"]


def recognises(_source: Source) -> bool:
    """Returns true: any text may be a table."""
    return True
