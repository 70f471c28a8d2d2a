"""Episodes: losses within an RTT of each other, which have one cause and count once."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: Minimum queue at a loss, as a share of the longest one, at which it was full.
_MIN_FULL_SHARE = 0.75
#: Minimum time between episodes, RTTs: later losses have another cause.
_MIN_DISTANCE_RTTS = 1.25
#: Maximum distance of losses that are close, segments.
MAX_CLOSE_SEGMENTS = 10
#: Maximum excess of the time of a repair over the lowest RTT without a queue: a share of it, and ms.
#: The sender waits for three duplicate ACKs.
_MAX_REPAIR_SHARE = 0.05
_REPAIR_MS = 2.0
#: Kinds of losses that make episodes.
_KINDS = ("congestion", "random", "tail")
#: Values of the column `reason` of losses at a full queue, also by the RTTs of another transfer, and at
#: one of the usual length.
QUEUE_BESIDE = "the queue beside it was full"
QUEUE_OF_OTHER = "the queue that another transfer fills was full at its time"
_REASONS_FULL = (
    QUEUE_BESIDE,
    "many segments were lost with it in a full queue",
    QUEUE_OF_OTHER,
)
_REASON_USUAL = "the queue beside it was no longer than usual"
#: Queues at losses. A loss without an RTT, or at the end of a flight, has an unknown one.
_QUEUES = ("full", "short", "usual")
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Episode:
    """Losses within an RTT of each other."""

    #: Number of lost segments, and the time from the first to the last one, s.
    count: int
    start_s: float
    span_s: float
    #: Number of losses within ten segments of the previous one.
    close: int
    #: RTT at the losses, and the lowest one of their side of the capture; NaN without a sample.
    rtt_ms: float
    lowest_ms: float
    #: Whether the segments were lost between the capture and the sender of most data.
    is_near: bool
    #: Queue at most of the losses: `full`, `usual`, `short` or `unknown`.
    queue: str
    #: Whether most losses were at the end of a flight.
    is_tail: bool
    #: Number of repairs of these segments that were lost as well.
    repairs: int = 0
    #: Whether the other side, which receives most data, had sent them.
    is_back: bool = False

    @property
    def delay_ms(self) -> float:
        """Delay of the queue at the losses."""
        return self.rtt_ms - self.lowest_ms


def find_episodes(
    losses: pd.DataFrame,
    rtt_ms: float,
    lowest_ms: tuple[float, float],
    segment_bytes: float,
    *,
    has_repair_rtts: bool = False,
) -> list[Episode]:
    """Returns the episodes of all losses but those of outages, in the order of time.

    Args:
        losses: rows of losses of a connection, with `is_near` and `is_back` as in `Episode`.
        rtt_ms: lowest RTT of the path; 0 if it is not known.
        lowest_ms: lowest RTTs from the capture to the receiver and to the sender; NaN if not known.
        segment_bytes: length of the longest segment.
        has_repair_rtts: whether to take the times of fast repairs as RTTs: beside the receiver, a
            repair comes an RTT after the loss.
    """
    # The loss of a repair belongs to the first loss.
    all_losses = losses[losses["kind"].isin(_KINDS)].sort_values("t_s")
    own = all_losses.drop_duplicates("seq")
    if own.empty:
        return []
    repairs_lost = own["seq"].map(all_losses["seq"].value_counts()).to_numpy(dtype=int) - 1
    times, rtts = own["t_s"].to_numpy(dtype=float), own["rtt_ms"].to_numpy(dtype=float)
    min_distance_s = (
        _MIN_DISTANCE_RTTS * np.maximum(np.where(np.isnan(rtts), rtt_ms, rtts), rtt_ms) / 1e3
    )
    is_start = np.diff(times, prepend=-math.inf) > min_distance_s
    queues = _queues(own)
    sequence = own["seq"].to_numpy(dtype=float)
    is_close = np.abs(np.diff(sequence, prepend=math.inf)) <= MAX_CLOSE_SEGMENTS * segment_bytes
    is_near, is_back = (own[name].to_numpy(dtype=bool) for name in ("is_near", "is_back"))
    is_tail = (own["kind"] == "tail").to_numpy()
    repairs = _repairs_ms(own) if has_repair_rtts else np.full(len(own), math.nan)
    bounds = [*np.flatnonzero(is_start), len(own)]
    episodes = []
    for start, end in itertools.pairwise(bounds):
        side = int(is_near[start:end].mean() > 0.5)
        rtt, lowest, queue = _median(rtts[start:end]), float(lowest_ms[side]), _UNKNOWN
        if math.isnan(rtt) and not math.isnan(repairs[start]):
            rtt = float(repairs[start])
            is_short = rtt <= lowest * (1 + _MAX_REPAIR_SHARE) + _REPAIR_MS
            queue = "short" if is_short else "usual"
            lowest = float(np.nanmin([lowest, *repairs]))
        counts = np.bincount(queues[start:end], minlength=len(_QUEUES) + 1)[: len(_QUEUES)]
        episodes.append(
            Episode(
                count=int(end - start),
                start_s=float(times[start]),
                span_s=float(times[end - 1] - times[start]),
                close=int(is_close[start:end].sum()),
                rtt_ms=rtt,
                lowest_ms=lowest,
                is_near=bool(side),
                queue=_QUEUES[counts.argmax()] if counts.any() else queue,
                is_tail=bool(is_tail[start:end].mean() > 0.5),
                repairs=int(repairs_lost[start:end].sum()),
                is_back=bool(is_back[start:end].all()),
            )
        )
    return episodes


def _queues(losses: pd.DataFrame) -> NDArray[np.int64]:
    """Returns the queue at each loss as an index in `_QUEUES`, or their number if it is unknown."""
    reason = losses["reason"]
    is_full = reason.isin(_REASONS_FULL) | (losses["queue"] >= _MIN_FULL_SHARE)
    queue = np.where(is_full, _QUEUES.index("full"), _QUEUES.index("short"))
    queue = np.where(reason == _REASON_USUAL, _QUEUES.index("usual"), queue)
    is_unknown = losses["rtt_ms"].isna() & (reason != QUEUE_OF_OTHER) | (losses["kind"] == "tail")
    return np.where(is_unknown, len(_QUEUES), queue).astype(np.int64)


def _repairs_ms(losses: pd.DataFrame) -> NDArray[np.float64]:
    """Returns the time until the fast repair of each loss before the capture; NaN for others."""
    is_fast = (losses["repair"] == "fast") & (losses["is_upstream"] == 1)
    times = 1e3 * (losses["repaired_s"] - losses["t_s"])
    return times.where(is_fast).to_numpy(dtype=float)


def _median(values: NDArray[np.float64]) -> float:
    """Returns the median of the values that are known; NaN without one."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan
