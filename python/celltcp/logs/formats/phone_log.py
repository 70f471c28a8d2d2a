"""Phone logs of G-NetTrack, as 5Gdataset publishes them: `DL_bitrate` and `UL_bitrate` in kbit/s.

Raca et al., "Beyond throughput, the next generation: a 5G dataset with channel and context metrics",
MMSys 2020.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from celltcp.logs.errors import refuse
from celltcp.logs.table.dialect import SEPARATORS, split
from celltcp.logs.table.reader import read_table

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source

_RATES = {"down": "DL_bitrate", "up": "UL_bitrate"}
#: Columns beside the rates that tables of other tools do not have; a name is enough.
_OWN = {"Longitude", "Latitude", "Operatorname", "CellID", "NetworkMode", "NetworkTech", "RSRP", "RSRQ"}
_OWN |= {"SNR", "CQI", "LAC", "NRxRSRP", "NRxRSRQ", "State", "Node"}


def recognises(source: Source) -> bool:
    """Returns whether a file has the columns of such a log."""
    names = _names(source)
    return "Timestamp" in names and bool(names & set(_RATES.values())) and bool(names & _OWN)


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the rates of a direction.

    Raises:
        CelltcpError: if there are none.
    """
    name = _RATES[options.direction or side]
    if name not in _names(source):
        raise refuse(f"there is no column {name}")
    rates = dataclasses.replace(options, column=f"Timestamp,{name}", unit="kbit/s", direction=None)
    recording = read_table(source, rates, side)
    both = set(_RATES.values()) <= _names(source)
    return dataclasses.replace(recording, kind="phone log of G-NetTrack", has_both=both)


def _names(source: Source) -> set[str]:
    lines = source.lines(1)
    if not lines:
        return set()
    return max((set(split(lines[0], separator)) for separator in SEPARATORS), key=len)
