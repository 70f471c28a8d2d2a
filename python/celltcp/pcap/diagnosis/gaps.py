"""Gaps of the data of a sender that is away from the capture, and the outages among them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, records, times_text

#: Minimum gap of the data: s, RTTs, and RTTs with queues.
_MIN_GAP_S = 0.5
_MIN_GAP_RTTS = 5
MIN_QUEUED_RTTS = 2
#: Minimum ratio of a gap to the usual time between data, which that of messages is.
_MIN_GAP_RATIO = 2
#: Intervals after a gap in which its data come, and around it that show the usual rate; maximum range
#: of an even rate as a share of its median, and minimum share of the data of a gap that come after it.
_MADE_UP = 10
_USUAL = 200
_MAX_EVEN_RANGE = 0.6
_MIN_MADE_UP_SHARE = 0.5
#: Minimum share of a gap that is part of an outage behind the capture, or that its timestamps explain.
_MIN_COMMON_SHARE = 0.5
#: Silence of a receiver that is no stall: s, and RTTs to it.
_MIN_STALL_S, _MIN_STALL_RTTS = 0.2, 2
#: Maximum number of gaps that are listed one by one.
_MAX_LISTED = 4
_KEYS = ["file", "connection"]


class Gap(NamedTuple):
    """Time without data of the sender, s since the first packet of the connection, to about 0.1 s."""

    #: Interval of the first data after it.
    end_s: float
    length_s: float
    #: Number of segments lost in it before the capture, which show after it.
    lost: int
    #: Whether the data after it had been sent before it.
    is_held: bool
    #: Whether the sender had every ACK, and sent these data after it.
    is_paused: bool
    #: Whether it is part of an outage behind the capture, or the wait for a lost request.
    is_behind: bool
    #: Whether a segment before it was missing until after it, so that not all was acknowledged.
    has_hole: bool

    @property
    def start_s(self) -> float:
        """Its start."""
        return self.end_s - self.length_s

    @property
    def min_s(self) -> float:
        """Minimum length: whole intervals without data."""
        return self.length_s - INTERVAL_S

    @property
    def is_outage(self) -> bool:
        """Whether the path before the capture carried nothing, for sure."""
        return not self.is_behind and (self.lost > 0 or self.is_held)


def gaps_of(evidence: Evidence) -> list[Gap]:
    """Returns the gaps of the data in the order of time; none where the capture is at the sender."""
    row = evidence.row
    if row["place"] not in ("receiver", "between") or not row["bytes_up"] + row["bytes_down"]:
        return []
    own = evidence.sender_intervals.sort_values("t_s")
    came = own[own["bytes"] + own["retransmitted_bytes"] > 0]
    steps_s = came["t_s"].diff()
    usual_s = float(steps_s.median()) if len(steps_s) > 1 else 0.0
    # A sender waits for ACKs as long as these wait in a queue.
    queued_rtts_ms = [row["far_rtt_p95_ms"], row["far_rtt_min_ms"] + row["near_rtt_p50_ms"]]
    queued_rtt_ms = max((float(rtt) for rtt in queued_rtts_ms if not math.isnan(rtt)), default=0.0)
    min_gap_s = max(
        _MIN_GAP_S,
        _MIN_GAP_RATIO * usual_s,
        _MIN_GAP_RTTS * evidence.rtt_or_zero_ms / 1e3,
        MIN_QUEUED_RTTS * queued_rtt_ms / 1e3,
    )
    is_gap = steps_s - INTERVAL_S >= min_gap_s
    gaps = records(came.assign(_length_s=steps_s)[is_gap])
    # Retransmissions of an outage behind the capture come after time-outs that double. Those of a
    # request have no data to wait for.
    are_behind = [_is_behind(evidence, gap["t_s"], gap["_length_s"] - INTERVAL_S) for gap in gaps]
    losses = evidence.losses
    lost_s = losses.loc[(losses["kind"] == "outage") & (losses["is_upstream"] == 1), "t_s"]
    # Losses of an outage show when the sender goes on, after time-outs that have doubled.
    with_losses = [
        gap["t_s"]
        for gap, is_behind in zip(gaps, are_behind, strict=True)
        if not is_behind
        and lost_s.between(gap["t_s"] - INTERVAL_S, gap["t_s"] + gap["_length_s"] - INTERVAL_S).any()
    ]
    edges_s = np.array([*with_losses, math.inf]) - INTERVAL_S
    numbers = np.histogram(lost_s, edges_s)[0].tolist() if with_losses else []
    counts = dict(zip(with_losses, numbers, strict=True))
    missing, found = evidence.true_losses, []
    for gap, is_behind in zip(gaps, are_behind, strict=True):
        min_share_s = _MIN_COMMON_SHARE * (gap["_length_s"] - INTERVAL_S)
        is_held = gap["held_s"] >= min_share_s
        are_open = missing["repaired_s"] >= gap["t_s"]
        are_open &= missing["t_s"] <= gap["t_s"] - gap["_length_s"] + INTERVAL_S
        found.append(
            Gap(
                gap["t_s"],
                # Timestamps of the packets know it to less than an interval.
                min(gap["held_s"], gap["_length_s"] + INTERVAL_S) if is_held else gap["_length_s"],
                int(counts.get(gap["t_s"], 0)),
                is_held,
                not is_held and gap["paused_s"] >= min_share_s,
                is_behind,
                bool(are_open.any()),
            )
        )
    return found


def gaps_text(gaps: list[Gap]) -> str:
    """Returns times and lengths of gaps as text."""
    if len(gaps) == 1:
        return f" at {gaps[0].start_s:.1f} s"
    if len(gaps) > _MAX_LISTED:
        longest_s = max(each.length_s for each in gaps)
        return f"{times_text([each.start_s for each in gaps])[:-1]}: {longest_s:.1f} s at most)"
    texts = [
        f"{each.length_s:.1f} s from {each.start_s:.1f} to {each.end_s:.1f} s"
        for each in sorted(gaps, key=lambda gap: gap.end_s)
    ]
    return f" ({len(gaps)} times: {', '.join(texts[:-1])} and {texts[-1]})"


def is_made_up_for(evidence: Evidence, gap: Gap) -> bool:
    """Returns whether an application at an even rate wrote in a gap: its data came after it."""
    passed = evidence.bytes_by_interval
    first, end = round((gap.end_s - gap.min_s) / INTERVAL_S) + 1, round(gap.end_s / INTERVAL_S)
    around = passed.loc[first - _USUAL : end + _USUAL + _MADE_UP]
    # Sums over a second, before the gap and after the data that were late.
    sums = around.rolling(_MADE_UP).sum().dropna()
    usual = sums[(sums.index < first) | (sums.index >= end + 2 * _MADE_UP)]
    low, median, high = usual.quantile([0.1, 0.5, 0.9])
    if len(usual) < _MADE_UP or not 0 < high <= low + _MAX_EVEN_RANGE * median:
        return False
    more = float(passed.loc[end : end + _MADE_UP - 1].sum()) - median
    return more >= _MIN_MADE_UP_SHARE * median * (end - first) / _MADE_UP


def stalled_before_s(evidence: Evidence, gaps: list[Gap]) -> float:
    """Returns the part of `stalled_s` in outages among the gaps of the data, s."""
    row = evidence.row
    answered_s = float(row["stalled_s"] - row["unanswered_s"])
    if answered_s <= 0:
        return 0.0
    outages = (each for each in gaps if each.is_outage)
    return min(sum(_stall_s(evidence, each) for each in outages), answered_s)


def with_outages_before(
    connections: pa.Table, losses: pd.DataFrame, intervals: pd.DataFrame
) -> pa.Table:
    """Returns connections in which outages of the path before the capture are stalls, not pauses.

    Data are in flight in them, though nothing of that comes to the capture, and all before is
    acknowledged.
    """
    names = ["stalled_s", "harm_s", "pauses_up_s", "pauses_down_s"]
    rows = records(connections.to_pandas())
    held = set(intervals.loc[intervals["held_s"] > 0, _KEYS].itertuples(index=False, name=None))
    loss_indices, interval_indices = (
        table.groupby(_KEYS, observed=True).indices for table in (losses, intervals)
    )
    for row in rows:
        key = (row["file"], row["connection"])
        if key not in held and not row["losses_outage"]:
            continue
        evidence = Evidence(
            row,
            losses.iloc[loss_indices.get(key, [])],
            intervals.iloc[interval_indices.get(key, [])],
        )
        outages = [each for each in gaps_of(evidence) if each.is_outage]
        unseen = [each for each in outages if not each.has_hole]
        stalled_s = sum(_stall_s(evidence, each) for each in unseen)
        row["stalled_s"] += stalled_s
        row["harm_s"] += stalled_s
        name = f"pauses_{row['direction']}_s"
        row[name] = max(row[name] - sum(each.length_s for each in unseen), 0.0)
    for name in names:
        number = connections.schema.get_field_index(name)
        field = connections.schema.field(number)
        column = pa.array([row[name] for row in rows], field.type)
        connections = connections.set_column(number, field, column)
    return connections


def _stall_s(evidence: Evidence, gap: Gap) -> float:
    """Returns the part of a gap that counts as a stall, s."""
    rtt_ms = float(np.nan_to_num(evidence.row["far_rtt_p50_ms"]))
    return max(gap.length_s - max(_MIN_STALL_S, _MIN_STALL_RTTS * rtt_ms / 1e3), 0.0)


def _is_behind(evidence: Evidence, end_s: float, gap_s: float) -> bool:
    """Returns whether most of a gap is within an outage behind the capture, or after a lost request."""
    losses = evidence.losses
    outages = losses[(losses["kind"] == "outage") & (losses["is_upstream"] == 0)]
    outages = pd.concat([outages, evidence.lost_requests])
    common_s = outages["repaired_s"].clip(upper=end_s) - outages["t_s"].clip(lower=end_s - gap_s)
    return bool((common_s >= _MIN_COMMON_SHARE * gap_s).any())
