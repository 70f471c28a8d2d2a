"""Logs of NYU-METS: a line per second, `3.97,Mbits/sec`, or eight columns with Mbit/s first.

Mei et al., "Realtime mobile bandwidth prediction using LSTM neural network", PAM 2019.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.recording import Recording
from celltcp.logs.units import RateUnit, rate_unit

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.source import Source

#: Columns of the logs of 2020: throughput (Mbit/s), LTE neighbours, RSSI, RSRQ, change of the eNodeB,
#: timing advance, speed, band.
_COLUMNS = 8


def recognises(source: Source) -> bool:
    """Returns whether a file is such a log: its first column is no time, as it falls."""
    rows = [line.split(",") for line in source.lines(50)]
    if not rows:
        return False
    if all(len(row) == 2 for row in rows):
        return all(_unit(row[1]) and _number(row[0]) is not None for row in rows)
    firsts = [_number(row[0]) for row in rows]
    are_wide = all(
        len(row) == _COLUMNS and all(_number(each) is not None for each in row) for row in rows
    )
    known = [first for first in firsts if first is not None]
    return are_wide and any(after < before for before, after in pairwise(known))


def read(source: Source, _options: ReadOptions, _side: Direction) -> Recording:
    """Reads a rate for each second.

    Raises:
        CelltcpError: if a unit is none.
    """
    values = []
    for number, line in enumerate(source.text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        row = line.split(",")
        value = _number(row[0])
        scale = 1e6
        if len(row) == 2:
            unit = _unit(row[1])
            if unit is None:
                raise CelltcpError(f'line {number}: "{row[1].strip()}" is no unit of a rate')
            scale = unit.bits
        values.append(np.nan if value is None else value * scale)
    ns = np.arange(len(values), dtype=np.int64) * 10**9
    lengths = np.full(len(values), 10**9, dtype=np.int64)
    return Recording("NYU-METS, a line per second", "", ns, np.array(values), lengths=lengths)


def _unit(text: str) -> RateUnit | None:
    return rate_unit(text.strip().replace("Kbits", "kbits"))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
