"""Results of speedtest-cli (`--csv`): a row for each test, with `Download` and `Upload` in bit/s."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from celltcp.logs.table.dialect import split
from celltcp.logs.table.reader import read_table

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source

_RATES = {"down": "Download", "up": "Upload"}


def recognises(source: Source) -> bool:
    """Returns whether a file has the columns of such a table."""
    lines = source.lines(1)
    return bool(lines) and {"Sponsor", "Timestamp", "Ping", *_RATES.values()} <= set(
        split(lines[0], ",")
    )


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the rates of a direction.

    Raises:
        CelltcpError: if there are none.
    """
    name = _RATES[options.direction or side]
    rates = dataclasses.replace(options, column=f"Timestamp,{name}", unit="bit/s", direction=None)
    recording = read_table(source, rates, side)
    note = "each row is a test of some seconds, a sample and not the capacity until the next one"
    return dataclasses.replace(
        recording, kind="results of speedtest-cli", has_both=True, notes=(*recording.notes, note)
    )
