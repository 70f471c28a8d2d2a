"""Evidence: rows of one connection in the tables of a capture, and quantities as text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from celltcp.pcap.diagnosis.episodes import Episode, find_episodes
from celltcp.scenarios.quantity_texts import ms_text, three_digits

#: Length of an interval, s.
INTERVAL_S = 0.1
#: Share of the time of a transfer that counts as its start.
_STARTUP_SHARE = 0.1
#: Minimum mean length of the segments of a bulk transfer, as a share of the MSS.
_MIN_FULL_SHARE = 0.9
#: Maximum length of the options of a segment, bytes.
_MAX_OPTIONS = 40
#: MSS if none is announced, bytes.
_DEFAULT_MSS = 536
#: Maximum number of segments of messages whose last segments show among all.
_MAX_MESSAGE_SEGMENTS = 4
#: Minimum number of RTT samples to the sender that show its RTT over time.
_MIN_SAMPLES = 10
#: Maximum median RTT to a receiver beside the capture, ms.
_MAX_BESIDE_MS = 0.5
#: Minimum losses for each reordered segment at which repairs of losses show RTTs.
_MIN_LOSS_RATIO = 10
#: Minimum share of the time in pauses of a client, maximum ratio of RTTs that are constant, and maximum
#: length of answers: twice the initial window (RFC 6928).
_MIN_PAUSED_SHARE, _MAX_CONSTANT_RATIO, MAX_ANSWER_SEGMENTS = 0.3, 1.05, 20
#: Length of a block of intervals over which rates and peaks are taken: RTTs, and minimum intervals.
_BLOCK_RTTS = 2
_MIN_BLOCK = 5
#: Minimum number of intervals of a part of the time that is compared with the rest.
_MIN_PART_INTERVALS = 10
#: Maximum range of the times between periodic events, as a share of their median.
_MAX_PERIOD_RANGE = 0.2


def path_rtts_ms(intervals: pd.DataFrame, place: str) -> pd.Series:
    """Returns the mean RTT over the path in each interval, ms; NaN where a part of it has no samples.

    It is the sum of the RTTs to both hosts, of which that to the host of the capture is near zero.
    """
    columns = {"receiver": ["near_rtt_mean_ms"], "sender": ["rtt_mean_ms"]}
    names = columns.get(place, ["rtt_mean_ms", "near_rtt_mean_ms"])
    rtts_ms: pd.Series = intervals[names].sum(axis=1, skipna=False)
    return rtts_ms


def mean_rtt_ms(intervals: pd.DataFrame, place: str) -> float:
    """Returns the mean RTT over the path, by bytes, ms; NaN if it is not known."""
    rtts_ms = path_rtts_ms(intervals, place)
    weights = intervals["bytes"].where(rtts_ms.notna(), 0)
    return float((rtts_ms * weights).sum() / weights.sum()) if weights.sum() else math.nan


def has_time_of_server(row: Mapping[Any, Any]) -> bool:
    """Returns whether RTTs to the sender have the time that it takes to answer requests.

    Behind the pauses of a client, answers of an initial window or two make no queue that stands: RTTs
    are as constant as that time.
    """
    requester = "up" if row["direction"] == "down" else "down"
    has_paused = row[f"turns_{requester}_s"] >= _MIN_PAUSED_SHARE * row["duration_s"] > 0
    answer_segments = row[f"segments_{row['direction']}"] / max(row[f"turns_{requester}"], 1)
    median_ms, p95_ms = row["near_rtt_p50_ms"], row["near_rtt_p95_ms"]
    is_constant = p95_ms <= _MAX_CONSTANT_RATIO * median_ms
    is_beyond = median_ms > _MAX_CONSTANT_RATIO * row["near_rtt_min_ms"]
    return bool(row["place"] == "receiver" and has_paused and is_constant and is_beyond) and (
        answer_segments <= MAX_ANSWER_SEGMENTS
    )


class Passage(NamedTuple):
    """Rate, Mbit/s, and mean RTT, ms, of a transfer in a part of its time."""

    mbps: float
    rtt_ms: float

    def __str__(self) -> str:
        return f"{three_digits(self.mbps)} Mbit/s pass at a mean RTT of {ms_text(self.rtt_ms)}"


@dataclass(frozen=True)
class Evidence:
    """Row of a connection, and the rows of its losses and intervals."""

    row: dict[Hashable, Any]
    losses: pd.DataFrame
    intervals: pd.DataFrame
    #: Row of the transfer in whose queue the packets of the connection may wait; None without one.
    queue_filler: dict[Hashable, Any] | None = None
    #: Row of the transfer in the other direction behind whose data its ACKs may wait; None without one.
    opposite: dict[Hashable, Any] | None = None
    #: Row of the largest upload of its client, behind whose data its requests and ACKs wait, and their
    #: median wait, ms; None and 0 without one.
    uplink_filler: dict[Hashable, Any] | None = None
    uplink_wait_ms: float = 0.0
    #: Lowest RTT to the sender of the connection itself, ms, if others of its hosts have a lower one.
    own_near_rtt_ms: float | None = None
    #: Whether most RTTs of no connection to the sender are near the lowest, which may have a queue.
    is_lowest_rare: bool = False

    @property
    def sender(self) -> str:
        """Side that sent most payload."""
        return "server" if self.row["direction"] == "down" else "client"

    @property
    def receiver(self) -> str:
        """Side that received most payload."""
        return "client" if self.sender == "server" else "server"

    @property
    def is_at_sender(self) -> bool:
        """Whether the bytes in flight in the capture are those of the sender."""
        return bool(self.row["place"] == "sender")

    def turns_s(self, side: str) -> float:
        """Returns the time in which an application had received data and did not answer, s."""
        return float(self.row["turns_up_s" if side == "client" else "turns_down_s"])

    def pauses_s(self, side: str) -> float:
        """Returns the time in which an application paused between two writes, s."""
        return float(self.row["pauses_up_s" if side == "client" else "pauses_down_s"])

    @property
    def payload_bytes(self) -> int:
        """Payload of the sender."""
        return int(self.row[f"bytes_{self.row['direction']}"])

    @property
    def announced_mss(self) -> list[float]:
        """MSS that each side announced, bytes; empty without a handshake."""
        sizes = (float(self.row[name]) for name in ("mss_up", "mss_down"))
        return [size for size in sizes if not math.isnan(size)]

    def sends_full_segments(self, side: str) -> bool:
        """Returns whether nearly all segments of a side have one full size, as in bulk transfers.

        Options take some of the announced MSS. Without an announced one, the longest segment has the
        full size. There are two exceptions: it is below the default MSS (RFC 9293, section 3.7.1), or
        messages are so short that it may be the end of one.
        """
        direction, other = ("up", "down") if side == "client" else ("down", "up")
        segments = self.row[f"segments_{direction}"]
        full = min(self.announced_mss, default=float(self.row["segment_max"]))
        has_long_messages = _MAX_MESSAGE_SEGMENTS * self.row[f"segments_{other}"] < segments
        if not self.announced_mss and (full < _DEFAULT_MSS or not has_long_messages):
            return False
        if direction == self.row["direction"] and self.row["segment_max"] < full - _MAX_OPTIONS:
            return False
        return bool(self.row[f"bytes_{direction}"] >= _MIN_FULL_SHARE * segments * full)

    @cached_property
    def segment_bytes(self) -> float:
        """Length of the longest segment of the sender, at most the announced MSS."""
        return min([*self.announced_mss, float(self.row["segment_max"])])

    @cached_property
    def sender_intervals(self) -> pd.DataFrame:
        """Intervals of the sender's direction."""
        rows: pd.DataFrame = self.intervals[self.intervals["up"] == (self.row["direction"] == "up")]
        return rows

    @cached_property
    def steady(self) -> pd.DataFrame:
        """Intervals of the sender's direction, without those of the start and the last one."""
        rows = self.sender_intervals
        steady: pd.DataFrame = rows[rows["t_s"] >= rows["t_s"].max() * _STARTUP_SHARE].iloc[:-1]
        return steady

    @cached_property
    def bytes_by_interval(self) -> pd.Series:
        """Bytes of the sender by number of the interval, from its first to its last one."""
        numbers = (self.sender_intervals["t_s"] / INTERVAL_S).round().astype(int)
        counts = pd.Series(self.sender_intervals["bytes"].to_numpy(dtype=float), index=numbers)
        if counts.empty:
            return counts
        by_interval: pd.Series = counts.reindex(range(numbers.min(), numbers.max() + 1), fill_value=0.0)
        return by_interval

    @cached_property
    def beside_opposite(self) -> tuple[Passage, Passage] | None:
        """Passages without the transfer in the other direction and during it, which delays ACKs.

        None if either part is short, or if the RTT is not known, or not higher during that transfer.
        """
        other, row = self.opposite, self.row
        if other is None or self.bytes_by_interval.empty:
            return None
        start_s = (other["start_ns"] - row["start_ns"]) / 1e9
        numbers = (self.sender_intervals["t_s"] / INTERVAL_S).round().astype(int)
        rtts_ms = path_rtts_ms(self.sender_intervals, row["place"]).set_axis(numbers)
        times_s = self.bytes_by_interval.index.to_series() * INTERVAL_S
        is_during = times_s.between(start_s, start_s + other["duration_s"])
        without, during = (
            Passage(
                8e-6 / INTERVAL_S * float(self.bytes_by_interval[part].mean()),
                float(rtts_ms.reindex(times_s[part].index).mean()),
            )
            for part in (~is_during, is_during)
        )
        is_long = min(is_during.sum(), (~is_during).sum()) >= _MIN_PART_INTERVALS
        return (without, during) if is_long and during.rtt_ms > without.rtt_ms else None

    @cached_property
    def block(self) -> int:
        """Number of intervals of a block, over which bursts that come once per RTT are even."""
        rtts = math.ceil(_BLOCK_RTTS * self.rtt_or_zero_ms / 1e3 / INTERVAL_S)
        return max(_MIN_BLOCK, rtts + 1)

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """Steady intervals as means over a block: `flight` (bytes), `window` (bytes) and `rtt_ms`.

        The flight is the data of an RTT (Little's law), which the sender has in flight wherever the
        capture is. Without timestamps, the RTT to the sender is that of the handshake, which is the
        lowest.
        """
        if self.steady.empty:
            return pd.DataFrame({"flight": [], "window": [], "rtt_ms": []})
        numbers = (self.steady["t_s"] / INTERVAL_S).round().astype(int)
        own = self.steady.set_index(numbers).reindex(range(numbers.min(), numbers.max() + 1))
        near_ms = own["near_rtt_mean_ms"]
        if not self.has_near_rtts:
            near_ms = near_ms.fillna(self.row["near_rtt_min_ms"])
        rtt_ms = near_ms.rolling(self.block, min_periods=1).mean()
        if self.row["place"] != "receiver":
            rtt_ms = rtt_ms + own["rtt_mean_ms"].rolling(self.block, min_periods=1).mean()
        rate = own["bytes"].fillna(0).rolling(self.block).mean() / INTERVAL_S
        columns = {"flight": rate * rtt_ms / 1e3, "window": own["window_min"].ffill(), "rtt_ms": rtt_ms}
        return pd.DataFrame(columns).dropna(subset=["flight", "rtt_ms"])

    @property
    def has_near_rtts(self) -> bool:
        """Whether RTTs to the sender are known over time, from its echoes of timestamps."""
        return bool(self.row["near_rtt_samples"] >= _MIN_SAMPLES)

    @cached_property
    def rtt_ms(self) -> float:
        """Lowest RTT of the path, else of a side of the capture that has samples; NaN without any."""
        row = self.row
        for name in ("rtt_min_ms", "far_rtt_min_ms", "near_rtt_min_ms"):
            if row[name] > 0:
                return float(row[name])
        return float("nan")

    @property
    def rtt_or_zero_ms(self) -> float:
        """The RTT `rtt_ms`; 0 if it is not known."""
        return 0.0 if math.isnan(self.rtt_ms) else self.rtt_ms

    @cached_property
    def episodes(self) -> list[Episode]:
        """Episodes of all losses but those of outages, in the order of time."""
        has_server_time = has_time_of_server(self.row)
        near_ms = self.row["near_rtt_p50_ms" if has_server_time else "near_rtt_min_ms"]
        lowest_ms = self.row["far_rtt_min_ms"], near_ms
        is_beside_receiver = self.row["far_rtt_p50_ms"] < _MAX_BESIDE_MS
        is_ordered = _MIN_LOSS_RATIO * self.row["reordered"] <= self.row["losses"]
        # Data of the receiver are lost on the other side of the capture.
        is_back = self.losses["up"] != (self.row["direction"] == "up")
        return find_episodes(
            self.losses.assign(is_near=(self.losses["is_upstream"] == 1) != is_back, is_back=is_back),
            self.rtt_or_zero_ms,
            lowest_ms,
            self.segment_bytes,
            has_repair_rtts=is_beside_receiver and is_ordered and not self.has_near_rtts,
        )

    @cached_property
    def timeouts(self) -> pd.DataFrame:
        """Losses that were repaired by time-out."""
        rows: pd.DataFrame = self.true_losses[self.true_losses["repair"] == "time-out"]
        return rows

    @cached_property
    def lost_requests(self) -> pd.DataFrame:
        """Losses of data of the receiver, as requests are, that a time-out repaired; no outages."""
        is_request = self.timeouts["up"] == (self.row["direction"] == "down")
        rows: pd.DataFrame = self.timeouts[is_request & (self.timeouts["kind"] != "outage")]
        return rows

    @cached_property
    def true_losses(self) -> pd.DataFrame:
        """Rows of segments that were lost, without spurious retransmissions and reordering."""
        rows: pd.DataFrame = self.losses[~self.losses["kind"].isin(["spurious", "reordering"])]
        return rows


def records(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Returns the rows as dictionaries, faster than `to_dict` for over 100 columns."""
    columns = [frame[name].tolist() for name in frame]
    return [dict(zip(frame, values, strict=True)) for values in zip(*columns, strict=True)]


def plural(count: int, name: str, plural_name: str = "") -> str:
    """Returns a count with its noun, as `1 segment` or `2 segments`."""
    return f"{count} {name if count == 1 else plural_name or name + 's'}"


def times_text(starts_s: list[float]) -> str:
    """Returns the time of an event, or those of several ones with their period if they have one."""
    if not starts_s:
        return ""
    first, last = three_digits(starts_s[0]), three_digits(starts_s[-1])
    steps = sorted(later - earlier for earlier, later in itertools.pairwise(starts_s))
    if not steps:
        return f" at {first} s"
    if len(steps) == 1:
        return f" (2 times, at {first} and {last} s)"
    median = steps[len(steps) // 2]
    is_periodic = steps[-1] - steps[0] < _MAX_PERIOD_RANGE * median
    period_text = f"one every {three_digits(median)} s, " if is_periodic else ""
    return f" ({len(starts_s)} times, {period_text}from {first} to {last} s)"


def segments_were(count: int) -> str:
    """Returns a count of segments with its verb, as `2 segments were`."""
    return f"{plural(count, 'segment')} {'was' if count == 1 else 'were'}"
