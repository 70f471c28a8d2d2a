"""Reports of iperf2 as CSV (`-y C`): time, addresses and ports, stream, interval, bytes, bit/s."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from celltcp.logs.formats.iperf3 import of_intervals, summed
from celltcp.logs.formats.report_lines import Interval

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source

_LINE = re.compile(
    r"^[+\-\d:.]*\d{14}[^,]*,[^,]*,\d+,[^,]*,\d+,(?P<id>-?\d+),(?P<start>[\d.]+)-(?P<end>[\d.]+),"
    r"-?\d+,(?P<bps>\d+)"
)


def recognises(source: Source) -> bool:
    """Returns whether the first line is of such a report."""
    lines = source.lines(1)
    return bool(lines and _LINE.match(lines[0]))


def read(source: Source, _options: ReadOptions, _side: Direction) -> Recording:
    """Reads the intervals, summed over parallel streams.

    Raises:
        CelltcpError: if there is none.
    """
    lines: list[tuple[str, Interval]] = []
    for match in map(_LINE.match, source.text().splitlines()):
        if match is not None:
            start, end = (round(float(match[part]) * 1e9) for part in ("start", "end"))
            lines.append((match["id"], Interval(start, end, float(match["bps"]))))
    # iperf2 gives the sum of parallel streams the number -1.
    return of_intervals("report of iperf2 (-y C)", summed(lines, "-1"))
