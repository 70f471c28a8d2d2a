"""Text reports of nuttcp, netperf and tshark, with a line for each interval."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from celltcp._core import CelltcpError
from celltcp.logs.units import rate_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from celltcp.logs.source import Source


class Interval(NamedTuple):
    """Interval of a stream, with its rate."""

    start_ns: int
    end_ns: int
    bps: float


class _Tool(NamedTuple):
    """Tool with a line for each interval."""

    kind: str
    #: Line with `seconds` or `start` and `end`, and `rate` with `unit` or `bytes`.
    line: re.Pattern[str]


_TOOLS = (
    # nuttcp(8), -i; the total at the end has the load of both processors.
    _Tool(
        "report of nuttcp (-i)",
        re.compile(
            r"^\s*[\d.]+ MB /\s+(?P<seconds>[\d.]+) sec =\s+(?P<rate>[\d.]+) (?P<unit>[KMG]bps)"
            r"(?!.*%TX)"
        ),
    ),
    # netperf, demo mode (-D): "10^6bits/s"; its KBytes may have 1000 or 1024 bytes.
    _Tool(
        "report of netperf (-D)",
        re.compile(
            r"^Interim result:\s+(?P<rate>[\d.]+) (?P<unit>\S+) over (?P<seconds>[\d.]+) seconds"
        ),
    ),
    # tshark(1), -z io,stat with a single column of statistics.
    _Tool(
        "statistics of tshark (-z io,stat)",
        re.compile(
            r"^\|\s*(?P<start>[\d.]+)\s+<>\s+(?P<end>[\d.]+)\s+\|\s*\d+\s*\|\s*(?P<bytes>\d+)\s*\|$"
        ),
    ),
)


def tool_of(source: Source) -> _Tool | None:
    """Returns the tool that wrote a file; None if it is none of these."""
    lines = source.lines(40)
    return next((tool for tool in _TOOLS if any(map(tool.line.search, lines))), None)


def intervals_of(lines: Iterable[str], tool: _Tool) -> Iterator[Interval]:
    """Yields the intervals of a report, one after another.

    Raises:
        CelltcpError: if the unit of a rate is not known.
    """
    start_ns = 0
    for match in map(tool.line.search, lines):
        if match is None:
            continue
        fields = match.groupdict()
        if "seconds" in fields:
            length_ns = round(float(fields["seconds"]) * 1e9)
        else:
            start_ns, end_ns = (round(float(fields[part]) * 1e9) for part in ("start", "end"))
            length_ns = end_ns - start_ns
        if length_ns <= 0:
            continue
        if "bytes" in fields:
            bps = 8e9 * float(fields["bytes"]) / length_ns
        else:
            bps = float(fields["rate"]) * _unit_bps(fields["unit"], tool)
        yield Interval(start_ns, start_ns + length_ns, bps)
        start_ns += length_ns


def _unit_bps(text: str, tool: _Tool) -> float:
    """Returns a unit of rates in bit/s."""
    power = re.fullmatch(r"10\^(\d)bits/s", text)
    if power:
        return float(10 ** int(power[1]))
    unit = rate_unit(text.replace("Kbps", "kbps"))
    if unit is None or text.endswith("Bytes/s"):
        raise CelltcpError(f"{tool.kind}: the unit {text!r} is not read; -f m reports 10^6bits/s")
    return unit.bits
