"""Smoothing of goodput over time.

After a loss, nothing is delivered to the application for a round trip, and then the data of many slots
at once. Means over a second are the rate that the application sees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

#: Time over which goodput is averaged, s, and its maximum as a share of the whole time.
_WINDOW_S = 1.0
_MAX_SHARE = 0.1


class Window(NamedTuple):
    """Time over which goodput is averaged in plots."""

    seconds: float
    slots: int
    #: Number of slots in a round trip, at least one.
    rtt_slots: int = 1

    @property
    def text(self) -> str:
        """The window in words."""
        return f"mean over {self.seconds:.2g} s"

    def smoothed(self, goodput: pd.Series) -> pd.Series:
        """Returns the mean around each slot; next to the ends and unknown slots, over fewer slots."""
        return goodput.rolling(self.slots, center=True, min_periods=1).mean().where(goodput.notna())

    def filled(self, delay: pd.Series) -> pd.Series:
        """Returns the mean over a round trip around each slot: slots without an ACK have no delay."""
        return delay.rolling(self.rtt_slots, center=True, min_periods=1).mean()


def with_pauses(slots: pd.DataFrame, slot_s: float) -> pd.DataFrame:
    """Returns the slots of a flow in a run, and slots without a connection, whose metrics are NaN."""
    numbers = np.round(slots["t_s"].to_numpy() / slot_s).astype(int)
    if not len(numbers) or numbers[-1] - numbers[0] < len(numbers):
        return slots
    every = np.arange(numbers[0], numbers[-1] + 1)
    numbered = slots.set_index(numbers)
    return numbered[~numbered.index.duplicated()].reindex(every).assign(t_s=every * slot_s)


def window_of(slots: pd.DataFrame, slot_s: float) -> Window:
    """Returns the window for slots of a flow: 1 s, less in short runs, but at least a round trip."""
    rtt_s = slots["rtt_mean_ms"].median() / 1e3
    whole_s = float(slots["t_s"].max() - slots["t_s"].min())
    min_s = max(slot_s, rtt_s if rtt_s > 0 else 0.0)
    seconds = max(min(_WINDOW_S, _MAX_SHARE * whole_s), min_s)
    return Window(seconds, max(round(seconds / slot_s), 1), max(round(min_s / slot_s), 1))
