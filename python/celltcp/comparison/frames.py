"""Frames of interactive flows that had not arrived at the end of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def missing_frames(sent: Iterable[tuple[float, float]], arrived: int) -> int:
    """Returns the number of frames that had not arrived although their deadline was before the end.

    Args:
        sent: for each connection, the number of frames whose deadline is before the end of the run, and
            the share of these that the sender dropped.
        arrived: number of frames that arrived.
    """
    return round(math.fsum(count * (1.0 - dropped) for count, dropped in sent)) - arrived


def never_arrived(ages_ms: Sequence[float], missing: int, delays_ms: Sequence[float]) -> list[float]:
    """Returns the ages of the missing frames that count as lost, ms.

    Those are older at the end of the run than any frame was on arrival; others might still arrive.
    Results of earlier versions have no ages: all missing frames count, with NaN as age.

    Args:
        ages_ms: ages, at the end of the run, of the frames that had not arrived by their deadline.
        missing: number of these frames.
        delays_ms: delays of the frames that arrived.
    """
    if not ages_ms:
        return [math.nan] * missing
    longest = max(delays_ms, default=0.0)
    return [age for age in ages_ms if age > longest]
