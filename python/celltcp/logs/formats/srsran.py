"""Metrics of srsRAN's UE (`metrics.csv`): `dl_brate` and `ul_brate` in bit/s, a row a period."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from celltcp.logs.table.dialect import split
from celltcp.logs.table.reader import read_table

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source

_RATES = {"down": "dl_brate", "up": "ul_brate"}


def recognises(source: Source) -> bool:
    """Returns whether a file has the columns of such a table."""
    lines = source.lines(1)
    return bool(lines) and {"time", *_RATES.values()} <= set(split(lines[0], ";"))


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the rates of a direction.

    Raises:
        CelltcpError: if there are none.
    """
    name = _RATES[options.direction or side]
    rates = dataclasses.replace(options, column=f"time,{name}", unit="s,bit/s", direction=None)
    recording = read_table(source, rates, side)
    return dataclasses.replace(recording, kind="metrics of srsRAN's UE", has_both=True)
