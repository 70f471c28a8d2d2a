"""Losses: where most segments of a connection were lost, and what that says about the path.

Losses within an RTT of each other have one cause and count once.
"""

from __future__ import annotations

import math

import pandas as pd

from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, plural, seconds, segments_were
from celltcp.pcap.diagnosis.hypotheses import are_below_rate, chance_of_high_rtts, has_queue
from celltcp.pcap.diagnosis.policing import policer
from celltcp.present.quantities import size_text

#: Time between two repairs without SACK, RTTs, and the share of the time in such steps that matters.
_ROUND_TRIP = (0.7, 2.0)
_RECOVERY = 0.3
#: Minimum delay of a queue at which another one is not full, or which no jitter makes, ms.
_CLEAR_MS = 8.0
#: Losses of an overshoot, the share of the time in which they are, and its least length, RTTs: what
#: is sent until the sender hears of the first loss is lost in part.
_OVERSHOOT = 10
_EARLY = 0.25
_LONG_RTTS = 0.7
#: Share of the longest delay, and of the delay at losses up to which 95 % of all are, for a peak.
_PEAK = 0.95
_RARE = 0.8
#: Share of the time over which losses at no full queue spread at least: others may be of one event.
_SPREAD = 0.2
#: Minimum share of the intervals with a queue at which it stands.
_MOSTLY = 0.5
#: Minimum queue, ms, in which disciplines drop: the target of CoDel (RFC 8289, section 4.2).
_TARGET_MS = 5.0
#: Minimum place in the queue, from 0 to 1, at which it is full for sure, the share of single losses for
#: which that matters, and the longest queue, ms, that queue disciplines keep.
_TOP = 0.95
_ALONE = 0.75
_KEPT_MS = 50.0
#: Maximum length of an empty queue, as a share of a full one, and share of the time in pauses then.
_EMPTY = 0.1
_PAUSED = 0.1
#: Share of the rate nearby below which the rate of an interval is none of a queue that stands, and the
#: share of such intervals from which on it does not stand.
_DIP = 0.6
_DIPS = 0.25
#: Minimum share of the intervals without a queue at which none stands.
_MOST = 0.8
#: Share of the highest goodput below which a window has not grown back.
_GROWN = 0.8
#: Queueing delay of a full but shallow buffer, as a share of the lowest RTT.
_SHALLOW = 0.25
#: Share of the lowest RTT, and time, by which an RTT without a queue may exceed it.
_JITTER = 0.05
_JITTER_MS = 1.0
#: Probability below which losses at the high RTTs of a connection are no accident: of a discipline
#: that drops, and of a full queue, which the length of the queue shows as well.
_ACCIDENT = 1e-5
_CHANCE = 0.02
#: Share of losses close to others above which they are bursts.
_CLOSE = 0.3
#: Minimum number of episodes that say something about the path; how many times more segments are
#: overtaken than lost where reordering matters more; and episodes at a full queue for one at another.
_SEVERAL = 3
_TWICE = 2
_CLEARLY = 4
#: Share of the longest queue below which a queue is surely not full, and of the episodes at such.
_LOW_QUEUE = 0.33
_SOME = 0.25
#: Largest deviation of the rate of a queue that stands, for which its delay shows its length.
_CONSTANT = 0.4
#: Minimum intervals in which that is seen.
_INTERVALS = 10


def overshoot(evidence: Evidence) -> str:
    """Slow start that lost ten segments at once, after which the goodput is below 80 % of its peak."""
    row = evidence.row
    if not row["download_s"] > 0 or not evidence.is_at_sender:
        return ""
    own = evidence.episodes
    early = [episode for episode in own if _is_overshoot(evidence, episode)]
    last = max((episode.start_s + episode.span_s for episode in early), default=math.inf)
    later = [episode for episode in own if episode.start_s > last]
    if last > _EARLY * row["download_s"] or row["in_flight_mean"] > row["in_flight_max"] / 2:
        return ""
    # Later losses, and segments that are overtaken, keep the window small, too.
    if len(later) >= _SEVERAL or row["reordered"] > _SEVERAL * row["losses"]:
        return ""
    if row["throughput_mbps"] > _GROWN * row["goodput_peak_mbps"]:
        return ""
    return (
        f"slow start overshot the queue: {sum(episode.count for episode in early)} segments were lost "
        f"by {seconds(last)}, and the congestion window has not grown back: "
        f"{size_text(row['in_flight_mean'])} in flight on average after "
        f"{size_text(row['in_flight_max'])}"
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
    """Returns the sentence about the path from most losses; empty if they show nothing."""
    row = evidence.row
    outage = int(row["losses_outage"])
    own = evidence.episodes
    count = sum(episode.count for episode in own)
    if not count + outage or row["reordered"] > _SEVERAL * (count + outage):
        return _reordering(evidence)
    if outage > count:
        return f"{segments_were(outage)} lost while the path stood still"
    tails = [episode for episode in own if episode.is_tail]
    if len(tails) >= _SEVERAL and len(tails) > len(own) - len(tails):
        lost = segments_were(sum(tail.count for tail in tails))
        return f"{lost} lost at the end of a flight, where a probe or a time-out repairs them"
    rest = [episode for episode in own if not episode.is_tail] or own
    return policer(evidence) or _queue_or_path(evidence, rest)


def unclear_losses(evidence: Evidence) -> str:
    """Losses that are too few, or without an RTT near them, so that they show nothing of the path."""
    own = evidence.episodes
    if not own:
        return ""
    rest = [episode for episode in own if not episode.is_tail] or own
    lost = segments_were(sum(episode.count for episode in rest))
    known = [episode for episode in rest if not math.isnan(episode.rtt_ms)]
    if not known:
        return f"{lost} lost; no RTT beside them shows why"
    # Many at once are no accident: they are those of one event, whichever it was.
    if sum(episode.count for episode in rest) >= _OVERSHOOT:
        return _unclear(rest)
    return f"{lost} lost in {plural(len(rest), 'round trip')}, too few to tell why: {_rtts(known)}"


def _queue_or_path(evidence: Evidence, own: list[Episode]) -> str:
    """Losses in a full queue, at one that was not full, or neither for sure."""
    known = [episode for episode in own if episode.queue != "unknown"]
    if not known and not any(episode.is_tail for episode in own):
        return ""
    full = [episode for episode in known if episode.queue == "full"]
    short = [episode for episode in known if episode.queue == "short"]
    overshot = [episode for episode in full if _is_overshoot(evidence, episode)]
    if len(own) < _SEVERAL and not overshot and not _are_sure(evidence, full):
        # The handshake shows the RTT of an empty path.
        is_alone = all(episode.count == 1 and episode.queue == "short" for episode in own)
        is_empty = evidence.row["handshake"] == "whole" and not any(map(_is_above_lowest, own))
        if is_alone and is_empty:
            return _random(evidence, own)
        return ""
    if full and len(full) >= _CLEARLY * len(short) and (overshot or _are_sure(evidence, known)):
        return _full_queue(evidence, full)
    if len(short) >= _SEVERAL and len(short) > len(known) - len(short):
        text = _not_full(evidence, short, max(episode.delay_ms for episode in known))
        others = sum(episode.count for episode in full)
        # One event may have lost more than all others together.
        is_most = others > sum(episode.count for episode in short)
        if is_most and not evidence.is_at_sender:
            return _unclear(own)
        return f"{text}; {others} others beside a longer one" if is_most else text
    return _unclear(own)


def _are_sure(evidence: Evidence, own: list[Episode]) -> bool:
    return bool(own) and chance_of_high_rtts(evidence, own) <= _CHANCE


def _is_overshoot(evidence: Evidence, episode: Episode) -> bool:
    """Whether slow start lost much in a full queue, until it heard of that or at the longest queue."""
    if episode.queue != "full" or episode.count < _OVERSHOOT:
        return False
    return episode.span_s >= _LONG_RTTS * evidence.rtt_ms / 1e3 or _is_peak(evidence, episode)


def _is_peak(evidence: Evidence, episode: Episode) -> bool:
    """Whether the queue was longest at losses, and far shorter nearly all the time."""
    lowest, usual, longest = (evidence.row[f"far_rtt_{name}_ms"] for name in ("min", "p95", "max"))
    is_longest = episode.delay_ms >= _PEAK * (longest - lowest)
    return bool(not episode.is_upstream and is_longest and usual - lowest <= _RARE * episode.delay_ms)


def _full_queue(evidence: Evidence, full: list[Episode]) -> str:
    row = evidence.row
    lost = segments_were(sum(episode.count for episode in full))
    if not evidence.is_at_sender and (len(full) < _TWICE or not _is_long(full)):
        return _unclear(full)
    delays = pd.Series([episode.rtt_ms for episode in full])
    lowest, most = row["far_rtt_min_ms"], (1 + _SHALLOW) * row["far_rtt_min_ms"]
    is_shallow = row["far_rtt_p95_ms"] <= most and delays.quantile(0.9) <= most
    if evidence.is_at_sender and is_shallow:
        overshot = any(_is_overshoot(evidence, episode) for episode in full)
        if overshot and len(full) < _TWICE:
            # Bursts above the rate of a policer make a short queue in the link behind it.
            return (
                f"{lost} lost at once in slow start: either in a shallow buffer or by a policer; "
                f"{_rtts(full)}"
            )
        is_queue = has_queue(evidence, pd.Series([episode.delay_ms for episode in full]))
        if not is_queue or not _are_sure(evidence, full) or (not overshot and len(full) < _SEVERAL):
            return _unclear(full)
        return (
            f"a shallow buffer on the path limits the rate: {lost} lost in a queue that was full "
            f"at an RTT of {delays.median():.3g} ms, {lowest:.3g} ms at least"
        )
    if _may_be_discipline(evidence, full):
        return _unclear(full)
    last = max(episode.start_s + episode.span_s for episode in full)
    if _is_empty_after(evidence, last):
        return f"{lost} lost in a full queue by {seconds(last)}; later, no queue stands"
    if not _stands(evidence, full):
        return f"{lost} lost in a full queue, which does not stand all the time"
    return f"a full queue on the path limits the rate: {lost} lost in it"


def _may_be_discipline(evidence: Evidence, full: list[Episode]) -> bool:
    """Whether single segments were lost in queues that were longer at other times.

    A queue discipline drops one, and the queue grows on until the sender hears of that. That of a full
    buffer does not grow.
    """
    alone = sum(episode.count == 1 for episode in full)
    share = evidence.losses["queue"][evidence.losses["kind"] == "congestion"].median()
    delay = pd.Series([episode.delay_ms for episode in full]).median()
    return bool(alone >= _ALONE * len(full) and share < _TOP and delay <= _KEPT_MS)


def _stands(evidence: Evidence, full: list[Episode]) -> bool:
    """Whether a queue stands in half of the intervals; also where the capture does not show it.

    It never empties as far as a tenth of the full queue, and its sender never pauses.

    Close to the receiver, where nothing shows the lowest delay of an interval, the same rate passes in
    intervals that follow each other.
    """
    own, row = evidence.steady, evidence.row
    if evidence.pauses_s(evidence.sender) > _PAUSED * row["download_s"]:
        return False
    if row["place"] == "receiver":
        bytes_ = own["bytes"]
        highest = bytes_.rolling(evidence.block, center=True, min_periods=1).max()
        return bool((bytes_ < _DIP * highest).mean() < _DIPS)
    rtts = own["rtt_min_ms"].dropna()
    delay = pd.Series([episode.delay_ms for episode in full if not episode.is_upstream]).median()
    least = max(
        row["far_rtt_min_ms"] * _JITTER + _JITTER_MS, 0.0 if math.isnan(delay) else _EMPTY * delay
    )
    stands = rtts > row["far_rtt_min_ms"] + least
    return stands.empty or bool(stands.mean() >= _MOSTLY)


def _is_empty_after(evidence: Evidence, last: float) -> bool:
    """Whether losses were early, and the RTT comes back to its lowest in most intervals after them."""
    later = evidence.steady[evidence.steady["t_s"] > last]
    if not evidence.is_at_sender or last > _EARLY * evidence.row["download_s"] or later.empty:
        return False
    lowest = evidence.row["far_rtt_min_ms"] * (1 + _JITTER) + _JITTER_MS
    return bool((later["rtt_min_ms"] <= lowest).mean() > _MOST)


def _not_full(evidence: Evidence, short: list[Episode], longest_ms: float) -> str:
    """Losses at queues that were not full.

    The delay of a queue shows its length only where its rate is constant. Then losses at high RTTs are
    those of a queue discipline, and others are none of the queue.
    """
    lost = segments_were(sum(episode.count for episode in short))
    if short[-1].start_s - short[0].start_s < _SPREAD * evidence.row["download_s"]:
        return _unclear(short)
    if sum(_is_above_lowest(episode) for episode in short) <= len(short) / 2:
        if _are_bursts(short):
            return _bursts(evidence, short)
        return _random(evidence, short)
    if not _has_constant_rate(evidence):
        return _unclear(short)
    # Elsewhere, a policer that drops behind bursts in a short queue is not excluded before.
    delay = pd.Series([each.delay_ms for each in short]).median()
    is_high = delay >= _TARGET_MS and chance_of_high_rtts(evidence, short) <= _ACCIDENT
    if evidence.is_at_sender and is_high:
        return (
            f"a queue discipline (AQM) on the path drops: {lost} lost before its "
            f"queue was full: {_rtts(short)}"
        )
    low = sum(episode.delay_ms <= _LOW_QUEUE * longest_ms for episode in short)
    if low < max(1, _SOME * len(short)):
        return _unclear(short)
    if _are_bursts(short):
        return _bursts(evidence, short)
    if are_below_rate(evidence, short):
        return f"{lost} lost beside a queue that was not full: {_rtts(short)}"
    return (
        f"{lost} lost beside a queue that was not full: either a queue discipline (AQM), a policer, or "
        f"errors of the path; {_rtts(short)}"
    )


def _random(evidence: Evidence, own: list[Episode]) -> str:
    """Losses at a short queue: a policer or a short buffer, too, unless more passed elsewhere."""
    lost = segments_were(sum(episode.count for episode in own))
    if are_below_rate(evidence, own):
        return f"{lost} lost at random, beside a short queue"
    return f"{lost} lost at random, by a policer, or in a buffer as short as the queue"


def _bursts(evidence: Evidence, own: list[Episode]) -> str:
    """Bursts at a queue that was not full, as a clearly longer one passed without loss."""
    lost = segments_were(sum(episode.count for episode in own))
    longest = evidence.row["far_rtt_p95_ms"]
    clearly = max(_CLEAR_MS, _SHALLOW * evidence.row["far_rtt_min_ms"])
    usual = pd.Series([episode.rtt_ms for episode in own]).median()
    if not evidence.is_at_sender or usual + clearly > longest:
        return _unclear(own)
    is_queue = any(_is_above_lowest(episode) for episode in own)
    discipline = "a queue discipline (AQM), " if is_queue else ""
    return (
        f"{lost} lost in bursts, beside a queue that was not full: either {discipline}a policer, or "
        "errors of the path"
    )


def _unclear(own: list[Episode]) -> str:
    """Losses that look alike whatever their cause."""
    lost = segments_were(sum(episode.count for episode in own))
    known = [episode for episode in own if not math.isnan(episode.rtt_ms)]
    bursts = " in bursts" if _are_bursts(own) else ""
    is_queue = any(_is_above_lowest(episode) for episode in known)
    discipline = "a queue discipline (AQM), " if is_queue else ""
    return (
        f"{lost} lost{bursts}: either a buffer that overflowed, {discipline}a policer, or errors of "
        f"the path; {_rtts(known)}"
    )


def _is_long(own: list[Episode]) -> bool:
    """Whether the queue at most losses was long, so that no jitter explains it."""
    delays = pd.Series([episode.delay_ms for episode in own])
    lowest = min(episode.lowest_ms for episode in own)
    return bool(delays.median() > max(_CLEAR_MS, _SHALLOW * lowest))


def _are_bursts(own: list[Episode]) -> bool:
    """Whether more losses are within ten segments of each other than at random.

    Of losses at random, 2 % of the segments, that are 18 %.
    """
    return sum(episode.close for episode in own) > _CLOSE * sum(episode.count for episode in own)


def _is_above_lowest(episode: Episode) -> bool:
    """Whether the RTT near losses was above the lowest one of their side."""
    return episode.rtt_ms > episode.lowest_ms * (1 + _JITTER) + _JITTER_MS


def _rtts(own: list[Episode]) -> str:
    rtts = pd.Series([episode.rtt_ms for episode in own]).median()
    lowest = min((episode.lowest_ms for episode in own), default=math.nan)
    return f"the RTT was {rtts:.3g} ms then, and {lowest:.3g} ms at least"


def _has_constant_rate(evidence: Evidence) -> bool:
    """Whether the same rate passes wherever a queue stands; also where too few of it is seen."""
    own, row = evidence.steady, evidence.row
    is_near = row["place"] == "receiver"
    rtts, lowest = (
        (own["near_rtt_mean_ms"], row["near_rtt_min_ms"])
        if is_near
        else (own["rtt_min_ms"], row["far_rtt_min_ms"])
    )
    stands = rtts > lowest * (1 + _JITTER) + max(_JITTER_MS, evidence.block)
    rates = own["bytes"].rolling(evidence.block, min_periods=1).mean()[stands] / INTERVAL_S
    if len(rates) < _INTERVALS:
        return True
    low, rate, high = rates.quantile([0.1, 0.5, 0.9])
    return bool(high - low <= _CONSTANT * rate)


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
