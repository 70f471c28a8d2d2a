"""Full buffers: losses of a full link, which come again and again at one length of the queue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, plural
from celltcp.scenarios.quantity_texts import three_digits, time_text

#: Minimum number of lost segments of an overshoot of slow start.
_MIN_OVERSHOOT = 10
#: Maximum difference of delays at losses in one buffer: a share of them, and segments at the rate.
_MAX_DELAY_RANGE = 0.05
_MAX_DELAY_SEGMENTS = 2
#: Minimum share of the episodes at that length of the queue.
_MIN_FULL_SHARE = 0.9
#: Minimum number of episodes that recur, and maximum share of lost segments that is normal.
_MIN_EPISODES = 3
_MAX_NORMAL_LOSS = 0.01
#: Intervals whose mean rate is compared, and minimum number of such means before and after a change.
_STEP_INTERVALS = 10
_MIN_MEANS = 3
#: Minimum ratio of the rates before and after a change, and maximum range of each, from the first to
#: the last tenth of its means, as a share of its median.
_MIN_CHANGE = 2.0
_MAX_MEANS_RANGE = 0.25


def overshoot_fills_buffer(evidence: Evidence, full: Sequence[Episode]) -> bool:
    """Returns whether slow start overflowed a queue of the same length as at later losses.

    A queue discipline lets slow start fill a longer queue before it drops.
    """
    is_large = [episode.count >= _MIN_OVERSHOOT for episode in full]
    return any(is_large) and len(full) >= _MIN_EPISODES and _are_alike(evidence, full)


def full_buffer_text(evidence: Evidence, full: Sequence[Episode]) -> str:
    """Returns number, interval and duplicate ACKs of the losses in a full queue, as text.

    They are called normal where few segments are lost, again and again, at one length of the queue. It
    is empty for losses that do not recur.
    """
    if len(full) < _MIN_EPISODES:
        return ""
    row = evidence.row
    interval_s = (full[-1].start_s - full[0].start_s) / (len(full) - 1)
    acks = int(row["duplicate_acks_up" if row["direction"] == "down" else "duplicate_acks_down"])
    acks_text = f" ({plural(acks, 'duplicate ACK')})" if acks else ""
    text = f", in {len(full)} episodes, one every {time_text(interval_s)} on average{acks_text}"
    segments = max(int(row[f"segments_{row['direction']}"]), 1)
    if row["losses"] > _MAX_NORMAL_LOSS * segments or not _are_alike(evidence, full):
        return text
    return f"{text}; the link is full, and such losses are normal: the sender probes for more"


def rate_change_text(evidence: Evidence) -> str:
    """Returns the rates before and after the one change of a constant rate, as text; empty without."""
    means = evidence.bytes_by_interval.rolling(_STEP_INTERVALS).mean()[
        _STEP_INTERVALS - 1 :: _STEP_INTERVALS
    ]
    mbps = 8e-6 / INTERVAL_S * means.to_numpy()
    found: list[tuple[float, int, float, float]] = []
    # The mean in which the rate changes is of neither side.
    for change in range(_MIN_MEANS, len(mbps) - _MIN_MEANS):
        sides = [np.quantile(side, (0.1, 0.5, 0.9)) for side in (mbps[:change], mbps[change + 1 :])]
        ranges = [(high - low) / median if median > 0 else np.inf for low, median, high in sides]
        before, after = (float(median) for _, median, _ in sides)
        if max(ranges) <= _MAX_MEANS_RANGE and max(before, after) >= _MIN_CHANGE * min(before, after):
            found.append((sum(ranges), change, before, after))
    if not found:
        return ""
    _, change, before, after = min(found)
    # Within the means around the change, the last interval whose rate is nearer to the one before it.
    around = slice(_STEP_INTERVALS * (change - 1), _STEP_INTERVALS * (change + 2))
    rates = 8e-6 / INTERVAL_S * evidence.bytes_by_interval.iloc[around]
    is_before = (rates > (before * after) ** 0.5) == (before > after)
    at_s = INTERVAL_S * (1 + float(rates.index[is_before].max()))
    return (
        f"; {three_digits(before)} Mbit/s passed until {time_text(at_s)}, and "
        f"{three_digits(after)} Mbit/s later"
    )


def _are_alike(evidence: Evidence, full: Sequence[Episode]) -> bool:
    """Returns whether nearly all losses were at one length of the queue."""
    known = [episode for episode in evidence.episodes if episode.queue != "unknown"]
    if len(full) < _MIN_FULL_SHARE * len(known):
        return False
    low, median, high = pd.Series([episode.delay_ms for episode in full]).quantile([0.1, 0.5, 0.9])
    segment_ms = 8e-3 * evidence.segment_bytes / float(evidence.row["goodput_peak_mbps"])
    return bool(high - low <= max(_MAX_DELAY_RANGE * median, _MAX_DELAY_SEGMENTS * segment_ms))
