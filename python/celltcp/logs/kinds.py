"""Kinds of logs: the structure of a file decides which reader it gets.

A kind is a known table, or a module of `celltcp.logs.formats` by its name among the formats of traces.
These are tried in their order.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from celltcp._core import CelltcpError, trace_formats
from celltcp.logs.foreign import reject_foreign
from celltcp.logs.formats.known_tables import TABLES

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source


class Kind(Protocol):
    """Reader of a kind of log."""

    def recognises(self, source: Source) -> bool:
        """Returns whether a file is of the kind."""

    def read(self, source: Source, options: ReadOptions, side: Direction) -> Recording:
        """Reads a file of the kind."""


def _kind(name: str) -> Kind:
    if name in TABLES:
        return TABLES[name]
    return cast("Kind", import_module(f"celltcp.logs.formats.{name.replace('-', '_')}"))


def read_recording(
    source: Source, options: ReadOptions, side: Direction, requested_format: str | None = None
) -> Recording:
    """Reads a log by its structure, or as the requested format.

    Raises:
        CelltcpError: if it cannot be read.
    """
    if not source.head.strip():
        raise CelltcpError("the file is empty")
    # The native engine reads files of mahimahi without this module.
    names = [name for name in trace_formats() if name != "mahimahi"]
    if requested_format in TABLES or requested_format in names:
        return _kind(requested_format).read(source, options, side)
    if requested_format is not None:
        raise CelltcpError(
            f"format: unknown {requested_format!r}; allowed: {', '.join(trace_formats())}"
        )
    if not (options.column or options.unit):
        reject_foreign(source)
    if "\0" in source.head and not _kind("spreadsheet").recognises(source):
        raise CelltcpError("is no text, and no spreadsheet or Parquet file")
    if options.column or options.unit:
        # Options for columns and units are for tables: the file is read as one.
        names = ["spreadsheet", "json", "csv"]
    kind = next(kind for kind in map(_kind, names) if kind.recognises(source))
    return kind.read(source, options, side)
