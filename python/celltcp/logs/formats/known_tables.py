"""Tables of tools whose columns have known names, with the rates of each direction in each row.

Raca et al., "Beyond throughput, the next generation: a 5G dataset with channel and context metrics",
MMSys 2020, for phone logs of G-NetTrack.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from celltcp._core import CelltcpError
from celltcp.logs.table.dialect import SEPARATORS, split
from celltcp.logs.table.reader import read_table

if TYPE_CHECKING:
    from collections.abc import Collection

    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source


@dataclasses.dataclass(frozen=True)
class KnownTable:
    """Table of a tool."""

    kind: str
    #: Names of the columns of the times and of the rates.
    time: str
    rates: dict[Direction, str]
    unit: str
    separators: Collection[str]
    #: Further columns, by which the tool is recognised.
    own: frozenset[str] = frozenset()
    #: Whether one of `rates` and one of `own` are enough for that; otherwise all are needed.
    has_some: bool = False
    notes: tuple[str, ...] = ()
    #: Column and value of rows without load, such as those of a ping; None without any.
    idle: tuple[str, str] | None = None

    def recognises(self, source: Source) -> bool:
        """Returns whether a file has the columns of the table."""
        names = self._names(source)
        enough = any if self.has_some else all
        groups = (self.rates.values(), self.own)
        return self.time in names and all(enough(name in names for name in group) for group in groups)

    def read(self, source: Source, options: ReadOptions, side: Direction) -> Recording:
        """Reads the rates of a direction.

        Raises:
            CelltcpError: if there is no column of them.
        """
        name = self.rates[options.direction or side]
        names = self._names(source)
        if self.has_some and name not in names:
            raise CelltcpError(f"there is no column {name}")
        column = f"{self.time},{name}"
        options = dataclasses.replace(options, column=column, unit=self.unit, direction=None)
        given = {column.lower() for column, _ in options.wanted_runs()}
        idle = self.idle if self.idle and self.idle[0].lower() not in given else None
        recording = read_table(source, options, side, idle)
        return dataclasses.replace(
            recording,
            kind=self.kind,
            has_both=not self.has_some or names.issuperset(self.rates.values()),
            notes=(*recording.notes, *self.notes),
        )

    def _names(self, source: Source) -> set[str]:
        lines = source.lines(1)
        if not lines:
            return set()
        return max((set(split(lines[0], separator)) for separator in self.separators), key=len)


_PHONE = {
    "Longitude",
    "Latitude",
    "Operatorname",
    "CellID",
    "NetworkMode",
    "NetworkTech",
    "RSRP",
    "RSRQ",
}
_PHONE |= {"SNR", "CQI", "LAC", "NRxRSRP", "NRxRSRQ", "State", "Node"}
_PHONE_LOG = KnownTable(
    "phone log of G-NetTrack",
    "Timestamp",
    {"down": "DL_bitrate", "up": "UL_bitrate"},
    "kbit/s",
    SEPARATORS,
    frozenset(_PHONE),
    has_some=True,
    idle=("State", "I"),
)
#: Tables by the names of their formats.
TABLES = {
    "5gdataset": _PHONE_LOG,
    "phone-log": _PHONE_LOG,
    # speedtest-cli --csv
    "speedtest": KnownTable(
        "results of speedtest-cli",
        "Timestamp",
        {"down": "Download", "up": "Upload"},
        "bit/s",
        ",",
        frozenset(("Sponsor", "Ping")),
        notes=("each row is a test of some seconds, a sample and not the capacity until the next one",),
    ),
    # metrics.csv
    "srsran": KnownTable(
        "metrics of srsRAN's UE", "time", {"down": "dl_brate", "up": "ul_brate"}, "s,bit/s", ";"
    ),
}
