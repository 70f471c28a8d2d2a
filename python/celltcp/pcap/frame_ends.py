"""Ends of frames that a sender wrote behind a backlog: a random walk of sizes above the data sent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Step of the grid of the walk, standard deviations of a size; its reach, those of the whole walk.
_STEP, _REACH = 0.125, 4.0
#: Maximum number of values of the grid.
_MAX_VALUES = 800


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
