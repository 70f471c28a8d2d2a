"""Ends of frames that a sender wrote behind a backlog: a random walk of sizes above the data sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

#: Step of the grid of the walk, standard deviations of a size; its reach, those of the whole walk.
_STEP, _REACH = 0.125, 4.0
#: Maximum number of values of the grid.
_MAX_VALUES = 800


class FramePlaces(NamedTuple):
    """Frames of all messages, in the order in which they were due: arrays with an item per frame."""

    #: Number of the message, and when the frame was due, s.
    message: NDArray[np.int64]
    due_s: NDArray[np.float64]
    #: Payload beyond that of usual frames, and whether it is one of these, too.
    extra: NDArray[np.float64]
    is_usual: NDArray[np.bool_]

    @classmethod
    def behind(
        cls, due_s: NDArray[np.float64], counts: NDArray[np.int64], large: NDArray[np.float64]
    ) -> Self:
        """Returns the frames of messages whose first ones have so many bytes more than usual."""
        message = np.repeat(np.arange(len(counts)), counts)
        is_first = np.diff(message, prepend=-1) > 0
        return cls(message, due_s, np.where(is_first, large[message], 0.0), np.ones(len(message), bool))

    @classmethod
    def beside(
        cls,
        due_s: NDArray[np.float64],
        counts: NDArray[np.int64],
        keys_s: Sequence[NDArray[np.float64]],
        key_bytes: float,
    ) -> Self:
        """Returns the frames of messages with key frames due at these times of each message, s."""
        numbers, number = [len(each) for each in keys_s], np.arange(len(counts))
        message = np.concatenate([np.repeat(number, counts), np.repeat(number, numbers)])
        all_s = np.concatenate([due_s, *keys_s])
        is_usual = np.arange(len(message)) < counts.sum()
        order = np.lexsort((all_s, message))
        return cls(message, all_s, np.where(is_usual, 0.0, key_bytes), is_usual)._take(order)

    def _take(self, order: NDArray[np.int64]) -> Self:
        return self._replace(**{name: values[order] for name, values in self._asdict().items()})

    def mean_sizes(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the size of each frame, bytes: usual ones of a message have equal ones."""
        extra, usual = (
            np.bincount(self.message, weights, len(sizes)) for weights in (self.extra, self.is_usual)
        )
        rest = np.maximum(sizes - extra, 0) / np.maximum(usual, 1)
        return self.extra + self.is_usual * rest[self.message]


def ends_in_messages(
    places: FramePlaces, sizes: NDArray[np.float64], sent: NDArray[np.float64], deviation: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the expected ends of frames in the data of a stream, and their standard errors, bytes.

    Args:
        places: frames of the messages.
        sizes: payload of each message, bytes.
        sent: data of the stream sent before each frame was due, bytes.
        deviation: standard deviation of the size of a usual frame, bytes.
    """
    stops = np.cumsum(np.bincount(places.message, minlength=len(sizes)))
    begins = np.cumsum(sizes) - sizes
    ends, errors = (begins + sizes)[places.message], np.zeros(len(places.message))
    for index in np.flatnonzero(np.diff(stops, prepend=0) > 1):
        own = slice(stops[index - 1] if index else 0, stops[index])
        is_usual, extra = places.is_usual[own], np.cumsum(places.extra[own])
        rest, numbers = max(sizes[index] - extra[-1], 0.0), np.cumsum(is_usual)
        if not numbers[-1]:
            ends[own] = begins[index] + extra * sizes[index] / extra[-1]
            continue
        before = sent[own] - begins[index] - extra + places.extra[own]
        least = np.clip(before[is_usual][1:], 0, rest)
        usual_ends, usual_errors = frame_ends(rest, int(numbers[-1]), deviation, least)
        ends[own] = begins[index] + extra + np.append(0.0, usual_ends)[numbers]
        errors[own] = np.append(0.0, usual_errors)[numbers]
    return ends, errors


def frame_ends(
    size: float, count: int, deviation: float, sent: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the expected ends of the frames of a message, and their standard errors, bytes.

    The sizes are independent, and their sum is known. While data wait, no more can be sent than was
    written: without a segment that is not full, a frame ends behind what is sent before the next one.

    Args:
        size: size of the message, bytes.
        count: number of its frames.
        deviation: standard deviation of the size of a frame, bytes.
        sent: data of the message sent before each frame but the first was due, bytes, `(count - 1,)`.
    """
    shares = size * np.arange(1, count + 1) / count
    if count == 1 or deviation <= 0:
        return shares, np.zeros(count)
    # The walk is what the ends are beyond equal shares; it begins and ends at 0.
    least = sent - shares[:-1]
    reach = _REACH * deviation * np.sqrt(count) / 2
    low, high = -reach, max(float(least.max()), 0.0) + reach
    values = np.linspace(low, high, int(min((high - low) / (_STEP * deviation) + 2, _MAX_VALUES)))
    steps = (values[:, None] - values[None, :]) / deviation
    moves = np.exp(-(steps**2) / 2)
    # Ends are no higher than the size, and no lower than what was sent.
    allowed = (values >= np.minimum(least, high - reach)[:, None]) & (
        values <= size - shares[:-1, None]
    )
    allowed |= ~allowed.any(axis=1)[:, None]
    start = np.exp(-((values / deviation) ** 2) / 2)
    forward, backward = np.empty((2, count - 1, len(values)))
    forward[0], backward[-1] = start * allowed[0], start
    for number in range(1, count - 1):
        forward[number] = _normalised(moves @ forward[number - 1] * allowed[number])
        backward[-1 - number] = _normalised(moves @ (backward[-number] * allowed[-number]))
    odds = np.array([_normalised(each) for each in forward * backward])
    excess = odds @ values
    errors = np.sqrt(np.maximum(odds @ values**2 - excess**2, 0))
    return shares + np.append(excess, 0), np.append(errors, 0)


def _normalised(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns odds with the sum 1; equal ones where all are 0."""
    total = odds.sum()
    return odds / total if total > 0 else np.full(len(odds), 1 / len(odds))
