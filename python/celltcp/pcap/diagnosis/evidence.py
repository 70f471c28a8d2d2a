"""Evidence: rows of one connection in the tables of a capture, and texts of quantities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from celltcp.pcap.diagnosis.episodes import Episode, find_episodes

#: Length of an interval, s.
INTERVAL_S = 0.1
#: Share of a transfer's time that counts as its start.
_STARTUP = 0.1
#: Minimum of the mean segment over the MSS in bulk transfers.
_FULL = 0.9
#: Maximum options of a segment, bytes.
_OPTIONS = 40
#: Segment size without an announced one, bytes.
_DEFAULT = 536
#: Segments of a message up to which its last one is seen among those of its size.
_MESSAGE = 4
#: Least RTTs to the sender that show them over time.
_SAMPLES = 10
#: Longest usual RTT to a receiver beside the capture, ms.
_BESIDE_MS = 0.5
#: Losses for each segment that is overtaken from which on their repairs show RTTs.
_OVERTAKEN = 10
#: Round trips, and least intervals, over which rates and peaks are taken.
_ROUND_TRIPS = 2
_BLOCK = 5
#: Minimum number of events for listing their times.
_SEVERAL = 2
#: Spread of the times between events, as a share of their median, below which they are periodic.
_PERIODIC = 0.2


@dataclass(frozen=True)
class Evidence:
    """Row of a connection, and the rows of its losses and intervals."""

    row: dict[Hashable, Any]
    losses: pd.DataFrame
    intervals: pd.DataFrame

    @property
    def sender(self) -> str:
        """Side that sent most payload."""
        return "server" if self.row["direction"] == "down" else "client"

    @property
    def receiver(self) -> str:
        """The other side."""
        return "client" if self.sender == "server" else "server"

    @property
    def is_at_sender(self) -> bool:
        """Whether the bytes in flight in the capture are those of the sender."""
        return bool(self.row["place"] == "sender")

    def turns_s(self, side: str) -> float:
        """Time in which a side's application had received data and did not answer, s."""
        return float(self.row["turns_up_s" if side == "client" else "turns_down_s"])

    def pauses_s(self, side: str) -> float:
        """Time in which a side's application paused between two writes, s."""
        return float(self.row["pauses_up_s" if side == "client" else "pauses_down_s"])

    @property
    def bytes(self) -> int:
        """Payload of the sender."""
        return int(self.row[f"bytes_{self.row['direction']}"])

    def sends_full_segments(self, side: str) -> bool:
        """Whether nearly all segments of a side have one and the same full size, as in bulk transfers.

        Options take some of the announced size. Without a handshake, the size is that of the longest
        segment, unless it is below the default of the protocol (RFC 9293, section 3.7.1), or the last
        segments of many messages are as long: those end where the application ends them.
        """
        direction, other = ("up", "down") if side == "client" else ("down", "up")
        announced = [self.row[name] for name in ("mss_up", "mss_down")]
        known = [float(size) for size in announced if not math.isnan(size)]
        full = min(known) if known else float(self.row["segment_max"])
        is_cut = _MESSAGE * self.row[f"segments_{other}"] < self.row[f"segments_{direction}"]
        if not known and (full < _DEFAULT or not is_cut):
            return False
        if direction == self.row["direction"] and self.row["segment_max"] < full - _OPTIONS:
            return False
        return bool(self.row[f"bytes_{direction}"] >= _FULL * self.row[f"segments_{direction}"] * full)

    @cached_property
    def segment(self) -> float:
        """Longest segment of the direction, at most the announced MSS, bytes."""
        sizes = (float(self.row[name]) for name in ("segment_max", "mss_up", "mss_down"))
        return min(size for size in sizes if not math.isnan(size))

    @cached_property
    def steady(self) -> pd.DataFrame:
        """Intervals of the sender's direction without the start and the last interval."""
        of_sender = self.intervals[self.intervals["up"] == (self.row["direction"] == "up")]
        steady: pd.DataFrame = of_sender[of_sender["t_s"] >= of_sender["t_s"].max() * _STARTUP].iloc[
            :-1
        ]
        return steady

    @cached_property
    def passed(self) -> pd.Series:
        """Bytes of the sender in each interval from its first to its last one, in the order of time."""
        own = self.intervals[self.intervals["up"] == (self.row["direction"] == "up")]
        places = (own["t_s"] / INTERVAL_S).round().astype(int)
        bytes_ = pd.Series(own["bytes"].to_numpy(dtype=float), index=places)
        if bytes_.empty:
            return bytes_
        passed: pd.Series = bytes_.reindex(range(places.min(), places.max() + 1), fill_value=0.0)
        return passed

    @cached_property
    def block(self) -> int:
        """Number of intervals of a block, over which bursts once per RTT are even."""
        rtt = self.rtt_ms
        round_trips = 0 if math.isnan(rtt) else math.ceil(_ROUND_TRIPS * rtt / 1e3 / INTERVAL_S)
        return max(_BLOCK, round_trips + 1)

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """Steady intervals as means over a block: the data of an RTT by Little's law, window, RTT.

        That is what the sender has in flight, wherever the capture is. Without timestamps, the RTT to
        the sender is that of the handshake, which is the least.
        """
        own, size = self.steady, self.block
        if own.empty:
            return pd.DataFrame({"flight": [], "window": [], "rtt_ms": []})
        times = (own["t_s"] / INTERVAL_S).round().astype(int)
        own = own.set_index(times).reindex(range(times.min(), times.max() + 1))
        window = own["window_min"].ffill()
        least = self.row["near_rtt_min_ms"]
        near = own["near_rtt_mean_ms"] if self.has_near_rtts else own["near_rtt_mean_ms"].fillna(least)
        rtt = near.rolling(size, min_periods=1).mean()
        if self.row["place"] != "receiver":
            rtt = rtt + own["rtt_mean_ms"].rolling(size, min_periods=1).mean()
        passed = own["bytes"].fillna(0).rolling(size).mean()
        flight = passed / INTERVAL_S * rtt / 1e3
        return pd.DataFrame({"flight": flight, "window": window, "rtt_ms": rtt}).dropna(
            subset=["flight", "rtt_ms"]
        )

    @property
    def has_near_rtts(self) -> bool:
        """Whether RTTs to the sender are known over time, by its echoes of timestamps."""
        return bool(self.row["near_rtt_samples"] >= _SAMPLES)

    @cached_property
    def rtt_ms(self) -> float:
        """Lowest RTT of the path, or of the side of the capture for which there is one; NaN without."""
        row = self.row
        for name in ("rtt_min_ms", "far_rtt_min_ms", "near_rtt_min_ms"):
            if row[name] > 0:
                return float(row[name])
        return float("nan")

    @cached_property
    def episodes(self) -> list[Episode]:
        """Episodes of all losses but those of outages, in the order of time."""
        rtt_ms = 0.0 if math.isnan(self.rtt_ms) else self.rtt_ms
        lowest_ms = self.row["far_rtt_min_ms"], self.row["near_rtt_min_ms"]
        is_beside_receiver = self.row["far_rtt_p50_ms"] < _BESIDE_MS
        is_ordered = _OVERTAKEN * self.row["reordered"] <= self.row["losses"]
        return find_episodes(
            self.losses,
            rtt_ms,
            lowest_ms,
            self.segment,
            has_repair_rtts=is_beside_receiver and is_ordered and not self.has_near_rtts,
        )

    @cached_property
    def timeouts(self) -> pd.DataFrame:
        """Losses that were repaired by time-out."""
        lost = ~self.losses["kind"].isin(["spurious", "reordering"])
        timeouts: pd.DataFrame = self.losses[lost & (self.losses["repair"] == "time-out")]
        return timeouts


def records(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Returns the rows as dictionaries, by column: `to_dict` goes by row through over 100 columns."""
    columns = [frame[name].tolist() for name in frame]
    return [dict(zip(frame, values, strict=True)) for values in zip(*columns, strict=True)]


def plural(count: int, name: str, plural_name: str = "") -> str:
    """Returns a count with its noun."""
    return f"{count} {name if count == 1 else plural_name or name + 's'}"


def moments(starts: list[float]) -> str:
    """Returns the times of several events as words in commas, with their period if they have one."""
    if len(starts) < _SEVERAL:
        return ""
    first, *_, last = starts
    if len(starts) == _SEVERAL:
        return f" ({len(starts)} times, at {first:.3g} and {last:.3g} s)"
    steps = sorted(later - earlier for earlier, later in itertools.pairwise(starts))
    apart = steps[len(steps) // 2]
    every = f"one every {apart:.3g} s, " if steps[-1] - steps[0] < _PERIODIC * apart else ""
    return f" ({len(starts)} times, {every}from {first:.3g} to {last:.3g} s)"


def segments_were(count: int) -> str:
    """Returns a count of segments with its verb."""
    return f"{plural(count, 'segment')} {'was' if count == 1 else 'were'}"


def seconds(value: float) -> str:
    """Returns a time in s, or in ms if it is short."""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
