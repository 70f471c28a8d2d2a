"""Kinds of logs: the structure of a file decides which reader it gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from celltcp.logs.errors import refuse
from celltcp.logs.formats import (
    iperf2,
    iperf3,
    json_log,
    mm_link,
    nyu_mets,
    phone_log,
    speedtest,
    spreadsheet,
    srsran,
    zeek,
)
from celltcp.logs.table.reader import read_table

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source


class Kind(NamedTuple):
    """A kind of log."""

    name: str
    recognises: Callable[[Source], bool]
    read: Callable[[Source, ReadOptions, Direction], Recording]


#: Kinds in the order in which they are tried; a table is what nothing else is.
KINDS = (
    Kind("spreadsheet", spreadsheet.recognises, spreadsheet.read),
    Kind("json", json_log.recognises, json_log.read),
    Kind("iperf3", iperf3.recognises, iperf3.read),
    Kind("iperf2", iperf2.recognises, iperf2.read),
    Kind("mm-link", mm_link.recognises, mm_link.read),
    Kind("zeek", zeek.recognises, zeek.read),
    Kind("nyu-mets", nyu_mets.recognises, nyu_mets.read),
    Kind("phone-log", phone_log.recognises, phone_log.read),
    Kind("speedtest", speedtest.recognises, speedtest.read),
    Kind("srsran", srsran.recognises, srsran.read),
    Kind("csv", lambda _: True, read_table),
)
#: Names that earlier versions and other tools give to kinds.
_ALIASES = {"5gdataset": "phone-log", "table": "csv"}


def kind_names() -> list[str]:
    """Returns the names of all kinds."""
    return [kind.name for kind in KINDS]


def read_recording(
    source: Source, options: ReadOptions, side: Direction, wanted: str | None = None
) -> Recording:
    """Reads a log as its structure says, or as the kind `wanted`.

    Raises:
        CelltcpError: if it cannot be read.
    """
    if not source.head.strip():
        raise refuse("the file is empty")
    if "\0" in source.head and not spreadsheet.recognises(source):
        raise refuse("is no text, and no spreadsheet or Parquet file")
    if wanted is None and (options.column or options.unit) and not spreadsheet.recognises(source):
        if json_log.recognises(source):
            return json_log.read(source, options, side)
        return read_table(source, options, side)
    name = _ALIASES.get(wanted or "", wanted)
    for kind in KINDS:
        if kind.name == name if name else kind.recognises(source):
            return kind.read(source, options, side)
    raise refuse(f"format: unknown {wanted!r}; allowed: {', '.join(kind_names())}")
