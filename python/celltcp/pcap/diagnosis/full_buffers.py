"""Full buffers: losses of a full link, which come again and again at one length of the queue."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import Evidence, plural
from celltcp.scenarios.quantity_texts import time_text

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


def _are_alike(evidence: Evidence, full: Sequence[Episode]) -> bool:
    """Returns whether nearly all losses were at one length of the queue."""
    known = [episode for episode in evidence.episodes if episode.queue != "unknown"]
    if len(full) < _MIN_FULL_SHARE * len(known):
        return False
    low, median, high = pd.Series([episode.delay_ms for episode in full]).quantile([0.1, 0.5, 0.9])
    segment_ms = 8e-3 * evidence.segment_bytes / float(evidence.row["goodput_peak_mbps"])
    return bool(high - low <= max(_MAX_DELAY_RANGE * median, _MAX_DELAY_SEGMENTS * segment_ms))
