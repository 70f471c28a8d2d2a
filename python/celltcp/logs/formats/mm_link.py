"""Logs of mahimahi's mm-link: opportunities (`#`), arrivals (`+`) and departures (`-`), in ms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.recording import Recording

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.source import Source

_LINE = re.compile(r"^\d+ [#+-] \d+")


def recognises(source: Source) -> bool:
    """Returns whether a file is such a log."""
    lines = source.lines(20)
    return "mahimahi mm-link" in source.head[:200] or bool(lines and all(map(_LINE.match, lines)))


def read(source: Source, _options: ReadOptions, _side: Direction) -> Recording:
    """Reads the opportunities, each for a packet of 1500 bytes (1504 with the header of the tunnel).

    Raises:
        CelltcpError: if there is no opportunity.
    """
    text = source.text()
    base = re.search(r"^# base timestamp: (\d+)", text, re.MULTILINE)
    times_ms = np.array(re.findall(r"^(\d+) # \d+", text, re.MULTILINE), dtype=np.int64)
    if not len(times_ms):
        raise CelltcpError("log of mm-link without an opportunity (#)")
    times_ms = np.sort(times_ms - (int(base[1]) if base else int(times_ms[0])))
    times_ms = times_ms[times_ms >= 0]
    if not len(times_ms) or times_ms[-1] < 1:
        raise CelltcpError("log of mm-link: a trace must last at least 1 ms")
    kind = "log of mahimahi's mm-link, its opportunities of 1500 bytes"
    return Recording(kind, "", times_ms, np.empty(0), opportunities=times_ms)
