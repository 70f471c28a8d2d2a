"""Resets: payload that a reset tracker at the base station would have suppressed, from a capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from celltcp._core import CaptureAnalysis, CelltcpError
from celltcp.pcap.analysis import MAX_RECORDS
from celltcp.pcap.outcome import ResetConnection, SavingsOutcome

#: Flag RST in the header of TCP.
_RST = 0x04


@dataclass
class ResetSavings:
    """Savings of a reset tracker in captures."""

    #: Times from a RST at the capture to the first segment that a tracker drops, and to the last, s.
    delay_s: float
    hold_s: float
    #: Payload from servers, of all connections.
    bytes_down: int = 0
    #: Number of connections in the captures.
    all_connections: int = 0
    #: Connections that their clients have reset.
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
        return {**vars(self), "spared_bytes": self.spared_bytes, "share": self.share}  # type: ignore[typeddict-item]


def reset_savings(
    files: Sequence[str | Path], *, delay_s: float = 0.0, hold_s: float = 5.0
) -> ResetSavings:
    """Returns what a tracker would have saved: data from servers after the first RST of their clients.

    Args:
        files: captures; `-` is the standard input.
        delay_s: time for which data still passes after a RST, as the base station gets the RST later.
        hold_s: time after a RST for which the tracker drops data.

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
    savings.connections.sort(
        key=lambda reset: (-reset.spared_bytes, -reset.late_bytes, reset.connection)
    )
    return savings


def _read(file: str, savings: ResetSavings) -> None:
    """Adds the connections of a capture."""
    analysis = CaptureAnalysis(file, segments=True)
    resets: dict[int, ResetConnection] = {}
    has_more = True
    while has_more:
        has_more = analysis.advance(MAX_RECORDS)
        tables = analysis.take_tables()
        _add_segments(tables["segments"].to_pandas(), file, savings, resets)
        for row in tables["connections"].to_pylist():
            savings.all_connections += 1
            savings.bytes_down += row["bytes_down"]
            if reset := resets.get(row["connection"]):
                reset.client, reset.server = row["client"], row["server"]
                reset.bytes_down = row["bytes_down"]
    if broken := analysis.summary()["broken"]:
        savings.broken.append((file, *broken))
    savings.connections += resets.values()


def _add_segments(
    rows: pd.DataFrame, file: str, savings: ResetSavings, resets: dict[int, ResetConnection]
) -> None:
    """Adds segments of a capture, in the order of time, to its reset connections by number."""
    rst_rows = rows[(rows["up"] == 1) & (rows["flags"] & _RST > 0)]
    for key, times in rst_rows.groupby("connection")["t_s"]:
        number = int(str(key))
        reset = resets.setdefault(number, ResetConnection(file, number, float(times.min())))
        reset.resets += len(times)
    data = rows[(rows["up"] == 0) & (rows["len"] > 0) & rows["connection"].isin(list(resets))]
    for key, segments in data.groupby("connection"):
        reset = resets[int(str(key))]
        since_reset_s = segments["t_s"].to_numpy(float) - reset.reset_s
        lengths = segments["len"].to_numpy(np.int64)
        is_late = since_reset_s > 0
        is_spared = is_late & (since_reset_s >= savings.delay_s) & (since_reset_s <= savings.hold_s)
        reset.late_segments += int(is_late.sum())
        reset.late_bytes += int(lengths[is_late].sum())
        reset.spared_segments += int(is_spared.sum())
        reset.spared_bytes += int(lengths[is_spared].sum())
