"""Losses: where most segments of a connection were lost, and what that shows about the path.

Losses within an RTT of each other have one cause and count once.
"""

from __future__ import annotations

import math

import pandas as pd

from celltcp.pcap.diagnosis.causes import Cause, Sentence, joined, named, said
from celltcp.pcap.diagnosis.episodes import Episode
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, plural, segments_were
from celltcp.pcap.diagnosis.full_buffers import (
    full_buffer_text,
    overshoot_fills_buffer,
    rate_change_text,
)
from celltcp.pcap.diagnosis.hypotheses import (
    are_below_rate,
    has_queue,
    high_rtt_ms,
    p_value_of_high_rtts,
    shortest_queue_ms,
)
from celltcp.pcap.diagnosis.policing import policer
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.diagnosis.window_growth import growth_text
from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits, time_text

#: Words about a queue that is empty at times.
NOT_STANDING = ", which does not stand all the time"
#: Range of the time between two repairs without SACK, RTTs, and minimum share of the time in such
#: steps.
_REPAIR_RTTS = (0.7, 2.0)
_MIN_RECOVERY_SHARE = 0.3
#: Minimum difference of delays of queues, or delay of one, that no jitter makes, ms.
_MIN_CLEAR_MS = 8.0
#: Losses at the top: minimum delay as a share of the 95th percentile, and minimum share of such losses.
_MIN_TOP_SHARE = 0.85
_MIN_TOP_COUNT_SHARE = 0.8
#: Losses at one length of the queue: minimum number of episodes, maximum range of their delays over the
#: median, and maximum delay by a queue discipline, ms.
_MIN_CONSTANT, _MAX_CONSTANT_RANGE, _MAX_CONSTANT_AQM_MS = 5, 0.15, 30.0
#: Overshoot of slow start: minimum losses, maximum share of the time until its end, and minimum length,
#: RTTs. Part of what is sent until the sender hears of the first loss is lost.
_MIN_OVERSHOOT = 10
_MAX_EARLY_SHARE = 0.25
_MIN_OVERSHOOT_RTTS = 0.7
#: Losses at a peak: minimum delay as a share of the longest one, and maximum 95th percentile of delays
#: as a share of that at the losses.
_MIN_PEAK_SHARE = 0.95
_MAX_USUAL_SHARE = 0.8
#: Minimum share of the time over which losses at short queues spread: others may be of one event.
_MIN_SPREAD_SHARE = 0.2
#: Minimum share of the intervals with a queue at which it stands.
_MIN_STANDING_SHARE = 0.5
#: Minimum delay of a standing queue, which no jitter makes, ms.
_MIN_STANDING_MS = 5.0
#: Minimum delay at which queue disciplines drop, ms: the target of CoDel (RFC 8289, section 4.2).
_MIN_AQM_MS = 5.0
#: Minimum place in the queue, from 0 to 1, at which it is full for sure.
_MIN_SURELY_FULL = 0.95
#: Losses by a queue discipline: minimum share of single losses, and maximum delay, ms.
_MIN_SINGLE_SHARE = 0.75
_MAX_AQM_MS = 50.0
#: Maximum delay of an empty queue, as a share of a full one, and maximum share of the time in pauses of
#: a sender whose queue stands.
_MAX_EMPTY_SHARE = 0.1
_MAX_PAUSED_SHARE = 0.1
#: Maximum ratio of the rate of an interval to that nearby without a standing queue, and minimum share
#: of such intervals at which none stands.
_MAX_DIP_RATIO = 0.6
_MIN_DIPS_SHARE = 0.25
#: Minimum share of the intervals without a queue at which none stands.
_MIN_EMPTY_SHARE = 0.8
#: Maximum share of the highest goodput at which a window has not grown back.
_MAX_REDUCED_SHARE = 0.8
#: Maximum delay of a full but shallow buffer, as a share of the lowest RTT.
_MAX_SHALLOW_SHARE = 0.25
#: Maximum excess of an RTT without a queue over the lowest one, by jitter: a share of it, and ms.
_MAX_JITTER_SHARE = 0.05
_MAX_JITTER_MS = 1.0
#: Maximum p-value of the RTTs at losses: by a queue discipline, and in a full queue, which the length
#: of the queue shows as well.
_MAX_AQM_P_VALUE = 1e-5
_MAX_FULL_P_VALUE = 0.02
#: Share of losses close to others above which they are bursts.
_MIN_CLOSE_SHARE = 0.3
#: Minimum number of episodes that show something about the path; also the ratio of reordered to lost
#: segments above which reordering matters more.
_MIN_EPISODES = 3
#: Minimum number of episodes in a full queue where few are enough.
_MIN_FULL_EPISODES = 2
#: Minimum ratio of episodes in a full queue to those in a short one.
_MIN_FULL_RATIO = 4
#: Maximum delay of a queue that is surely not full, as a share of the longest, and minimum share of the
#: episodes at such queues.
_MAX_LOW_QUEUE = 0.33
_MIN_LOW_EPISODES = 0.25
#: Maximum range of the rate of a standing queue, as a share of its median, for a delay that shows its
#: length.
_MAX_RATE_RANGE = 0.4
#: Minimum number of intervals that show such a rate.
_MIN_INTERVALS = 10
#: Minimum share of the rate of a link at which a transfer fills it.
_MIN_FILLED_SHARE = 0.95
#: Minimum segments of a burst that did not fit in a queue.
_MIN_BURST = 5
#: Causes of losses at the lowest RTTs, as text.
_WITHOUT_QUEUE = " at random, by a policer, or in a very short buffer"


def overshoot(evidence: Evidence) -> Sentence | str:
    """Slow start that lost ten segments at once, after which the goodput is below 80 % of its peak."""
    row = evidence.row
    if not row["download_s"] > 0 or not evidence.is_at_sender:
        return ""
    overshoots = [episode for episode in evidence.episodes if _is_overshoot(evidence, episode)]
    end_s = max((episode.start_s + episode.span_s for episode in overshoots), default=math.inf)
    later = [episode for episode in evidence.episodes if episode.start_s > end_s]
    if end_s > _MAX_EARLY_SHARE * row["download_s"] or row["in_flight_mean"] > row["in_flight_max"] / 2:
        return ""
    # Later losses, and segments that are overtaken, keep the window small, too.
    if len(later) >= _MIN_EPISODES or row["reordered"] > _MIN_EPISODES * row["losses"]:
        return ""
    if row["throughput_mbps"] > _MAX_REDUCED_SHARE * row["goodput_peak_mbps"]:
        return ""
    text = (
        f"slow start overshot the queue: {_lost_text(evidence, overshoots)} by {time_text(end_s)}, and "
        f"the congestion window has not grown back: {size_text(row['in_flight_mean'])} in flight on "
        f"average after {size_text(row['in_flight_max'])}"
    )
    later_text = growth_text(evidence, end_s)
    return joined("; later, ", (text, later_text))


def one_a_round_trip(evidence: Evidence) -> str:
    """Recovery without SACK: in a third of the time, losses are repaired one an RTT (RFC 6582)."""
    row = evidence.row
    rtt_s = evidence.rtt_ms / 1e3
    if row["sack"] or not row["losses"] or not rtt_s > 0:
        return ""
    steps_s = evidence.true_losses["repaired_s"].dropna().sort_values().diff().dropna()
    min_rtts, max_rtts = _REPAIR_RTTS
    steps_s = steps_s[(steps_s >= min_rtts * rtt_s) & (steps_s <= max_rtts * rtt_s)]
    if len(steps_s) < _MIN_OVERSHOOT or steps_s.sum() < _MIN_RECOVERY_SHARE * row["download_s"]:
        return ""
    return (
        f"waited {time_text(float(steps_s.sum()))} for a recovery without SACK: the {evidence.sender} "
        f"repairs one of {row['losses']} losses an RTT"
    )


def loss_limit(evidence: Evidence) -> Sentence:
    """Returns the sentence about the path from most losses; empty if they show nothing."""
    row = evidence.row
    outage_count = int(row["losses_outage"])
    episodes = evidence.episodes
    count = sum(episode.count for episode in episodes)
    if not count + outage_count or row["reordered"] > _MIN_EPISODES * (count + outage_count):
        return _reordering(evidence)
    if outage_count > count:
        return lost_in_outages(evidence)
    tails = [episode for episode in episodes if episode.is_tail]
    if len(tails) >= _MIN_EPISODES and len(tails) > len(episodes) - len(tails):
        return said(
            f"{_lost_text(evidence, tails)} at the end of a flight, where a probe or a time-out "
            "repairs them"
        )
    text = path_losses(evidence)
    return text + _first_text(evidence) + rate_change_text(evidence) if text else text


def lost_in_outages(evidence: Evidence) -> Sentence:
    """Returns the sentence about losses by outages alone."""
    lost_text = segments_were(int(evidence.row["losses_outage"]))
    return named(Cause.OUTAGE, f"{lost_text} lost while the path stood still")


def _first_text(evidence: Evidence) -> str:
    """Returns the time of the first loss, as text, where none came for long; empty otherwise."""
    first_s = min((episode.start_s for episode in evidence.episodes), default=0.0)
    is_late = first_s > _MAX_EARLY_SHARE * evidence.row["download_s"]
    return f"; the first one at {time_text(first_s)}" if is_late else ""


def path_losses(evidence: Evidence) -> Sentence:
    """Returns the sentence about the path from losses beside outages; empty if they show nothing."""
    return policer(evidence) or _queue_or_path(evidence, _without_tails(evidence.episodes))


def _without_tails(episodes: list[Episode]) -> list[Episode]:
    """Returns the episodes that are not at the end of a flight; all of them if there are no others."""
    return [episode for episode in episodes if not episode.is_tail] or episodes


def _lost_text(evidence: Evidence, episodes: list[Episode]) -> str:
    """Returns the number of lost segments with its verb, as `2 segments were lost`.

    With that of lost repairs it is the number of losses in the table.
    """
    count = sum(episode.count for episode in episodes)
    whom = f" of the {evidence.receiver}" if all(episode.is_back for episode in episodes) else ""
    if repairs := sum(episode.repairs for episode in episodes):
        whose = "its" if count == 1 else "their"
        return f"{plural(count, 'segment')}{whom} and {repairs} of {whose} repairs were lost"
    return f"{plural(count, 'segment')}{whom} {'was' if count == 1 else 'were'} lost"


def _median_delay_ms(episodes: list[Episode]) -> float:
    return float(pd.Series([episode.delay_ms for episode in episodes], dtype=float).median())


def unclear_losses(evidence: Evidence) -> Sentence:
    """Losses that are too few, or without an RTT near them, so that they show nothing of the path."""
    episodes = _without_tails(evidence.episodes)
    if not episodes:
        return Sentence()
    known = [episode for episode in episodes if not math.isnan(episode.rtt_ms)]
    if not known:
        return said(f"{_lost_text(evidence, episodes)}; no RTT beside them shows why")
    # Many losses at once are no accident but of one event, whichever it was.
    is_one_event = sum(episode.count for episode in episodes) >= _MIN_OVERSHOOT
    if is_one_event or is_full_queue(evidence, known):
        return _unclear_text(evidence, episodes)
    return named(
        Cause.FEW_LOSSES,
        f"{_lost_text(evidence, episodes)} in {plural(len(episodes), 'round trip')}, too few to tell "
        f"why: {_rtt_text(known)}",
    )


def _queue_or_path(evidence: Evidence, episodes: list[Episode]) -> Sentence:
    """Returns the sentence about losses in a full queue, a short one, or neither for sure."""
    known = [episode for episode in episodes if episode.queue != "unknown"]
    if not known and not any(episode.is_tail for episode in episodes):
        return Sentence()
    full = [episode for episode in known if episode.queue == "full"]
    short = [episode for episode in known if episode.queue == "short"]
    has_overshoot = any(_is_overshoot(evidence, episode) for episode in full)
    if len(episodes) < _MIN_EPISODES and not has_overshoot and not _are_high(evidence, full):
        # The handshake shows the RTT of an empty path.
        are_single = all(episode.count == 1 and episode.queue == "short" for episode in episodes)
        is_empty = evidence.row["handshake"] == "whole" and not any(map(is_above_lowest, episodes))
        return _random_text(evidence, episodes) if are_single and is_empty else Sentence()
    is_mostly_full = full and len(full) >= _MIN_FULL_RATIO * len(short)
    if is_mostly_full and (has_overshoot or _are_high(evidence, known)):
        return _full_queue_text(evidence, full)
    if len(short) >= _MIN_EPISODES and len(short) > len(known) - len(short):
        text = _short_queue_text(evidence, short, known)
        full_count = sum(episode.count for episode in full)
        overshoots = [episode for episode in full if _is_overshoot(evidence, episode)]
        if overshoots and evidence.is_at_sender:
            start_text = time_text(overshoots[0].start_s)
            return text + f"; {_lost_text(evidence, overshoots)} in a full queue at {start_text}"
        # Errors of the path lose few segments at once.
        are_bursts = max((each.count for each in full), default=0) >= _MIN_BURST
        if are_bursts and evidence.is_at_sender and _are_high(evidence, full):
            return text + named(Cause.IN_FULL_QUEUE, f"; {_lost_text(evidence, full)} in a full queue")
        # One event may have lost more than all others together.
        if full_count <= sum(episode.count for episode in short):
            return text
        if evidence.is_at_sender:
            return text + f"; {full_count} others while the queue was longer"
    return _unclear_text(evidence, episodes)


def _are_high(evidence: Evidence, episodes: list[Episode]) -> bool:
    """Returns whether episodes are at RTTs too high for losses that no queue causes."""
    return bool(episodes) and p_value_of_high_rtts(evidence, episodes) <= _MAX_FULL_P_VALUE


def _is_overshoot(evidence: Evidence, episode: Episode) -> bool:
    """Returns whether slow start lost much in a full queue, for most of an RTT or at its peak."""
    if episode.queue != "full" or episode.count < _MIN_OVERSHOOT:
        return False
    return episode.span_s >= _MIN_OVERSHOOT_RTTS * evidence.rtt_ms / 1e3 or _is_peak(evidence, episode)


def _is_peak(evidence: Evidence, episode: Episode) -> bool:
    """Returns whether the queue was longest at losses, and far shorter nearly all the time."""
    lowest, p95, longest = (evidence.row[f"far_rtt_{name}_ms"] for name in ("min", "p95", "max"))
    is_longest = episode.delay_ms >= _MIN_PEAK_SHARE * (longest - lowest)
    is_usually_short = p95 - lowest <= _MAX_USUAL_SHARE * episode.delay_ms
    return bool(not episode.is_near and is_longest and is_usually_short)


def _full_queue_text(evidence: Evidence, full: list[Episode]) -> Sentence:
    """Returns the sentence about losses in a full queue."""
    row = evidence.row
    lost_text = _lost_text(evidence, full)
    if not evidence.is_at_sender and (len(full) < _MIN_FULL_EPISODES or not _are_long_queues(full)):
        return _unclear_text(evidence, full)
    rtts_ms = pd.Series([episode.rtt_ms for episode in full])
    max_rtt_ms = (1 + _MAX_SHALLOW_SHARE) * row["far_rtt_min_ms"]
    is_shallow = row["far_rtt_p95_ms"] <= max_rtt_ms and rtts_ms.quantile(0.9) <= max_rtt_ms
    if evidence.is_at_sender and is_shallow:
        has_overshoot = any(_is_overshoot(evidence, episode) for episode in full)
        if has_overshoot and len(full) < _MIN_FULL_EPISODES:
            # Bursts above the rate of a policer make a short queue in the link behind it.
            later_text = growth_text(evidence, max(each.start_s + each.span_s for each in full))
            text = named(
                Cause.SHALLOW_OR_POLICER,
                f"{lost_text} at once in slow start: either in a shallow buffer or by a policer; "
                f"{_rtt_text(full)}",
            )
            return joined("; later, ", (text, later_text))
        is_queue = has_queue(evidence, pd.Series([episode.delay_ms for episode in full]))
        are_enough = has_overshoot or len(full) >= _MIN_EPISODES
        if not (is_queue and are_enough and _are_high(evidence, full)):
            return _unclear_text(evidence, full)
        return named(
            Cause.SHALLOW_BUFFER,
            f"a shallow buffer on the path limits the rate: {lost_text} in a queue that was full "
            f"at an RTT of {ms_text(rtts_ms.median())}, {ms_text(row['far_rtt_min_ms'])} at least",
        )
    if _may_be_aqm(evidence, full):
        return _unclear_text(evidence, full)
    end_s = max(episode.start_s + episode.span_s for episode in full)
    if _is_empty_after(evidence, end_s):
        later_text = growth_text(evidence, end_s) or said("no queue stands")
        has_overshoot = any(_is_overshoot(evidence, episode) for episode in full)
        slow_start = ", at the end of slow start" if has_overshoot else ""
        return f"{lost_text} in a full queue by {time_text(end_s)}{slow_start}; later, " + later_text
    if not _stands(evidence, full):
        return said(f"{lost_text} in a full queue") + NOT_STANDING
    return named(
        Cause.FULL_QUEUE,
        f"a full queue on the path limits the rate: {lost_text} in it"
        f"{full_buffer_text(evidence, full)}",
    )


def _may_be_aqm(evidence: Evidence, full: list[Episode]) -> bool:
    """Returns whether single segments were lost in queues that were longer at other times.

    After a queue discipline has dropped a segment, the queue grows until the sender hears of that. The
    queue of a full buffer does not grow.
    """
    if overshoot_fills_buffer(evidence, full):
        return False
    single_count = sum(episode.count == 1 for episode in full)
    # Losses of queue disciplines may count as random ones.
    place = evidence.losses["queue"][evidence.losses["kind"].isin(["congestion", "random"])].median()
    are_single = single_count >= _MIN_SINGLE_SHARE * len(full)
    return bool(are_single and place < _MIN_SURELY_FULL and _median_delay_ms(full) <= _MAX_AQM_MS)


def _stands(evidence: Evidence, full: list[Episode]) -> bool:
    """Returns whether a queue stands in half of the intervals, or the capture does not show them.

    A standing queue never empties to a tenth of the full one, and its sender never pauses.

    Close to the receiver, nothing shows the lowest delay of an interval. With a standing queue, the
    same rate then passes in successive intervals.
    """
    own, row = evidence.steady, evidence.row
    if evidence.pauses_s(evidence.sender) > _MAX_PAUSED_SHARE * row["download_s"]:
        return False
    if row["place"] == "receiver":
        counts = own["bytes"]
        highest = counts.rolling(evidence.block, center=True, min_periods=1).max()
        return bool((counts < _MAX_DIP_RATIO * highest).mean() < _MIN_DIPS_SHARE)
    full_ms = _median_delay_ms([episode for episode in full if not episode.is_near])
    min_delay_ms = max(
        row["far_rtt_min_ms"] * _MAX_JITTER_SHARE + _MAX_JITTER_MS,
        0.0 if math.isnan(full_ms) else _MAX_EMPTY_SHARE * full_ms,
    )
    is_queued = own["rtt_min_ms"].dropna() > row["far_rtt_min_ms"] + min_delay_ms
    return is_queued.empty or bool(is_queued.mean() >= _MIN_STANDING_SHARE)


def _is_empty_after(evidence: Evidence, end_s: float) -> bool:
    """Returns whether losses ended early, and most intervals after them have the lowest RTT."""
    later = evidence.steady[evidence.steady["t_s"] > end_s]
    is_early = end_s <= _MAX_EARLY_SHARE * evidence.row["download_s"]
    if not evidence.is_at_sender or not is_early or later.empty:
        return False
    max_rtt_ms = evidence.row["far_rtt_min_ms"] * (1 + _MAX_JITTER_SHARE) + _MAX_JITTER_MS
    return bool((later["rtt_min_ms"] <= max_rtt_ms).mean() > _MIN_EMPTY_SHARE)


def _short_queue_text(evidence: Evidence, short: list[Episode], known: list[Episode]) -> Sentence:
    """Returns the sentence about losses at queues that were not full.

    The delay of a queue shows its length only where its rate is constant. Losses at high RTTs are then
    those of a queue discipline, and others have a cause outside the queue. `known` are all episodes
    with an RTT, including those in a full queue.
    """
    if short[-1].start_s - short[0].start_s < _MIN_SPREAD_SHARE * evidence.row["download_s"]:
        return _unclear_text(evidence, short)
    if sum(is_above_lowest(episode) for episode in short) <= len(short) / 2:
        if _are_bursts(short):
            return _burst_text(evidence, short)
        # Beside a path that is nearly empty, the longest delays are no full queue.
        low = [each for each in known if each in short or not is_above_lowest(each)]
        return _random_text(evidence, low)
    if not _has_constant_rate(evidence):
        return _unclear_text(evidence, short)
    is_high = p_value_of_high_rtts(evidence, short) <= _MAX_AQM_P_VALUE
    # Away from the sender, a policer that drops behind bursts in a short queue is possible as well.
    if evidence.is_at_sender and is_high and _median_delay_ms(short) >= _MIN_AQM_MS:
        return named(
            Cause.AQM,
            f"a queue discipline (AQM) on the path drops: {_lost_text(evidence, short)} before its "
            f"queue was full: {_rtt_text(short)}",
        )
    longest_ms = max(episode.delay_ms for episode in known)
    low_count = sum(episode.delay_ms <= _MAX_LOW_QUEUE * longest_ms for episode in short)
    if low_count < max(1, _MIN_LOW_EPISODES * len(short)):
        return _unclear_text(evidence, short)
    if _are_bursts(short):
        return _burst_text(evidence, short)
    if are_below_rate(evidence, short):
        return said(
            f"{_lost_text(evidence, short)} beside a queue that was not full: {_rtt_text(short)}"
        )
    return named(
        Cause.QUEUE_DISCIPLINE,
        f"{_lost_text(evidence, short)} beside a queue that was not full: either a queue discipline "
        f"(AQM), a policer, or errors of the path; {_rtt_text(short)}",
    )


def _random_text(evidence: Evidence, episodes: list[Episode]) -> Sentence:
    """Returns the sentence about losses at a short queue.

    They may be those of a policer or of a short buffer, unless more passed at other times.
    """
    if are_below_rate(evidence, episodes):
        where = _where_text(evidence)
        return said(f"{_lost_text(evidence, episodes)} at random{where}, while the queue was short")
    return named(Cause.WITHOUT_QUEUE, f"{_lost_text(evidence, episodes)}{_WITHOUT_QUEUE}")


def _where_text(evidence: Evidence) -> str:
    """Returns the side of the capture on which all segments were lost, as text; empty if on both."""
    sides = set(evidence.true_losses["is_upstream"].astype(bool))
    ends = {True: evidence.sender, False: evidence.receiver}
    return f" between the capture and the {ends[sides.pop()]}" if len(sides) == 1 else ""


def _burst_text(evidence: Evidence, episodes: list[Episode]) -> Sentence:
    """Returns the sentence about bursts at a short queue: a longer one passed without loss."""
    min_excess_ms = max(_MIN_CLEAR_MS, _MAX_SHALLOW_SHARE * evidence.row["far_rtt_min_ms"])
    median_ms = pd.Series([episode.rtt_ms for episode in episodes]).median()
    if not evidence.is_at_sender or median_ms + min_excess_ms > evidence.row["far_rtt_p95_ms"]:
        return _unclear_text(evidence, episodes)
    return named(Cause.BURSTS, f"{_lost_text(evidence, episodes)} in bursts") + named(
        Cause.BURSTS_OR_POLICER,
        f", beside a queue that was not full: either {_aqm_text(episodes)}a policer, or errors of the "
        "path",
    )


def _filled_text(evidence: Evidence) -> str:
    """Returns the narrowest link as the limit, as text; empty unless a transfer fills it."""
    row, link = evidence.row, link_rate(evidence.row)
    if link is None or row["throughput_mbps"] < _MIN_FILLED_SHARE * link.high_mbps:
        return ""
    transfer = "upload" if row["direction"] == "up" else "download"
    return (
        f"; the link limits the rate: the {transfer} takes {three_digits(row['throughput_mbps'])} of "
        f"its {link} Mbit/s"
    )


def _unclear_text(evidence: Evidence, episodes: list[Episode]) -> Sentence:
    """Returns the sentence about losses that may look alike, unless the RTT decides their cause."""
    known = [episode for episode in episodes if not math.isnan(episode.rtt_ms)]
    lost = said(_lost_text(evidence, episodes))
    if _are_bursts(episodes):
        lost = named(Cause.BURSTS, f"{lost} in bursts")
    rtt_text = _rtt_text(known)
    if is_full_queue(evidence, known):
        return lost + named(
            Cause.IN_FULL_QUEUE,
            f", most likely in a full queue: {rtt_text}, near its highest{_filled_text(evidence)}",
        )
    # Of many losses within an RTT, those by errors of the path would be at any RTT.
    has_overshoot = max((each.count for each in known), default=0) >= _MIN_OVERSHOOT
    if has_overshoot and any(map(is_above_lowest, known)) and _are_at_top(evidence, known):
        causes = "a queue discipline (AQM), or a policer"
    elif known and not any(map(is_above_lowest, known)):
        return lost + named(Cause.WITHOUT_QUEUE, _WITHOUT_QUEUE) + f"; {rtt_text}"
    else:
        causes = f"{_aqm_text(known)}a policer, or errors of the path"
    overflow = named(Cause.OVERFLOW, f": either a buffer that overflowed, {causes}")
    return lost + overflow + f"; {rtt_text}"


def is_full_queue(evidence: Evidence, episodes: list[Episode]) -> bool:
    """Returns whether nearly all losses were at the longest queues of the path, and these are long.

    Queue disciplines drop before, and policers and errors of the path whatever the queue is.
    """
    delays_ms = pd.Series([episode.delay_ms for episode in episodes], dtype=float)
    low_ms, median_ms, high_ms = delays_ms.quantile([0.1, 0.5, 0.9])
    # A buffer overflows at one length.
    is_constant = len(episodes) >= _MIN_CONSTANT and high_ms - low_ms <= _MAX_CONSTANT_RANGE * median_ms
    is_constant = is_constant and not _may_be_aqm(evidence, episodes)
    is_long = median_ms > (_MAX_CONSTANT_AQM_MS if is_constant else _MAX_AQM_MS)
    return is_long and _are_long_queues(episodes) and _are_at_top(evidence, episodes)


def _are_at_top(evidence: Evidence, episodes: list[Episode]) -> bool:
    """Returns whether nearly all losses were at the longest queues of the path."""
    count = sum(episode.count for episode in episodes)
    top_count = sum(
        episode.count
        for episode in episodes
        if episode.delay_ms >= _MIN_TOP_SHARE * (high_rtt_ms(evidence, episode) - episode.lowest_ms)
    )
    return count > 0 and top_count >= _MIN_TOP_COUNT_SHARE * count


def _aqm_text(episodes: list[Episode]) -> str:
    """Returns a queue discipline as a possible cause; empty if no loss was at a queue."""
    return "a queue discipline (AQM), " if any(map(is_above_lowest, episodes)) else ""


def _are_long_queues(episodes: list[Episode]) -> bool:
    """Returns whether the queue at most losses was so long that no jitter explains it."""
    lowest_ms = min(episode.lowest_ms for episode in episodes)
    return _median_delay_ms(episodes) > max(_MIN_CLEAR_MS, _MAX_SHALLOW_SHARE * lowest_ms)


def _are_bursts(episodes: list[Episode]) -> bool:
    """Returns whether more losses are within ten segments of each other than at random.

    At random, 18 % of the losses are, if 2 % of the segments are lost.
    """
    count = sum(episode.count for episode in episodes)
    return sum(episode.close for episode in episodes) > _MIN_CLOSE_SHARE * count


def is_above_lowest(episode: Episode) -> bool:
    """Returns whether the RTT near losses was above the lowest one of their side."""
    return episode.rtt_ms > episode.lowest_ms * (1 + _MAX_JITTER_SHARE) + _MAX_JITTER_MS


def _rtt_text(episodes: list[Episode]) -> str:
    """Returns the median RTT at losses and the lowest one as text."""
    median_ms = pd.Series([episode.rtt_ms for episode in episodes]).median()
    lowest_ms = min((episode.lowest_ms for episode in episodes), default=math.nan)
    if median_ms <= lowest_ms:
        return f"the RTT, with any time of the server, was {ms_text(median_ms)} then, as always"
    return f"the RTT was {ms_text(median_ms)} then, and {ms_text(lowest_ms)} at least"


def _has_constant_rate(evidence: Evidence) -> bool:
    """Returns whether the same rate passes whenever a queue stands, or too few intervals show it."""
    own, row = evidence.steady, evidence.row
    rtts_ms, lowest_ms = own["rtt_min_ms"], row["far_rtt_min_ms"]
    if row["place"] == "receiver":
        rtts_ms, lowest_ms = own["near_rtt_mean_ms"], row["near_rtt_min_ms"]
    # Delays of fewer segments are those of delayed ACKs and pacing.
    min_delay_ms = max(_MIN_STANDING_MS, shortest_queue_ms(evidence))
    min_rtt_ms = lowest_ms * (1 + _MAX_JITTER_SHARE) + min_delay_ms
    rates = (
        own["bytes"].rolling(evidence.block, min_periods=1).mean()[rtts_ms > min_rtt_ms] / INTERVAL_S
    )
    if len(rates) < _MIN_INTERVALS:
        return True
    low, rate, high = rates.quantile([0.1, 0.5, 0.9])
    return bool(high - low <= _MAX_RATE_RANGE * rate)


def _reordering(evidence: Evidence) -> Sentence:
    """Returns the sentence about segments that were overtaken; empty without any."""
    row = evidence.row
    if not row["reordered"]:
        return Sentence()
    spurious_text = f", {row['spurious']} sent again without need" if row["spurious"] else ""
    return named(
        Cause.REORDERING,
        f"{segments_were(row['reordered'])} overtaken on the path (reordering){spurious_text}, "
        f"{row['losses'] or 'none was'} lost",
    )
