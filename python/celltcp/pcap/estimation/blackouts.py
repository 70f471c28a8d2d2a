"""Blackouts of a captured path: times in which all packets of a transfer were lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, segments_were
from celltcp.scenarios.lower_bounds import BEST_BY_ENDS, UNKNOWN_ENDS

#: Minimum number of packets lost in a blackout: the loss of one, and of its repair, is no outage.
_MIN_LOST = 3
#: Minimum share of an outage with a capacity of zero at which the path has kept the packets.
_MIN_KEPT_SHARE = 0.5
#: Minimum share of what is sent in a blackout that is lost: the times of both are known to an interval.
_MIN_LOST_SHARE = 0.9
#: Maximum time from the end of an outage before a capture until its losses show, RTTs.
_MAX_SHOWN_RTTS = 3
#: Time of the last loss before a capture, as a share of a silence: each time-out doubles.
LAST_LOSS_SHARE = 0.5
#: End between its bounds, as a share of their distance: the mean of 48 drawn blackouts under CUBIC, BBR
#: and Reno, of which it is uniform.
_END_SHARE = 0.45
#: Maximum range of the time in blackouts, as a share of the transfer, that does not matter.
_MAX_RANGE_SHARE = 0.01


class Blackout(NamedTuple):
    """Time in which nothing passed, s since the first packet of the connection."""

    start_s: float
    #: Time of the last packet that was lost, and of the first one that passed: it ended in between.
    last_lost_s: float
    passed_s: float
    #: Number of packets that were lost.
    lost: int

    @property
    def length_s(self) -> float:
        """Estimated length, between its bounds."""
        return self.min_s + _END_SHARE * (self.max_s - self.min_s)

    @property
    def min_s(self) -> float:
        """Minimum length."""
        return self.last_lost_s - self.start_s

    @property
    def max_s(self) -> float:
        """Maximum length."""
        return self.passed_s - self.start_s

    def later(self, offset_s: float) -> Blackout:
        """Returns it in times since an earlier origin."""
        times_s = (self.start_s, self.last_lost_s, self.passed_s)
        start_s, last_lost_s, passed_s = (time_s + offset_s for time_s in times_s)
        return Blackout(start_s, last_lost_s, passed_s, self.lost)


def outages_of(losses: pd.DataFrame) -> list[pd.DataFrame]:
    """Returns the losses by outages of each outage, in the order of time: they wait together."""
    own = losses[losses["kind"] == "outage"].sort_values("t_s")
    before_s = own["repaired_s"].fillna(-math.inf).cummax().shift(fill_value=-math.inf)
    return [rows for _, rows in own.groupby((own["t_s"] > before_s).cumsum())]


def is_before(outage: pd.DataFrame) -> bool:
    """Returns whether most losses of an outage were before the capture."""
    return bool(outage["is_upstream"].mean() > 1 / 2)


def blackouts_of(
    evidence: Evidence, capacity_mbps: NDArray[np.float64]
) -> tuple[tuple[Blackout, ...], int]:
    """Returns the blackouts of a transfer, and the number of losses by outages that nothing has.

    An outage in which the capacity is zero is no blackout: its packets waited, or overflowed the queue.

    Args:
        evidence: evidence of the connection.
        capacity_mbps: capacity of each interval, which is zero where packets waited for its end.
    """
    blackouts: list[Blackout] = []
    others = 0
    for rows in outages_of(evidence.losses):
        blackout = _blackout(evidence, rows)
        if blackout is None or blackout.lost < _MIN_LOST:
            others += len(rows)
        elif _has_kept(blackout, capacity_mbps):
            continue
        elif blackouts and blackout.start_s <= blackouts[-1].start_s + blackouts[-1].length_s:
            blackouts[-1] = blackouts[-1]._replace(
                last_lost_s=blackout.last_lost_s,
                passed_s=blackout.passed_s,
                lost=blackouts[-1].lost + blackout.lost,
            )
        else:
            blackouts.append(blackout)
    return tuple(blackouts), others


def are_in_blackouts(evidence: Evidence) -> NDArray[np.bool_]:
    """Returns which losses were in blackouts behind the capture, also of what a full queue had then.

    Nothing passes of what is sent from the first of them on. A path that keeps packets is no blackout.
    """
    losses, own = evidence.losses, evidence.sender_intervals
    is_lost = ~losses["kind"].isin(["spurious", "reordering"]) & (losses["is_upstream"] == 0)
    are_own = np.zeros(len(losses), bool)
    for rows in outages_of(losses):
        blackout = _blackout(evidence, rows)
        if blackout is None or blackout.lost < _MIN_LOST or rows["is_upstream"].any():
            continue
        first_s = float(rows["t_s"].min())
        are_within = (is_lost & losses["t_s"].between(first_s, blackout.passed_s)).to_numpy()
        is_whole = own["t_s"].between(first_s, blackout.last_lost_s - INTERVAL_S)
        sent = float((own["bytes"] + own["retransmitted_bytes"])[is_whole].sum())
        after = own["t_s"].between(blackout.passed_s - INTERVAL_S, blackout.passed_s)
        waited_ms = float(own.loc[after, "rtt_max_ms"].max()) - evidence.rtt_or_zero_ms
        has_kept = waited_ms >= 1e3 * _MIN_KEPT_SHARE * blackout.length_s
        if not has_kept and losses["len"].to_numpy()[are_within].sum() >= _MIN_LOST_SHARE * sent:
            are_own |= are_within
    return are_own


def blackouts_text(blackouts: tuple[Blackout, ...]) -> str:
    """Returns times, lengths and losses of blackouts as text."""
    return "; ".join(
        f"from {each.start_s:.2f} s on for {each.max_s:.2f} s at most and "
        f"{each.min_s:.2f} s at least, {segments_were(each.lost)} lost"
        for each in blackouts
    )


def unknown_ends(
    blackouts: tuple[Blackout, ...],
    transfer_s: float,
    best: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Returns the sentence about ends that a capture leaves open; empty if little time depends on them.

    Args:
        blackouts: blackouts of a transfer.
        transfer_s: its duration.
        best: by need, the CCAs of which each is best with some of these ends; None if not tried.
    """
    min_s, max_s = sum(each.min_s for each in blackouts), sum(each.max_s for each in blackouts)
    if max_s - min_s <= _MAX_RANGE_SHARE * transfer_s:
        return ""
    several = [
        f"{BEST_BY_ENDS}{' or '.join(ccas)} is best for {need}"
        for need, ccas in (best or {}).items()
        if len(ccas) > 1
    ]
    text = "the best CCA is the same with both bounds" if best else "the order of CCAs may depend on it"
    if several:
        text = f"on that depends {', '.join(several)}"
    return (
        f"Its blackouts take {min_s:.1f} to {max_s:.1f} s, {UNKNOWN_ENDS}: {text}; the shortest and "
        "longest ones stand in its file."
    )


def _blackout(evidence: Evidence, rows: pd.DataFrame) -> Blackout | None:
    """Returns the blackout of the losses of an outage; None if nothing passed after it."""
    first_s, end_s = float(rows["t_s"].min()), float(rows["repaired_s"].max())
    is_upstream = is_before(rows)
    own = evidence.sender_intervals.sort_values("t_s")
    passed = own["bytes"] + own["retransmitted_bytes"] if is_upstream else own["acked_bytes"]
    times_s = own["t_s"][(passed > 0) & (own["t_s"] <= end_s)].to_numpy(float)
    # Losses before a capture show once their sender has gone on, which takes some RTTs.
    shown_s = _MAX_SHOWN_RTTS * evidence.rtt_or_zero_ms / 1e3 + INTERVAL_S if is_upstream else 0.0
    silences_s = np.where(times_s[1:] >= first_s - shown_s, np.diff(times_s), 0.0)
    if not silences_s.any():
        return None
    start_s, next_s = (float(each) for each in times_s[silences_s.argmax() :][:2])
    if is_upstream:
        start_s += INTERVAL_S
        return Blackout(start_s, start_s + LAST_LOSS_SHARE * (next_s - start_s), next_s, len(rows))
    first = rows.sort_values("t_s").iloc[0]
    # The first packet that is lost waits in the queue before it comes to the link.
    queue_ms = float(np.nan_to_num(first["rtt_ms"] - evidence.row["far_rtt_min_ms"]))
    # A repair of what had passed before is spurious, and is lost all the same.
    lost = evidence.losses[evidence.losses["t_s"].between(first_s, next_s)]
    last = lost.sort_values("t_s").iloc[-1]
    last_s = float(last["t_s"])
    start_s = min(first_s + max(queue_ms, 0.0) / 1e3, last_s)
    return Blackout(start_s, last_s, max(min(float(last["repaired_s"]), next_s), last_s), len(lost))


def _has_kept(blackout: Blackout, capacity_mbps: NDArray[np.float64]) -> bool:
    """Returns whether the path kept the packets of an outage, which its capacity shows."""
    start, end = (int(at / INTERVAL_S) for at in (blackout.start_s, blackout.passed_s))
    during = capacity_mbps[start + 1 : end]
    return bool(len(during) and (during == 0).mean() >= _MIN_KEPT_SHARE)
