"""Key frames of a stream at times of their own, beside its usual frames: which message has which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Minimum size of a key frame: usual frames, and standard deviations of these above their mean.
_MIN_RATIO, _MIN_DEVIATIONS = 1.5, 3.5
#: Minimum number and share of large messages that begin between usual frames.
_MIN_NUMBER, _MIN_BETWEEN = 3, 0.25
#: Maximum deviation of a usual frame from its time, intervals.
_MAX_DEVIATION = 0.2
#: Part of an interval after which a key frame behind a usual one comes in the mean.
_BEHIND = 0.5


class MessageFrames(NamedTuple):
    """Frames of each message: usual ones at regular times, and key frames between them."""

    #: Number of usual frames of each message, and when the first of them was due, s.
    counts: NDArray[np.int64]
    firsts_s: NDArray[np.float64]
    #: Times at which the key frames of each message were due, s.
    keys_s: list[NDArray[np.float64]]
    #: Size of a key frame, bytes.
    key_bytes: float


def with_key_frames(
    due_s: NDArray[np.float64],
    sizes: NDArray[np.float64],
    are_prompt: NDArray[np.bool_],
    begins_backlog: NDArray[np.bool_],
    usual_bytes: float,
    deviation: float,
    period_s: float,
) -> MessageFrames | None:
    """Returns the frames of messages of a stream; None unless key frames come at times of their own.

    Args:
        due_s: when each message was due, s.
        sizes: their payload, bytes.
        are_prompt: whether each passed as it was written.
        begins_backlog: whether nothing waited before each.
        usual_bytes: mean payload of a usual frame, bytes.
        deviation: standard deviation of that payload, bytes.
        period_s: mean time from one of them to the next.
    """
    are_large = sizes > max(_MIN_RATIO * usual_bytes, usual_bytes + _MIN_DEVIATIONS * deviation)
    steps = np.diff(due_s, prepend=due_s[0]) / period_s
    are_clear = are_large & np.append(False, (are_prompt & ~are_large)[:-1])
    are_between = (np.abs(steps - 1) > _MAX_DEVIATION) & (steps < 2)
    are_between &= are_clear
    if are_between.sum() < max(_MIN_BETWEEN * are_clear.sum(), _MIN_NUMBER):
        return None
    counts, firsts_s, are_regular = _regular(due_s, are_large, period_s)
    excess = sizes - counts * usual_bytes
    # A usual frame that comes within an interval behind a key frame is a message of its own.
    are_alone = np.median(np.append(steps[1:], 0.0)[are_between]) < 1
    key_bytes = float(np.median((sizes if are_alone else excess)[are_between]))
    if key_bytes < _MIN_RATIO * usual_bytes:
        return None
    numbers = np.rint(excess / key_bytes).clip(0).astype(int)
    # A size allows no more frames than that.
    counts = np.minimum(
        counts, np.rint((sizes - numbers * key_bytes) / usual_bytes).clip(0).astype(int)
    )
    counts = np.where(counts + numbers == 0, 1, counts)
    every_s = float(due_s[-1] - due_s[0]) / max(int(numbers.sum()), 1)
    keys_s, last_s = [], -np.inf
    for index, number in enumerate(numbers):
        first_s = due_s[index] + _BEHIND * period_s * (are_regular[index] and counts[index] > 0)
        if not begins_backlog[index]:
            # It came later in the time of the message, as those before it show.
            until_s = firsts_s[index] + max(counts[index] - 1, 0) * period_s
            first_s = max(min(last_s + every_s, until_s), first_s)
        keys_s.append(first_s + every_s * np.arange(number))
        last_s = keys_s[-1][-1] if number else last_s
    return MessageFrames(counts, firsts_s, keys_s, key_bytes)


def _regular(
    due_s: NDArray[np.float64], are_large: NDArray[np.bool_], period_s: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Returns the number of usual frames of each message, when the first was due, s; if it begins."""
    counts, firsts_s = np.ones(len(due_s), int), due_s.copy()
    are_regular = ~are_large
    clock_s = due_s[0] - period_s
    for index, time_s in enumerate(due_s):
        steps = (time_s - clock_s) / period_s
        are_regular[index] |= abs(steps - max(np.rint(steps), 1)) <= _MAX_DEVIATION
        next_s = clock_s + max(np.ceil(steps), 1) * period_s
        firsts_s[index] = time_s if are_regular[index] else next_s
        if index + 1 < len(due_s):
            until = (due_s[index + 1] - firsts_s[index]) / period_s
            counts[index] = max(int(np.ceil(until - _MAX_DEVIATION)), int(not are_large[index]))
        if counts[index]:
            clock_s = firsts_s[index] + (counts[index] - 1) * period_s
    return counts, firsts_s, are_regular
