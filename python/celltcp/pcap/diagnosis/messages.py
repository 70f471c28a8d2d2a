"""Messages at regular times: those of an application that waits for nothing, and limits the rate."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits

#: Minimum number of messages, and their minimum share of the payload.
_MIN_MESSAGES, _MIN_PAYLOAD_SHARE = 10, 0.8
#: Maximum range of the times between messages, over their median: jitter of the application and path.
_MAX_RANGE = 0.5
#: Range of such times, RTTs, in which a window that is sent at once in each RTT looks alike.
_MIN_WINDOW_RTTS, _MAX_WINDOW_RTTS = 0.9, 1.2
#: Maximum number of single segments in flight that are messages: full ones of a path with a small MTU
#: look alike.
_MAX_SINGLE = 4
#: Maximum size of a message that fills no segment, as a share of the longest one.
_MAX_SHORT_SHARE = 0.9
#: Time in which a message passes, over the median wait of its segments, and its minimum as a share of
#: the RTT: the error of the RTT.
_PASSING_RATIO, _MIN_PASSING_SHARE = 2, 0.02
#: Minimum time without data between messages, over that from segment to segment within one, and as a
#: share of the interval.
_MIN_PAUSE_RATIO, _MIN_PAUSE_SHARE = 2, 0.08
#: Minimum excess of larger messages over the usual size, as a share, and minimum number of large ones.
_MIN_LARGER_SHARE, _MIN_LARGE = 0.2, 5
#: Maximum number of segments of the receiver for each message: answers to requests are none.
_MAX_REQUEST_SHARE = 0.5

#: Decile of the normal distribution, standard deviations, and minimum spread of sizes that differ.
NORMAL_DECILE, _MIN_SPREAD = 1.2816, 0.05


class Messages(NamedTuple):
    """Messages of a sender at regular times."""

    number: int
    #: Payload per time without pauses, Mbit/s, and median time from one message to the next, ms.
    mbps: float
    interval_ms: float

    @property
    def size(self) -> float:
        """Mean payload of an interval, bytes: those of some messages differ, or come with the next."""
        return 125 * self.mbps * self.interval_ms

    def __str__(self) -> str:
        return (
            f"it sends messages of {size_text(self.size)} every {ms_text(self.interval_ms)} "
            f"on average, {three_digits(self.mbps)} Mbit/s"
        )


def messages_of(row: Mapping[Hashable, Any]) -> Messages | None:
    """Returns the messages of the sender of a connection; None if they come at no regular times.

    Data that wait for the path, or for ACKs, come as a queue or a window lets them pass.
    """
    if not _has_messages(row) or why_no_clock(row):
        return None
    number, interval_ms = int(row["messages"]), float(row["message_interval_ms"])
    return Messages(number, float(row["message_mbps"]), interval_ms)


def _has_messages(row: Mapping[Hashable, Any]) -> bool:
    """Returns whether most payload of a connection comes in messages, and none of them are answers."""
    number, other = int(row["messages"]), "up" if row["direction"] == "down" else "down"
    # The latest ones have their mean size; a backlog before these may have most of the payload.
    by_rate = 125e3 * float(row["message_mbps"]) * float(row["download_s"])
    in_messages = max(number * float(row["message_bytes"]), by_rate)
    return (
        number >= _MIN_MESSAGES
        and row["message_interval_ms"] > 0
        and in_messages >= _MIN_PAYLOAD_SHARE * row[f"bytes_{row['direction']}"]
        and row[f"segments_{other}"] <= _MAX_REQUEST_SHARE * number
    )


def why_no_clock(row: Mapping[Hashable, Any]) -> str:
    """Returns why messages of a connection show no clock of their sender; empty if they do, or without.

    Messages with a clock are the frames of a stream.
    """
    if not _has_messages(row):
        return ""
    interval_ms, span_ms = float(row["message_interval_ms"]), float(row["message_span_ms"])
    rtt_ms = _median_rtt_ms(row)
    segments = math.ceil(row["message_bytes"] / max(row["segment_max"], 1))
    pause_ms = rtt_ms / _MAX_SINGLE
    if segments > 1:
        pause_ms = _MIN_PAUSE_RATIO * span_ms / (segments - 1)
    elif row["message_bytes"] < _MAX_SHORT_SHARE * row["segment_max"]:
        # Data that wait would fill such segments.
        pause_ms = 0.0
    size = size_text(float(row["message_bytes"]))
    every = f"messages of {size} come every {ms_text(interval_ms)} in the median"
    if _MIN_WINDOW_RTTS * rtt_ms <= interval_ms <= _MAX_WINDOW_RTTS * rtt_ms:
        return f"{every}, about an RTT ({ms_text(rtt_ms)}), as data that wait for a window do"
    if row["message_interval_range"] > _MAX_RANGE:
        return f"{every}, but at irregular times, as those that wait for others do"
    # Where most ends of messages fill a segment, several look like one that is sent in pieces.
    pause_ms = max(pause_ms, _MIN_PAUSE_SHARE * interval_ms)
    return f"{every}, without a pause between them" if interval_ms - span_ms < pause_ms else ""


class LargeMessages(NamedTuple):
    """Messages beyond the usual ones of a stream, such as its key frames."""

    #: Payload of a usual message, and of a large one beside it, bytes.
    usual_bytes: float
    bytes: float
    #: Time from one large message to the next, ms.
    interval_ms: float


def large_messages(frames: pd.DataFrame) -> LargeMessages | None:
    """Returns the large messages among the frames of a stream, at regular times; None without any.

    A large message may come as one with the usual ones behind it.

    Args:
        frames: units of work of the stream, with `start_s` and `bytes`.
    """
    usual = float(frames["bytes"].median())
    excess = (frames["bytes"] - usual).clip(lower=0)
    is_larger = excess > _MIN_LARGER_SHARE * usual
    runs = frames.assign(excess=excess)[is_larger].groupby((~is_larger).cumsum()[is_larger])
    starts_s, sizes = runs["start_s"].first(), runs["excess"].sum()
    starts_s, sizes = starts_s[sizes > usual], sizes[sizes > usual]
    gaps_s = starts_s.diff().dropna()
    if len(gaps_s) < _MIN_LARGE or usual <= 0:
        return None
    low_s, gap_s, high_s = gaps_s.quantile([0.25, 0.5, 0.75])
    if high_s - low_s > _MAX_RANGE * gap_s:
        return None
    # One that comes with others has the start of the first of these: a mean has less of that.
    period_s = float(gaps_s.sum() / (gaps_s / gap_s).round().sum())
    return LargeMessages(usual, float(sizes.median()), 1e3 * period_s)


def size_spread(frames: pd.DataFrame) -> float:
    """Returns the standard deviation of the logarithms of frame sizes; 0 for equal ones.

    Parts of a frame are smaller: the nearer decile has fewer of these. Frames that came as one have
    their mean size, which shows no spread.

    Args:
        frames: units of work of the stream, with `bytes`, and `first_s` and `last_s` of their message.
    """
    frames = frames[~frames.duplicated(["first_s", "last_s"], keep=False)]
    if frames.empty:
        return 0.0
    low, median, high = np.log(frames["bytes"].clip(lower=1).quantile([0.1, 0.5, 0.9]))
    spread = min(median - low, high - median) / NORMAL_DECILE
    return float(spread) if spread >= _MIN_SPREAD else 0.0


def passing_mbps(row: Mapping[Hashable, Any], messages: Messages, headers: int) -> float:
    """Returns the rate at which a message passes the path at least, Mbit/s with headers of segments.

    Beside the receiver, it is that of the segments behind the first one. Elsewhere, they wait for each
    other by half of the time in the median.
    """
    behind = messages.size - row["segment_max"]
    delay_ms = _PASSING_RATIO * float(row["far_rtt_p50_ms"] - row["far_rtt_min_ms"])
    passed, time_ms = messages.size, max(delay_ms, _MIN_PASSING_SHARE * float(row["rtt_min_ms"]))
    if row["place"] == "receiver" and behind > 0 and row["message_span_ms"] > 0:
        passed, time_ms = behind, float(row["message_span_ms"])
    segments = math.ceil(passed / max(row["segment_max"], 1))
    return 8e-3 * float(passed + headers * segments) / time_ms


def _median_rtt_ms(row: Mapping[Hashable, Any]) -> float:
    """Returns the median RTT of the path, ms; 0 without samples."""
    rtts_ms = (float(row[f"{side}_rtt_p50_ms"]) for side in ("far", "near"))
    # At the sender, echoes come with the next message.
    known = [rtt for rtt in rtts_ms if rtt > 0][: 1 if row["place"] == "sender" else 2]
    return sum(known)
