"""Reports of iperf3, iperf2 and further tools as text: a line for each interval, sums of streams."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from celltcp.logs.errors import refuse
from celltcp.logs.formats.report_lines import Interval, intervals_of, tool_of
from celltcp.logs.recording import Recording
from celltcp.logs.units import rate_unit

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.source import Source

_LINE = re.compile(
    r"\[\s*(?P<id>SUM|\d+)\](?:\[(?P<role>[A-Z-]+)\])?\s+(?P<start>\d+\.\d+)\s*-\s*(?P<end>\d+\.\d+)\s+sec"
    r"\s+[\d.]+\s+\w*Bytes\s+(?P<rate>[\d.]+)\s+(?P<unit>\w*bits/sec)(?P<rest>.*)"
)


def recognises(source: Source) -> bool:
    """Returns whether a file has lines of such a report."""
    return any(_LINE.search(line) for line in source.lines(40)) or tool_of(source) is not None


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the intervals; totals at the end and omitted ones do not count.

    Raises:
        CelltcpError: if there is none.
    """
    if (tool := tool_of(source)) is not None:
        return of_intervals(tool.kind, list(intervals_of(source.text().splitlines(), tool)))
    streams: dict[str, list[Interval]] = defaultdict(list)
    for match in map(_LINE.search, source.text().splitlines()):
        if match is None or re.search(r"sender|receiver|omitted", match["rest"]):
            continue
        unit = rate_unit(match["unit"].replace("Kbits", "kbits"))
        if unit is None:
            continue
        start, end = (round(float(match[part]) * 1e9) for part in ("start", "end"))
        if match["role"] and not _is_of(match["role"], options.direction or side):
            continue
        streams[match["id"]].append(Interval(start, end, float(match["rate"]) * unit.bits))
    intervals = summed({"SUM": streams["SUM"]} if streams.get("SUM") else streams)
    return of_intervals(f"report of iperf{'' if len(streams) < 3 else ', parallel streams'}", intervals)


def _is_of(role: str, direction: Direction) -> bool:
    """Returns whether lines of a bidirectional test are of a direction; the client sends `TX-C`."""
    if not role.startswith(("TX", "RX")):
        return True
    return role.startswith("RX") == (direction == "down")


def summed(streams: dict[str, list[Interval]]) -> list[Interval]:
    """Returns the sums of streams by interval, test after test, without the totals of whole tests."""
    sums: dict[tuple[int, int, int], float] = {}
    for stream in streams.values():
        lengths = sorted(each.end_ns - each.start_ns for each in stream)
        usual = lengths[len(lengths) // 2] if lengths else 0
        test, latest = 0, -1
        for each in stream:
            is_earlier = each.start_ns < latest
            # A total has two intervals or more; an interval is longer than usual by a little only.
            if is_earlier and each.end_ns - each.start_ns > 1.5 * usual:
                continue
            # A server that reports test after test begins each at zero.
            test, latest = test + is_earlier, each.start_ns
            key = (test, each.start_ns, each.end_ns)
            sums[key] = sums.get(key, 0.0) + each.bps
    return [Interval(start, end, bps) for (_, start, end), bps in sorted(sums.items()) if end > start]


def of_intervals(kind: str, intervals: list[Interval], **known: object) -> Recording:
    """Returns the recording of intervals.

    Raises:
        CelltcpError: if there is none.
    """
    if not intervals:
        raise refuse(f"{kind}: no interval with a rate; -i 1 reports every second")
    ns = np.array([each.start_ns for each in intervals], dtype=np.int64)
    ends = np.array([each.end_ns for each in intervals], dtype=np.int64)
    values = np.array([each.bps for each in intervals])
    return Recording(kind, "", ns, values, lengths=ends - ns, **known)  # type: ignore[arg-type]
