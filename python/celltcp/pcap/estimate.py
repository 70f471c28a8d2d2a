"""Estimate of a path from a transfer in a capture: capacity, RTT, buffer, and random loss."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import CelltcpError
from celltcp.files.atomic_write import write_text
from celltcp.pcap.analysis import CaptureAnalyses, of_connection
from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.pcap.endpoint_settings import endpoint_settings
from celltcp.pcap.leftovers import are_few
from celltcp.pcap.opposite import opposite
from celltcp.pcap.unmodelled import unmodelled
from celltcp.scenarios.lower_bounds import LOWER_BOUND

#: Headers of a full segment with timestamps, bytes.
_HEADERS = 52

#: Minimum delay of a queue over the lowest RTT at which the sender fills the path.
_QUEUE_MS = 3.0
_QUEUE_SHARE = 0.05

#: Maximum length of gaps between estimates that are filled, s.
_BIN_S = 0.1

#: Minimum measured share of the time for an estimate.
_LEAST_MEASURED = 0.05

#: Losses of an overflow that show the size of the buffer.
_LEAST_LOSSES = 3

#: Length of a simulation of a transfer with an end, in times of the captured one: others are slower.
_LONGER = 3

#: Minimum payload of a transfer that a path is estimated from, bytes.
_LEAST_BYTES = 100_000


@dataclass(frozen=True)
class PathEstimate:
    """Estimated path of a transfer."""

    file: str
    connection: int
    #: `down` if the server sent, `up` if the client did.
    direction: str
    rtt_ms: float
    #: Start of each 100 ms since the first packet, s, and the capacity in it at the IP layer, Mbit/s.
    times_s: NDArray[np.float64]
    capacity_mbps: NDArray[np.float64]
    #: Whether the sender filled the path; elsewhere the capacity is interpolated.
    is_measured: NDArray[np.bool_]
    buffer_bytes: float
    #: Whether losses of an overflow show the buffer; otherwise it is the longest queue.
    is_buffer_full: bool
    #: Whether any overflow was seen, if only with an unknown capacity.
    has_overflow: bool
    random_loss: float
    #: Parts of a scenario about the endpoints: windows, segment size, options and CCA.
    endpoints: str
    #: Properties of the path in the capture that the scenario lacks.
    left_out: tuple[str, ...] = ()
    #: Connection that sends the other way meanwhile, in whose queue the ACKs may wait; None without.
    opposite: int | None = None

    @property
    def mean_mbps(self) -> float:
        """Mean capacity."""
        return float(self.capacity_mbps.mean())

    @property
    def measured(self) -> float:
        """Share of the time in which the capacity could be measured."""
        return float(self.is_measured.mean())

    @property
    def scenario_buffer_bytes(self) -> float:
        """Buffer for simulations: at least a BDP where no overflow was seen.

        The longest queue of a sender that never filled the buffer would make it a shallow one.
        """
        bdp = self.mean_mbps * 1e6 / 8 * self.rtt_ms / 1e3
        return self.buffer_bytes if self.has_overflow else max(self.buffer_bytes, bdp)

    @property
    def buffer_note(self) -> str:
        """Certainty of the buffer, in words; empty if an overflow shows it."""
        if self.is_buffer_full:
            return ""
        if self.opposite is not None:
            return "unknown; the scenario has one bandwidth-delay product"
        if self.has_overflow:
            return "lower bound: by overflow, beside a capacity that is one"
        if self.scenario_buffer_bytes == self.buffer_bytes:
            return "lower bound: no overflow observed"
        return (
            "lower bound: no overflow observed; the scenario has one bandwidth-delay product, "
            f"{self.scenario_buffer_bytes / 1e3:.0f} kB"
        )

    @property
    def description(self) -> str:
        """The path, and what of it is a lower bound; simulations repeat that as a warning."""
        texts = [f"The path of connection {self.connection} in {Path(self.file).name}."]
        if not self.is_measured.any():
            texts.append(f"Its capacity {LOWER_BOUND}: {self._why_unmeasured}.")
        if self.has_overflow and not self.is_buffer_full:
            texts.append(f"Its buffer {LOWER_BOUND}, as the capacity is one.")
        elif self.opposite is None and not self.is_buffer_full:
            texts.append(f"Its buffer {LOWER_BOUND}: no overflow was seen.")
        return " ".join(texts)

    @property
    def capacity_note(self) -> str:
        """Time in which the capacity was measured, in words."""
        if self.is_measured.any():
            return f"measured in {100 * self.measured:.0f} % of the time"
        return f"at least: {self._why_unmeasured}"

    @property
    def _why_unmeasured(self) -> str:
        if self.opposite is None:
            return "the sender never filled the path for 100 ms"
        return f"ACKs may have waited behind connection {self.opposite}, which sends the other way"


def estimate_path(
    analyses: CaptureAnalyses, connection: int | None = None, file: str | None = None
) -> PathEstimate:
    """Estimates the path of a transfer.

    Args:
        analyses: of one or more captures.
        connection: number of the transfer; the one with most payload unless given.
        file: its capture; the first one unless a connection is not given either.

    Raises:
        CelltcpError: if there is no such transfer, or it is too small, or it has no RTT.
    """
    row = _chosen(analyses, connection, file)
    up = int(row["direction"] == "up")
    name = f"{row['file']}: connection {row['connection']}"
    payload = row["bytes_up"] if up else row["bytes_down"]
    if payload < _LEAST_BYTES:
        raise CelltcpError(
            f"{name}: {payload} bytes are too few for an estimate; allowed: 100 kB or more"
        )
    if np.isnan(row["rtt_min_ms"]) and np.isnan(row["far_rtt_min_ms"]):
        raise CelltcpError(f"{name}: has no RTT sample; allowed: captures with both directions")

    rtt = float(np.nansum([row["far_rtt_min_ms"], row["near_rtt_min_ms"]]))
    intervals = of_connection(analyses.intervals, row, up)
    losses = of_connection(analyses.losses, row, up)
    own = Evidence(row, losses, of_connection(analyses.intervals, row)).episodes
    # A queue in which ACKs wait is none of the data, even if these meet a full one now and then.
    other = opposite(analyses.connections, row, intervals)
    is_elsewhere = other is not None
    fills = any(episode.queue == "full" for episode in own)
    times, rate, is_measured = _capacity(intervals, losses, row, fills=fills, is_elsewhere=is_elsewhere)
    buffer, is_full = 0.0, False
    if not is_elsewhere:
        buffer, is_full = _buffer(losses, intervals, row, times, rate)
    segments = int(row["segments_up"] if up else row["segments_down"])
    return PathEstimate(
        str(row["file"]),
        int(row["connection"]),
        str(row["direction"]),
        rtt,
        times,
        rate,
        is_measured,
        buffer,
        # A capacity of which only a lower bound is known gives no more of the buffer.
        is_full and bool(is_measured.any()),
        is_full,
        (0 if are_few(own) else int((losses["kind"] == "random").sum())) / max(segments, 1),
        endpoint_settings(row, intervals, float(rate.max()), rtt),
        tuple(unmodelled(row)),
        None if other is None else int(other["connection"]),
    )


def _chosen(analyses: CaptureAnalyses, connection: int | None, file: str | None) -> dict[Hashable, Any]:
    """Returns the row of the transfer."""
    rows = analyses.connections
    if connection is not None or file is not None:
        rows = rows[rows["file"] == (file or analyses.summaries[0]["file"])]
    if connection is not None:
        rows = rows[rows["connection"] == connection]
    if rows.empty:
        raise CelltcpError("no such connection in the capture; celltcp pcap analyze lists them")
    return max(rows.to_dict("records"), key=lambda row: int(row["bytes_up"] + row["bytes_down"]))


def _outages(
    acked: NDArray[np.float64],
    flight: NDArray[np.float64],
    longest_ms: NDArray[np.float64],
    lowest_ms: float,
) -> NDArray[np.bool_]:
    """Returns the stalls of the path: nothing arrived, and then all data that had waited.

    Where windows pass in bursts, nothing arrives for most of an RTT either, but no data has waited.

    Args:
        acked: bytes that were acknowledged in each interval.
        flight: bytes in flight at most in each interval.
        longest_ms: longest RTT in each interval.
        lowest_ms: lowest RTT.
    """
    still = np.zeros(len(acked), bool)
    begin = 0
    for index in range(1, len(acked) + 1):
        if index < len(acked) and acked[index] == 0 and flight[begin] > 0:
            continue
        waited = (index - begin - 1) * _BIN_S * 1e3
        longest = longest_ms[index] if index < len(acked) else 0.0
        if waited and longest >= waited + lowest_ms / 2 and longest >= lowest_ms + waited / 2:
            still[begin + 1 : index] = True
        begin = index
    return still


def _queue_ms(intervals: pd.DataFrame, row: dict[Hashable, Any], *, least: bool = False) -> pd.Series:
    """Returns the delay beyond the lowest RTT, on the side of the capture where the queue is.

    Args:
        intervals: of the transfer.
        row: its connection.
        least: whether the least delay of each interval is asked for, rather than the mean.
    """
    far = intervals["rtt_min_ms" if least else "rtt_mean_ms"] - row["far_rtt_min_ms"]
    near = intervals["near_rtt_mean_ms"] - row["near_rtt_min_ms"]
    delay: pd.Series = near if row["place"] == "receiver" else far
    return delay


def _after_gaps(intervals: pd.DataFrame, row: dict[Hashable, Any]) -> pd.Series:
    """Returns which intervals have a delay of which at least half is a gap in the data before them.

    That is a wait for a path that stood still, or for ACKs that were lost then, in no queue.
    """
    passed = intervals["acked_bytes"]
    if row["place"] == "receiver":
        passed = intervals["bytes"] + intervals["retransmitted_bytes"]
    times = intervals["t_s"].sort_values()
    last = times.where(passed > 0).ffill().shift()
    gap: pd.Series = times - last - _BIN_S
    return (gap > _BIN_S / 2) & (2e3 * gap >= _queue_ms(intervals, row))


def _capacity(
    intervals: pd.DataFrame,
    losses: pd.DataFrame,
    row: dict[Hashable, Any],
    *,
    fills: bool,
    is_elsewhere: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Returns times, capacity, and where it was measured: the output of a queue is the capacity.

    Args:
        intervals: of the transfer.
        losses: of the transfer.
        row: its connection.
        fills: whether losses show that a queue was full.
        is_elsewhere: whether the queue may be that of the ACKs.
    """
    count = int(intervals["t_s"].max() / _BIN_S + 0.5) + 1
    places = (intervals["t_s"] / _BIN_S + 0.5).astype(int).to_numpy()
    acked: NDArray[np.float64] = np.zeros(count)
    queue: NDArray[np.float64] = np.full(count, np.nan)
    limited, flight, longest = np.zeros(count, bool), np.zeros(count), np.zeros(count)
    acked[places] = intervals["acked_bytes"].to_numpy(float)
    queue[places] = _queue_ms(intervals, row, least=True).to_numpy(float)
    # Close to the receiver nothing is in flight most of the time, whatever the sender does.
    if not (fills and row["place"] == "receiver"):
        limited[places] = intervals["is_limited"].to_numpy() == 1
    flight[places] = intervals["in_flight_max"].to_numpy(float)
    longest[places] = intervals["rtt_max_ms"].fillna(0.0).to_numpy(float)
    lowest = float(np.nanmax([row["rtt_min_ms"], row["far_rtt_min_ms"]]))
    mss = float(np.nanmax([np.nanmin([row["mss_up"], row["mss_down"], 1460.0]) - 12, 536.0]))
    rate: NDArray[np.float64] = acked * 8e-6 / _BIN_S * (mss + _HEADERS) / mss
    still = _outages(acked, flight, longest, lowest)
    is_measured = ((queue > max(_QUEUE_MS, _QUEUE_SHARE * lowest)) | still) & ~limited
    if row["place"] == "receiver":
        # Nothing shows the least delay there: a queue that begins in an interval has not filled it.
        is_measured[1:] &= is_measured[:-1].copy()
    # The first and the last interval are not whole.
    is_measured[[0, -1]] = False
    times = np.arange(count, dtype=np.float64) * _BIN_S
    if is_measured.mean() < _LEAST_MEASURED or is_elsewhere:
        is_measured[:] = False
        # A sender that never fills the path for long shows a lower bound: the rate that it has carried.
        # Slow start reaches it before its losses; after them, ACKs of what had arrived come at once.
        first_loss = float(losses["t_s"].min()) if len(losses) else np.inf
        before = rate[:-1][times[1:] <= first_loss]
        usual = np.percentile(rate[rate > 0], 90) if (rate > 0).any() else 0.0
        return times, np.full(count, max(before.max(initial=0.0), usual)), is_measured
    filled = np.interp(times, times[is_measured], rate[is_measured])
    return (
        times,
        np.where(is_measured, rate, np.maximum(filled, np.where(limited, rate, 0))),
        is_measured,
    )


def _buffer(
    losses: pd.DataFrame,
    intervals: pd.DataFrame,
    row: dict[Hashable, Any],
    times: NDArray[np.float64],
    rate: NDArray[np.float64],
) -> tuple[float, bool]:
    """Returns the bytes that the queue holds, and whether an overflow shows them."""
    overflow = losses[(losses["kind"] == "congestion") & losses["rtt_ms"].notna()]
    lowest = row["near_rtt_min_ms"] if row["place"] == "receiver" else row["far_rtt_min_ms"]
    if len(overflow) >= _LEAST_LOSSES:
        at = np.interp(overflow["t_s"], times, rate)
        held = (overflow["rtt_ms"].to_numpy() - lowest) / 1e3 * at * 1e6 / 8
        # Random losses are among them by mistake, beside a shorter queue.
        return float(np.percentile(held, 75)), True
    delay = _queue_ms(intervals, row)[~_after_gaps(intervals, row)].max()
    most = 0.0 if np.isnan(delay) else float(delay) / 1e3 * float(rate.mean()) * 1e6 / 8
    return max(most, 15_000.0), False


def files_of_scenario(file: Path) -> tuple[Path, Path]:
    """Returns the files that `write_scenario` writes: the scenario, and its link trace next to it.

    Raises:
        CelltcpError: if both would have one name.
    """
    trace = file.with_suffix(".csv")
    if trace == file:
        raise CelltcpError(f"{file}: is the name of the link trace; allowed: one that ends in .toml")
    return file, trace


def write_scenario(path: PathEstimate, file: Path) -> tuple[Path, Path]:
    """Writes a scenario and its link trace, which `celltcp compare` runs; returns both files.

    Raises:
        CelltcpError: if a file cannot be written.
    """
    _, trace = files_of_scenario(file)
    lines = [
        f"{time:.1f},{rate:.3f}" for time, rate in zip(path.times_s, path.capacity_mbps, strict=True)
    ]
    write_text(trace, "time_s,rate_mbps\n" + "\n".join(lines) + "\n")
    note = "by overflow"
    if path.opposite is not None:
        note = "one bandwidth-delay product, as its queue was not seen"
    elif not path.is_buffer_full:
        seen = f"{path.buffer_bytes:.0f} B waited at most; no overflow was seen"
        note = "at least: by overflow, beside a capacity that is one" if path.has_overflow else seen
    is_finite = "bytes = " in path.endpoints
    whole = max(path.times_s[-1], 1.0)
    longer = f" # the transfer took {whole:.1f}s" if is_finite else ""
    left_out = "".join(f"# left out: {each}\n" for each in path.left_out)
    text = (
        f'name = "{file.stem}"\n'
        f'description = "{path.description}"\n'
        f'duration = "{_LONGER * whole if is_finite else whole:.1f}s"{longer}\n\n'
        "[path]\n"
        f'rtt = "{max(path.rtt_ms, 0.001):.3f}ms" # the lowest in the capture\n'
        f'buffer = "{round(path.scenario_buffer_bytes)}B" # {note}\n'
        f"loss = {path.random_loss:.6f} # losses beside a short queue\n"
        f'down.trace = "{trace.name}" # {path.capacity_note}\n'
        f"{left_out}"
        f"{path.endpoints}"
    )
    return write_text(file, text), trace
