"""Resets: payload that a reset tracker at the base station would have suppressed, from a capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from celltcp._core import CaptureAnalysis, CelltcpError
from celltcp.pcap.outcome import ResetConnection, SavingsOutcome

#: Flags of TCP.
_RST = 0x04

#: Records read at a time.
_PIECE = 200_000


@dataclass
class ResetSavings:
    """Savings of a reset tracker in captures."""

    #: Time from a RST at the capture to the first segment that a tracker drops, and to the last, s.
    delay_s: float
    hold_s: float
    #: Payload from servers, of all connections.
    bytes_down: int = 0
    all_connections: int = 0
    connections: list[ResetConnection] = field(default_factory=list)
    #: Captures that are broken: file, byte and reason.
    broken: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def late_bytes(self) -> int:
        """Payload that came after a RST of the client."""
        return sum(connection.late_bytes for connection in self.connections)

    @property
    def spared_bytes(self) -> int:
        """Payload that a tracker would have discarded."""
        return sum(connection.spared_bytes for connection in self.connections)

    @property
    def spared_segments(self) -> int:
        """Segments with that payload, each of which the client answers by a RST."""
        return sum(connection.spared_segments for connection in self.connections)

    @property
    def share(self) -> float:
        """Spared payload, as a share of all payload from servers."""
        return self.spared_bytes / self.bytes_down if self.bytes_down else 0.0

    def outcome(self) -> SavingsOutcome:
        """Returns what `celltcp pcap resets --json` writes."""
        return {
            "delay_s": self.delay_s,
            "hold_s": self.hold_s,
            "bytes_down": self.bytes_down,
            "all_connections": self.all_connections,
            "connections": self.connections,
            "broken": self.broken,
            "spared_bytes": self.spared_bytes,
            "share": self.share,
        }


def reset_savings(
    files: Sequence[str | Path], *, delay_s: float = 0.0, hold_s: float = 5.0
) -> ResetSavings:
    """Returns what a tracker would have saved: data from servers after the first RST of their clients.

    Args:
        files: captures; `-` is the standard input.
        delay_s: time in which data still comes after a RST, since the base station learns of it later.
        hold_s: time after which the tracker forgets a connection.

    Raises:
        CelltcpError: if a file cannot be opened, or the times are impossible.
    """
    if not 0.0 <= delay_s < hold_s:
        raise CelltcpError(
            f"delay {delay_s} s: allowed: 0 s to the time that the tracker holds, {hold_s} s"
        )
    savings = ResetSavings(delay_s, hold_s)
    for name in files:
        _read(str(name), savings)
    savings.connections.sort(key=lambda each: (-each.spared_bytes, -each.late_bytes, each.connection))
    return savings


def _read(file: str, savings: ResetSavings) -> None:
    analysis = CaptureAnalysis(file, segments=True)
    result: dict[int, ResetConnection] = {}
    goes_on = True
    while goes_on:
        goes_on = analysis.advance(_PIECE)
        tables = analysis.take_tables()
        _take_segments(tables["segments"].to_pandas(), file, savings, result)
        for row in tables["connections"].to_pylist():
            savings.all_connections += 1
            savings.bytes_down += row["bytes_down"]
            if each := result.get(row["connection"]):
                each.client, each.server = row["client"], row["server"]
                each.bytes_down = row["bytes_down"]
    if broken := analysis.summary()["broken"]:
        savings.broken.append((file, *broken))
    savings.connections += result.values()


def _take_segments(
    rows: pd.DataFrame, file: str, savings: ResetSavings, result: dict[int, ResetConnection]
) -> None:
    """Adds the segments of a piece, which are in the order of time."""
    resets = rows[(rows["up"] == 1) & (rows["flags"] & _RST > 0)]
    for number, group in resets.groupby("connection")["t_s"]:
        each = result.setdefault(
            int(str(number)), ResetConnection(file, int(str(number)), float(group.min()))
        )
        each.resets += len(group)
    data = rows[(rows["up"] == 0) & (rows["len"] > 0) & rows["connection"].isin(list(result))]
    for number, segments in data.groupby("connection"):
        each = result[int(str(number))]
        since = segments["t_s"].to_numpy(float) - each.reset_s
        size = segments["len"].to_numpy(np.int64)
        late = since > 0
        spared = late & (since >= savings.delay_s) & (since <= savings.hold_s)
        each.late_segments += int(late.sum())
        each.late_bytes += int(size[late].sum())
        each.spared_segments += int(spared.sum())
        each.spared_bytes += int(size[spared].sum())
