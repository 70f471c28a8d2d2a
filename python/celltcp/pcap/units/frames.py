"""Frames of streams in captures: when each was due, by a clock of the sender, and when it ended."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.messages import NORMAL_DECILE, Messages
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.units.frame_ends import FramePlaces, ends_in_messages
from celltcp.pcap.units.key_frames import with_key_frames

#: Minimum size over the median one at which a unit is slow for its size.
_MIN_SIZE_RATIO = 1.5
#: Minimum number of messages that show how large one is, and minimum share of key frames.
_MIN_AFTER_START, _KEY_FRAME_SHARE = 10, 0.003
#: Part of an interval by which frames may be due later than that: applications drift.
_MAX_DRIFT = 0.05
#: Minimum part of an outage whose data follow, beside those of the time in which they do: outages.
_MIN_CAUGHT_UP, _MAX_CATCH_UP = 0.5, 4
#: Minimum part of an interval without data before a message that did not wait.
_MIN_GAP = 0.25
#: Maximum part of an interval from a regular message to a large one that comes between such messages.
_MAX_BESIDE = 0.75
#: Minimum time without data beside the receiver that may be an outage, intervals.
_MIN_OUTAGE = 2
#: Minimum number of frames after others that did not wait which show their interval.
_MIN_SINGLE = 10
#: Maximum size of two usual frames, usual ones.
_MAX_PAIR = 3
#: Minimum excess of the first of frames that come as one, standard deviations of their sum.
_LARGE_DEVIATIONS = 3.0
#: Maximum part of an interval by which frames may be early.
_MAX_EARLY = 0.1
#: Maximum number of messages after one that show when it was due, and standard deviations of the sum of
#: their intervals.
_MAX_LAG, _WALK_DEVIATIONS = 100, 2.0


def frames_of_stream(
    own: pd.DataFrame, row: Mapping[Hashable, Any], messages: Messages
) -> pd.DataFrame:
    """Returns the frames of a stream with the times at which they are due, by a clock of the sender.

    The way to the receiver takes half the lowest RTT. Frames that come as one stand for as many as its
    size allows, and end where their share of its data does.
    """
    if own.empty:
        return own.assign(file=row["file"])
    rtt_s = 0.0 if np.isnan(row["rtt_min_ms"]) else row["rtt_min_ms"] / 1e3
    is_at_receiver = row["place"] == "receiver"
    # A frame is delivered behind those before it.
    part_ends_s = own["last_s" if is_at_receiver else "acked_s"].cummax().to_numpy(float)
    part_bytes = own["bytes"].cumsum().to_numpy(float)
    # The parts of a frame are one.
    groups = (own["is_part"].shift(fill_value=0) == 0).cumsum().to_numpy()
    messages_at = messages.interval_ms / 1e3, is_at_receiver
    # Since the client has begun, which its SYN shows.
    began_s = rtt_s / 2 if is_at_receiver else -rtt_s / 2
    # Its first segment is there when the link has passed it.
    link = link_rate(row) if is_at_receiver else None
    passing_s = 8e-6 * row["segment_max"] / link.high_mbps if link else 0.0
    first = 0
    if row["handshake"] == "whole":
        first = _written_in_handshake(own, groups, began_s, *messages_at)
    groups = np.maximum(groups - max(first - 1, 0), 1)
    frames = own.groupby(groups).agg(
        {
            **dict.fromkeys(own.columns, "first"),
            **dict.fromkeys(("bytes", "retransmissions"), "sum"),
            **dict.fromkeys(("last_s", "acked_s"), "max"),
        }
    )
    sizes = frames["bytes"].to_numpy(float)
    usual = max(float(np.median(sizes)), 1.0)
    by_size = np.clip(np.rint(sizes / usual), 1, None).astype(int)
    starts_s = frames["start_s"].to_numpy(float, copy=True)
    ends_s = frames["last_s" if is_at_receiver else "acked_s"].fillna(np.inf).cummax().to_numpy(float)
    are_lost = (frames["retransmissions"] > 0).to_numpy()
    are_prompt = _are_prompt(own, groups, *messages_at)
    interval_s, jitter_s, interval_error_s = _interval(
        starts_s, are_prompt & (by_size == 1), messages_at[0]
    )
    if first:
        starts_s[0] = began_s + passing_s
    have_paused = np.append(False, starts_s[1:] > ends_s[:-1] + interval_s)
    if is_at_receiver:
        are_caught_up = _are_caught_up(starts_s, sizes / usual * interval_s)
        have_paused &= ~are_caught_up
        is_outage = are_caught_up & (np.diff(starts_s, prepend=starts_s[0]) > _MIN_OUTAGE * interval_s)
        are_prompt &= ~is_outage
        # Segments wait in queues before it.
        tails_s = np.zeros(len(starts_s))
    else:
        sent_s = own["last_s"].where(own["retransmissions"] == 0, own["start_s"])
        tails_s = sent_s.groupby(groups).last().to_numpy(float)
    are_prompt &= have_paused | ~_were_held_back(starts_s, by_size, interval_s)
    counts, due_s, places = _slots(starts_s, tails_s, have_paused, are_prompt, by_size, interval_s)
    # What comes behind the last message that did not wait is cut by the mean size of those before it.
    last = int(np.flatnonzero(are_prompt)[-1])
    mean_size = sizes[:last].sum() / max(int(counts[:last].sum()), 1) or usual
    if counts[-1] > 1:
        counts[-1] = max(int(np.rint(sizes[-1] / mean_size)), 1)
    due_s = _due_before_others(due_s, counts, places, are_prompt, interval_s, jitter_s)
    shift_s = rtt_s / 2 + passing_s if is_at_receiver else 0.0
    part_starts_s, part_begins = (
        own["start_s"].to_numpy(float),
        part_bytes - own["bytes"].to_numpy(float),
    )
    # Behind a message of one frame, a backlog begins with the frame that causes it.
    are_clear = are_prompt & ~are_lost
    begins_backlog = are_prompt | np.append(False, (are_clear & (counts == 1))[:-1])
    usual_mean, deviation = _usual_size(sizes[1:][counts[1:] == 1], usual)
    with_keys = with_key_frames(
        due_s, sizes, are_prompt, begins_backlog, usual_mean, deviation, interval_s
    )
    if with_keys is not None:
        counts, firsts_s, keys_s, key_bytes = with_keys
        due_of_all_s = _due_of_all(firsts_s, counts, are_prompt, interval_s)
        frame_places = FramePlaces.beside(due_of_all_s, counts, keys_s, key_bytes)
    else:
        large = np.where(begins_backlog, sizes - counts * usual_mean, 0.0)
        # Frames come as one behind one that is larger than their sizes differ.
        large[large < np.maximum(_LARGE_DEVIATIONS * deviation * np.sqrt(counts), usual)] = 0.0
        large[counts == 1] = 0.0
        large[-1] = 0.0
        due_of_all_s = _due_of_all(due_s, counts, are_prompt, interval_s)
        frame_places = FramePlaces.behind(due_of_all_s, counts, large)
    sent = np.interp(frame_places.due_s, part_starts_s, part_begins)
    share_ends, errors = ends_in_messages(frame_places, sizes, sent, deviation)
    share_begins = np.append(0.0, share_ends[:-1])
    units = frames.iloc[frame_places.message].reset_index(drop=True)
    parts = np.minimum(np.searchsorted(part_bytes, share_ends - 1), len(part_bytes) - 1)
    # Without losses, data of a part arrive as they are sent.
    rest = ((part_bytes[parts] - share_ends) / own["bytes"].to_numpy(float)[parts]).clip(0, 1)
    spans_s = (own["last_s"] - own["start_s"]).where(own["retransmissions"] == 0, 0.0)
    ends_s = part_ends_s[parts] - rest * spans_s.to_numpy(float)[parts]
    # Two frames between others that did not wait: the last segment of the first happened to be full.
    pairs = (counts == 2) & np.append(are_prompt[1:], False) & (sizes < _MAX_PAIR * usual)
    pairs &= are_clear & np.append(False, are_clear[:-1])
    are_first = pairs[frame_places.message] & (np.diff(frame_places.message, append=-1) == 0)
    second_s = np.append(ends_s[1:] - np.diff(frame_places.due_s), np.nan)
    ends_s = np.where(are_first, np.minimum(ends_s, second_s), ends_s)
    received_s = ends_s - (0 if is_at_receiver else rtt_s / 2)
    # No later message shows when those behind the last one that did not wait were due.
    number = np.cumsum(frame_places.message >= last)
    size_error = deviation / mean_size / np.sqrt(max(int(counts[:last].sum()), 1))
    clock_errors_s = np.hypot(
        number * np.hypot(interval_error_s, size_error * interval_s), np.sqrt(number) * jitter_s
    )
    units = units.assign(
        file=row["file"],
        first_byte_s=np.nan,
        rtt_s=rtt_s,
        handshake_s=0.0,
        server_s=0.0,
        round_trips_s=0.0,
        paused_s=0.0,
        uplink_queue_s=0.0,
        start_s=frame_places.due_s - shift_s,
        sent_s=np.interp(share_begins, part_begins, part_starts_s),
        end_s=received_s,
        error_s=errors / messages.size * interval_s,
        clock_error_s=np.where(number > _MIN_SINGLE, clock_errors_s, 0.0),
        bytes=frame_places.mean_sizes(sizes).round().astype(int),
    )
    return units.assign(duration_s=(units["end_s"] - units["start_s"]).clip(lower=0))


def _usual_size(single: NDArray[np.float64], median: float) -> tuple[float, float]:
    """Returns mean and standard deviation of the sizes of usual frames, bytes, as log-normal ones.

    Args:
        single: sizes of messages with one frame, bytes.
        median: that of all messages, bytes.
    """
    if not len(single):
        return median, 0.0
    low, middle = np.quantile(single, [0.1, 0.5])
    variance = (np.log(middle / low) / NORMAL_DECILE) ** 2
    mean = float(middle * np.exp(variance / 2))
    return mean, float(mean * np.sqrt(np.expm1(variance)))


def _are_prompt(
    own: pd.DataFrame, groups: NDArray[Any], period_s: float, is_at_receiver: bool
) -> NDArray[np.bool_]:
    """Returns whether each message passed as it was written: behind a gap, and no loss.

    What waits for a window or a queue follows data before it without one.
    """
    is_lost = (own["retransmissions"] > 0).to_numpy()
    done_s = own["last_s" if is_at_receiver else "acked_s"].fillna(np.inf).to_numpy(float)
    repaired_s = np.maximum.accumulate(np.where(is_lost, done_s, -np.inf))
    sent_s = np.maximum.accumulate(np.where(is_lost, own["start_s"], own["last_s"]))
    starts_s = own["start_s"].to_numpy(float)
    is_prompt = np.append(
        True,
        (starts_s[1:] - sent_s[:-1] > _MIN_GAP * period_s) & (starts_s[1:] > repaired_s[:-1]),
    )
    return is_prompt[np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))]


def _interval(
    starts_s: NDArray[np.float64], are_single: NDArray[np.bool_], median_s: float
) -> tuple[float, float, float]:
    """Returns the mean time from one frame to the next, its standard deviation and its error, s.

    Args:
        starts_s: times of messages; some have several frames.
        are_single: whether each is one frame that did not wait.
        median_s: median time from one to the next, s.
    """
    gaps_s = np.diff(starts_s)
    is_near = np.abs(gaps_s - median_s) < median_s / 2
    is_single = is_near & are_single[1:] & are_single[:-1]
    single = gaps_s[is_single if is_single.sum() >= _MIN_SINGLE else is_near]
    if not len(single):
        return median_s, 0.0, 0.0
    low, high = np.quantile(single, [0.1, 0.9])
    deviation_s = float(high - low) / (2 * NORMAL_DECILE)
    return float(single.mean()), deviation_s, deviation_s / len(single) ** 0.5


def _due_before_others(
    due_s: NDArray[np.float64],
    counts: NDArray[np.int64],
    places: NDArray[np.int64],
    are_prompt: NDArray[np.bool_],
    period_s: float,
    jitter_s: float,
) -> NDArray[np.float64]:
    """Returns the times at which messages were due, no later than later ones show.

    Messages that wait for the window come late, as those before them do: later ones catch up. Their
    intervals add up as a random walk.
    """
    due_s, earliest_s = due_s.copy(), np.maximum.accumulate(np.where(are_prompt, due_s, -np.inf))
    pauses = np.cumsum(np.diff(due_s, prepend=due_s[0]) > (np.append(0, counts[:-1]) + 0.5) * period_s)
    for lag in range(1, min(_MAX_LAG, len(due_s))):
        steps = np.maximum(places[lag:] - places[:-lag], 0)
        at_most_s = due_s[lag:] - steps * period_s + _WALK_DEVIATIONS * jitter_s * np.sqrt(steps)
        is_one = (pauses[lag:] == pauses[:-lag]) & ~are_prompt[:-lag]
        due_s[:-lag] = np.where(is_one, np.minimum(due_s[:-lag], at_most_s), due_s[:-lag])
    return np.maximum(due_s, earliest_s)


def _due_of_all(
    due_s: NDArray[np.float64],
    counts: NDArray[np.int64],
    are_prompt: NDArray[np.bool_],
    period_s: float,
) -> NDArray[np.float64]:
    """Returns the times at which the frames of messages were due, s.

    Those behind the first one are due by the next message, if that did not wait.
    """
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    firsts_s, next_s = due_s, np.append(due_s[1:], np.inf)
    early_s = np.nan_to_num(next_s - counts * period_s - firsts_s, posinf=np.inf)
    is_known = np.append(are_prompt[1:], False) & (np.abs(early_s) < period_s)
    shift_s = np.repeat(np.where(is_known, early_s, 0.0), counts)
    firsts_s = np.repeat(firsts_s, counts)
    due_of_all_s: NDArray[np.float64] = firsts_s + np.maximum(
        number * period_s + shift_s * (number > 0), 0.0
    )
    return due_of_all_s


def _slots(
    starts_s: NDArray[np.float64],
    tails_s: NDArray[np.float64],
    have_paused: NDArray[np.bool_],
    are_prompt: NDArray[np.bool_],
    by_size: NDArray[np.int64],
    period_s: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Returns for each message the number of its frames, when it was due, s, and intervals before it.

    A message behind others that were not acknowledged yet is late; the application has paused before
    one with an empty path.
    """
    counts, due_s = np.ones(len(starts_s), int), starts_s.copy()
    places, clock_s, anchor = np.zeros(len(starts_s), int), -np.inf, 0
    for number in range(1, len(starts_s)):
        last_s = due_s[number - 1]
        if by_size[number - 1] > 1 and last_s - clock_s < _MAX_BESIDE * period_s:
            # A large message beside those at regular times takes no interval.
            last_s, places[number - 1] = clock_s, places[number - 1] - 1
        steps = max(int(np.rint((starts_s[number] - last_s) / period_s)), 0)
        has_paused = have_paused[number]
        # Behind the last segment, which is not full, no frame waits.
        at_least = int((tails_s[number - 1] - last_s) / period_s + 1 + _MAX_EARLY)
        count = max(by_size[number - 1], at_least)
        if not has_paused:
            count = max(min(count, steps), 1)
        counts[number - 1] = count
        # Messages of another size may come between those at regular times.
        step = steps if has_paused or steps < count else count
        if not are_prompt[number]:
            due_s[number] = min(last_s + step * (1 + _MAX_DRIFT) * period_s, starts_s[number])
        clock_s = last_s + (count - 1) * period_s
        places[number] = places[number - 1] + count
        if are_prompt[number]:
            length = int(np.rint((starts_s[number] - due_s[anchor]) / period_s))
            for large in anchor + np.flatnonzero(by_size[anchor:number] > 1):
                # What no interval is left for is one large frame, not several.
                excess = places[number] - places[anchor] - length
                cut = min(max(excess, 0), places[large + 1] - places[large])
                counts[large] = max(counts[large] - cut, 1)
                places[large + 1 : number + 1] -= cut
            anchor = number
    counts[-1] = by_size[-1]
    return counts, due_s, places


def _were_held_back(
    starts_s: NDArray[np.float64], by_size: NDArray[np.int64], period_s: float
) -> NDArray[np.bool_]:
    """Returns whether each message has the frames of intervals without any: a window held them back."""
    missing = np.rint(np.diff(starts_s) / period_s) - by_size[:-1]
    return np.append(False, (missing > 0) & (by_size[1:] > missing))


def _are_caught_up(starts_s: NDArray[np.float64], lengths_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns whether data of the time before each message, without any, follow: an outage, no pause.

    Args:
        starts_s: times of messages.
        lengths_s: times in which a stream makes their data, s.
    """
    made_s = np.append(0.0, np.cumsum(lengths_s))
    gaps_s = np.diff(starts_s, prepend=starts_s[0])
    are_caught_up = np.zeros(len(starts_s), bool)
    # A path that is slow at first takes longer; sizes differ more in a longer time.
    for ratio, deviation_s in ((1, 0.0), (_MAX_CATCH_UP, 2 * float(np.median(lengths_s)))):
        later = np.searchsorted(starts_s, starts_s + ratio * gaps_s, "right")
        are_caught_up |= made_s[later] - made_s[:-1] >= (ratio + _MIN_CAUGHT_UP) * gaps_s + deviation_s
    return are_caught_up


def _written_in_handshake(
    own: pd.DataFrame, groups: NDArray[Any], began_s: float, period_s: float, is_at_receiver: bool
) -> int:
    """Returns the number of first messages whose frames were due since the client began; else 0.

    An application may write during the handshake. The data before the first message that did not wait
    are then those of the time since the client began, not since the first data, beside a key frame.
    """
    are_prompt = _are_prompt(own, groups, period_s, is_at_receiver)
    starts_s = own.groupby(groups)["start_s"].first().to_numpy(float)
    sizes = own.groupby(groups)["bytes"].sum().to_numpy(float)
    prompt = np.flatnonzero(are_prompt[:-1] & are_prompt[1:])
    steps = np.maximum(np.rint(np.diff(starts_s)[prompt] / period_s), 1)
    single = sizes[prompt][steps == 1][1:]
    later = np.flatnonzero(are_prompt & (starts_s > starts_s[0] + _MIN_GAP * period_s))
    if len(single) < _MIN_AFTER_START or not len(later):
        return 0
    usual = float(np.median(single))
    usual = float(single[single < _MIN_SIZE_RATIO * usual].mean())
    large = float(np.quantile(single, 1 - _KEY_FRAME_SHARE)) / usual
    written = sizes[: later[0]].sum() / usual
    errors = []
    for since_s in (starts_s[0], began_s):
        excess = written - (starts_s[later[0]] - since_s) / period_s
        # A key frame comes beside those at regular times, or in the place of one.
        errors.append(min(abs(excess), max(large - 1 - excess, excess - large, 0)))
    if errors[0] <= errors[1]:
        return 0
    return int((starts_s <= starts_s[0] + _MIN_GAP * period_s).sum())
