"""Frames of interactive flows: the number of those that never arrived."""

from __future__ import annotations

import math
from collections.abc import Iterable


def missing_frames(sent: Iterable[tuple[float, float]], arrived: int) -> int:
    """Returns the number of frames that were sent and never arrived.

    Args:
        sent: of each connection, number of the frames whose deadline is before the end of the run, and
            share of them that the sender dropped.
        arrived: number of the frames that did arrive.
    """
    return round(math.fsum(count * (1.0 - dropped) for count, dropped in sent)) - arrived
