"""Counts of tshark and tcptrace in a capture, if they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

#: Fields of tshark, or filters on them, by our names of the counts.
_TSHARK = {
    "retransmissions": "tcp.analysis.retransmission",
    "duplicate_acks": "tcp.analysis.duplicate_ack",
    "out_of_order": "tcp.analysis.out_of_order",
    "zero_windows": "tcp.analysis.zero_window",
    "resets": "tcp.flags.reset == 1",
}

#: Filter for segments of TCP, without those that an ICMP error quotes.
_SEGMENTS = "tcp and not icmp and not icmpv6"

#: Time limit of a tool, s.
_TIMEOUT_S = 120


def external_counts(capture: Path, has_totals: bool = False) -> dict[str, dict[str, int]]:
    """Returns the counts of each tool that is installed; `has_totals` adds connections and segments."""
    tools = {"tshark": _tshark, "tcptrace": _tcptrace}
    counts = {tool: count(capture, has_totals) for tool, count in tools.items() if shutil.which(tool)}
    return {tool: count for tool, count in counts.items() if count}


def _output(command: list[str]) -> str:
    """Returns the output of a command; empty if it fails or takes too long."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout


def _tshark(capture: Path, has_totals: bool) -> dict[str, int]:
    columns = ["tcp.stream", *(name.split()[0] for name in _TSHARK.values())]
    options = [option for name in columns for option in ("-e", name)]
    text = _output(["tshark", "-n", "-r", str(capture), "-Y", _SEGMENTS, "-T", "fields", *options])
    rows = [line.split("\t") for line in text.splitlines()]
    counts = {
        name: sum(1 for row in rows if len(row) > column and row[column] not in ("", "0", "False"))
        for column, name in enumerate(_TSHARK, 1)
    }
    if not has_totals:
        return counts
    # A frame with several segments has several streams.
    streams = [stream for row in rows for stream in row[0].split(",")]
    return {"connections": len(set(streams)), "segments": len(streams), **counts}


def _tcptrace(capture: Path, has_totals: bool) -> dict[str, int]:
    text = _output(["tcptrace", "-n", "-l", str(capture)])
    counts = re.findall(r"rexmt data pkts:\s+(\d+)", text)
    if not counts:
        return {}
    connections = {"connections": len(re.findall(r"complete conn:", text))} if has_totals else {}
    return {**connections, "retransmissions": sum(int(count) for count in counts)}
