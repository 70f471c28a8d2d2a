"""Losses: where most segments of a connection were lost, and what that says about the path."""

from __future__ import annotations

from math import comb

import pandas as pd

from celltcp.pcap.diagnosis.evidence import Evidence, seconds, segments_were
from celltcp.pcap.diagnosis.policing import policer
from celltcp.present.quantities import size_text

#: Time between two repairs without SACK, RTTs, and the share of the time in such steps that matters.
_ROUND_TRIP = (0.7, 2.0)
_RECOVERY = 0.3
#: Random losses for each one of congestion from which on neither tells the cause.
_MIXED = 0.5
#: Least delay of a queue beside which another one is not full, or which no jitter makes, ms.
_CLEAR_MS = 8.0
#: Losses of an overshoot, and the share of the time in which they are.
_OVERSHOOT = 10
_EARLY = 0.25
#: Share of the intervals without a queue from which on none stands.
_MOST = 0.8
#: Share of the highest goodput below which a window has not grown back.
_GROWN = 0.8
#: Place of a loss in the queue, from 0 to 1, from which on the queue was full.
_FULL = 0.75
#: Queueing delay of a full but shallow buffer, as a share of the lowest RTT.
_SHALLOW = 0.25
#: Share of the lowest RTT, and time, by which an RTT without a queue may exceed it.
_JITTER = 0.05
_JITTER_MS = 1.0
#: Probability below which losses at the high RTTs of a connection are no accident.
_ACCIDENT = 1e-5
#: Least delay of a queue whose size shows in its losses, ms, and share by which half of them differ.
_LONG_MS = 5.0
_LEVEL = 0.2
#: Least number of losses, or their confidence, that say something about the path; and how many times
#: more segments are overtaken than lost where reordering matters more.
_SEVERAL = 3
_SURE = 0.8
#: Segments within which losses are a burst.
_BURST = 10
#: Most losses that this probability is computed of.
_DRAWN = 200


def overshoot(evidence: Evidence) -> str:
    """Slow start that lost ten segments at once, after which the goodput is below 80 % of its peak."""
    row = evidence.row
    overflow = _of_kind(evidence, "congestion")
    if len(overflow) < _OVERSHOOT or not row["download_s"] > 0 or not evidence.is_at_sender:
        return ""
    last = float(overflow["t_s"].quantile(0.9))
    if last > _EARLY * row["download_s"] or row["in_flight_mean"] > row["in_flight_max"] / 2:
        return ""
    has_grown = row["throughput_mbps"] > _GROWN * row["goodput_peak_mbps"]
    if has_grown or not (_is_full(overflow) or _is_level(evidence, overflow)):
        return ""
    return (
        f"slow start overshot the queue: {len(overflow)} segments were lost by {seconds(last)}, "
        f"and the congestion window has not grown back: {size_text(row['in_flight_mean'])} in flight "
        f"on average after {size_text(row['in_flight_max'])}"
    )


def one_a_round_trip(evidence: Evidence) -> str:
    """Recovery without SACK: in a third of the time, losses are repaired one an RTT (RFC 6582)."""
    row = evidence.row
    rtt = evidence.rtt_ms / 1e3
    if row["sack"] or not row["losses"] or not rtt > 0:
        return ""
    repairs = evidence.losses[~evidence.losses["kind"].isin(["spurious", "reordering"])]
    steps = repairs["repaired_s"].dropna().sort_values().diff().dropna()
    own = steps[(steps >= _ROUND_TRIP[0] * rtt) & (steps <= _ROUND_TRIP[1] * rtt)]
    if len(own) < _OVERSHOOT or own.sum() < _RECOVERY * row["download_s"]:
        return ""
    waited = seconds(float(own.sum()))
    return (
        f"waited {waited} for a recovery without SACK: the {evidence.sender} repairs one of "
        f"{row['losses']} losses an RTT"
    )


def loss_limit(evidence: Evidence) -> str:
    """The kind of which most losses are."""
    row = evidence.row
    kinds = {kind: row[f"losses_{kind}"] for kind in ("congestion", "random", "outage", "tail")}
    kind, count = max(kinds.items(), key=lambda each: each[1])
    if not count or row["reordered"] > _SEVERAL * sum(kinds.values()):
        return _reordering(evidence)
    lost = segments_were(count)
    others = max(("congestion", "random"), key=kinds.__getitem__)
    if kind == "tail" and kinds["congestion"] + kinds["random"] >= _MIXED * count:
        # Bursts have ends, too.
        kind, lost = others, segments_were(kinds[others])
    if kind in ("congestion", "random"):
        text = _full_queue if kind == "congestion" else _random
        return policer(evidence) or _queue_discipline(evidence) or text(evidence, lost)
    if kind == "outage":
        return f"{lost} lost while the path stood still"
    return f"{lost} lost at the end of a flight, where a probe or a time-out repairs them"


def _full_queue(evidence: Evidence, lost: str) -> str:
    row = evidence.row
    overflow = _of_kind(evidence, "congestion")
    is_few = len(overflow) < _SEVERAL
    if is_few and (overflow["confidence"].max() < _SURE or not evidence.is_at_sender):
        return f"{lost} lost, too few to tell why"
    if not (_is_full(overflow) or _is_level(evidence, overflow)):
        return _bursts(evidence, lost, overflow)
    if not evidence.is_at_sender:
        is_mixed = row["losses_random"] > _MIXED * len(overflow)
        is_once = len(overflow) < _OVERSHOOT and _episodes(evidence, overflow) < _SEVERAL
        if is_mixed or is_once or not _is_long(evidence, overflow):
            return _bursts(evidence, lost, overflow)
    lowest, most = row["far_rtt_min_ms"], (1 + _SHALLOW) * row["far_rtt_min_ms"]
    is_shallow = row["far_rtt_p95_ms"] <= most and overflow["rtt_ms"].quantile(0.9) <= most
    if evidence.is_at_sender and is_shallow:
        if not _is_top(evidence, overflow):
            return _bursts(evidence, lost, overflow)
        return (
            f"a shallow buffer on the path limits the rate: {lost} lost in a queue that was full "
            f"at an RTT of {overflow['rtt_ms'].median():.3g} ms, {lowest:.3g} ms at least"
        )
    last = float(overflow["t_s"].max())
    if _is_empty_after(evidence, last):
        return f"{lost} lost in a full queue by {seconds(last)}; later, no queue stands"
    return f"a full queue on the path limits the rate: {lost} lost in it"


def _is_empty_after(evidence: Evidence, last: float) -> bool:
    """Whether losses were early, and the RTT comes back to its lowest in most intervals after them."""
    later = evidence.steady[evidence.steady["t_s"] > last]
    if not evidence.is_at_sender or last > _EARLY * evidence.row["download_s"] or later.empty:
        return False
    lowest = evidence.row["far_rtt_min_ms"] * (1 + _JITTER) + _JITTER_MS
    return bool((later["rtt_min_ms"] <= lowest).mean() > _MOST)


def _random(evidence: Evidence, lost: str) -> str:
    """Losses are said to be random only where they stand alone and no queue stood beside them."""
    losses = _of_kind(evidence, "random")
    if _are_bursts(evidence, losses):
        return _bursts(evidence, lost, losses)
    if not _above_lowest(evidence, losses):
        if not evidence.is_at_sender and len(losses) < _OVERSHOOT:
            return f"{lost} lost at random, by a policer, or in a buffer as short as the queue"
        return f"{lost} lost at random, beside a short queue"
    if len(losses) < _SEVERAL:
        return f"{lost} lost, too few to tell why: {_rtts(evidence, losses)}"
    return f"{lost} lost beside a queue that was not full: {_rtts(evidence, losses)}"


def _bursts(evidence: Evidence, lost: str, losses: pd.DataFrame) -> str:
    """Bursts of losses: beside a queue that was not full, if a clearly longer one passed without loss.

    Else they may be those of a short buffer, and away from the sender those of a longer one.
    """
    if len(losses) < _SEVERAL:
        return f"{lost} lost, too few to tell why"
    longest = evidence.row["far_rtt_p95_ms"]
    clearly = max(_CLEAR_MS, _SHALLOW * evidence.row["far_rtt_min_ms"])
    if evidence.is_at_sender and losses["rtt_ms"].median() + clearly < longest:
        return (
            f"{lost} lost in bursts, beside a queue that was not full: either a policer, or errors of "
            "the path"
        )
    return (
        f"{lost} lost in bursts: either a buffer that overflowed, a policer, or errors of the path; "
        f"{_rtts(evidence, losses)}"
    )


def _is_top(evidence: Evidence, losses: pd.DataFrame) -> bool:
    """Whether RTTs beside losses are the highest ones, not those of a burst or two by accident."""
    is_highest = losses["rtt_ms"].quantile(0.1) > evidence.row["far_rtt_p95_ms"]
    is_several = len(losses) >= _OVERSHOOT and bool(is_highest)
    is_high = losses["rtt_ms"].median() >= (1 - _JITTER) * evidence.row["far_rtt_p95_ms"]
    return is_several or (bool(is_high) and _episodes(evidence, losses) >= _SEVERAL)


def _episodes(evidence: Evidence, losses: pd.DataFrame) -> int:
    """Number of losses, in which those within an RTT of the one before do not count."""
    steps = losses["t_s"].sort_values().diff()
    return 1 + int((steps > evidence.rtt_ms / 1e3).sum())


def _is_long(evidence: Evidence, losses: pd.DataFrame) -> bool:
    """Whether the queue beside most losses was long, so that no jitter explains it."""
    delays = losses["rtt_ms"] - _lowest_ms(evidence, losses)
    lowest = float(_lowest_ms(evidence, losses).min())
    return bool(delays.median() > max(_CLEAR_MS, _SHALLOW * lowest))


def _are_bursts(evidence: Evidence, losses: pd.DataFrame) -> bool:
    """Whether most losses follow another one within the time of ten segments at the mean rate."""
    step_s = 8e-6 * _BURST * evidence.segment / evidence.row["throughput_mbps"]
    return bool((losses["t_s"].sort_values().diff().dropna() < step_s).mean() > 0.5)


def _queue_discipline(evidence: Evidence) -> str:
    """Drops at RTTs that are high for the connection, of a queue that is not full (RFC 7567)."""
    row, losses = evidence.row, evidence.losses
    losses = losses[losses["kind"].isin(["congestion", "random"]) & (losses["is_upstream"] == 0)]
    if not evidence.is_at_sender or not _above_lowest(evidence, losses):
        return ""
    if _is_full(losses):
        return ""
    # Losses within an RTT of each other have one cause and count once.
    apart = losses["t_s"].sort_values().diff().fillna(float("inf")) > row["far_rtt_p50_ms"] / 1e3
    rtts = losses.loc[apart[apart].index, "rtt_ms"].dropna()
    rtts = rtts[:: 1 + len(rtts) // _DRAWN]
    chance = min(
        _at_least(int((rtts > row[quantile]).sum()), len(rtts), one_in)
        for quantile, one_in in (("far_rtt_p50_ms", 2), ("far_rtt_p95_ms", 20))
    )
    if chance > _ACCIDENT:
        return ""
    return (
        f"a queue discipline (AQM) on the path drops: {segments_were(len(losses))} lost before its "
        f"queue was full: {_rtts(evidence, losses)}"
    )


def _at_least(hits: int, count: int, one_in: int) -> float:
    """Returns the probability of `hits` or more of `count`, each with the probability 1/`one_in`."""
    ways: int = sum(
        comb(count, each) * (one_in - 1) ** (count - each) for each in range(hits, count + 1)
    )
    return float(ways / one_in**count)


def _above_lowest(evidence: Evidence, losses: pd.DataFrame) -> bool:
    """Whether the RTT beside most losses was above the lowest one of their side."""
    lowest = _lowest_ms(evidence, losses)
    return bool((losses["rtt_ms"] > lowest * (1 + _JITTER) + _JITTER_MS).mean() > 0.5)


def _rtts(evidence: Evidence, losses: pd.DataFrame) -> str:
    lowest = float(_lowest_ms(evidence, losses).min())
    return f"the RTT was {losses['rtt_ms'].median():.3g} ms then, and {lowest:.3g} ms at least"


def _lowest_ms(evidence: Evidence, losses: pd.DataFrame) -> pd.Series:
    """Returns the lowest RTT of the side of the capture on which each loss was, ms."""
    near, far = evidence.row["near_rtt_min_ms"], evidence.row["far_rtt_min_ms"]
    lowest: pd.Series = losses["is_upstream"].map({0: far, 1: near}).astype(float)
    return lowest


def _is_full(losses: pd.DataFrame) -> bool:
    """Whether most losses were beside a full queue; also where no RTT shows the opposite."""
    is_short = (losses["queue"] < _FULL) & (losses["reason"] != "the queue beside it was full")
    return bool(is_short.mean() <= 0.5)


def _is_level(evidence: Evidence, losses: pd.DataFrame) -> bool:
    """Whether bursts of losses had one and the same delay of a long queue, to a fifth in half of them.

    That is the size of the queue. Jitter adds to the longest delay around, so that it is higher.
    """
    delays = (losses["rtt_ms"] - _lowest_ms(evidence, losses)).dropna()
    if len(delays) < _OVERSHOOT:
        return False
    low, delay, high = delays.quantile([0.25, 0.5, 0.75])
    lowest = float(_lowest_ms(evidence, losses).min())
    return bool(delay > max(_LONG_MS, _SHALLOW * lowest) and high - low <= _LEVEL * delay)


def _of_kind(evidence: Evidence, kind: str) -> pd.DataFrame:
    losses: pd.DataFrame = evidence.losses[evidence.losses["kind"] == kind]
    return losses


def _reordering(evidence: Evidence) -> str:
    row = evidence.row
    overtaken, needless, lost = row["reordered"], row["spurious"], row["losses"]
    if not overtaken:
        return ""
    again = f", {needless} sent again without need" if needless else ""
    return (
        f"{segments_were(overtaken)} overtaken on the path (reordering){again}, "
        f"{f'{lost} lost' if lost else 'none was lost'}"
    )
