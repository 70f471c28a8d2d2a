"""Smoothing of goodput over time.

Data that were lost hold back all data behind them: then nothing is delivered for a round trip, and many
slots' worth at once. Means over a second have the rate that the application sees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

#: Time over which goodput is averaged, s, and its largest share of the whole time.
_WINDOW_S = 1.0
_MAX_SHARE = 0.1


class Window(NamedTuple):
    """Time over which goodput is averaged in pictures."""

    seconds: float
    slots: int
    #: Slots in a round trip, one at least.
    rtt_slots: int = 1

    @property
    def text(self) -> str:
        """The window in words."""
        return f"mean over {self.seconds:.2g} s"

    def smoothed(self, goodput: pd.Series) -> pd.Series:
        """Returns the mean around each slot; over fewer slots at the ends, and next to unknown ones."""
        return goodput.rolling(self.slots, center=True, min_periods=1).mean().where(goodput.notna())

    def filled(self, delay: pd.Series) -> pd.Series:
        """Returns the mean over a round trip around each slot: shorter slots have gaps between ACKs."""
        return delay.rolling(self.rtt_slots, center=True, min_periods=1).mean()


def with_pauses(slots: pd.DataFrame, slot_s: float) -> pd.DataFrame:
    """Returns the slots of a run with those in which no connection was alive, whose metrics are NaN.

    Args:
        slots: of a flow in a run, in the order of time.
        slot_s: length of a slot, s.
    """
    places = np.round(slots["t_s"].to_numpy() / slot_s).astype(int)
    if not len(places) or places[-1] - places[0] < len(places):
        return slots
    every = np.arange(places[0], places[-1] + 1)
    result = slots.set_index(places)
    return result[~result.index.duplicated()].reindex(every).assign(t_s=every * slot_s)


def window_of(slots: pd.DataFrame, slot_s: float) -> Window:
    """Returns the window of a comparison: 1 s, less in short runs, but a round trip at least.

    Args:
        slots: of the flow under test.
        slot_s: length of a slot, s.
    """
    rtt_s = slots["rtt_mean_ms"].median() / 1e3
    whole_s = float(slots["t_s"].max() - slots["t_s"].min())
    least_s = max(slot_s, rtt_s if rtt_s > 0 else 0.0)
    seconds = max(min(_WINDOW_S, _MAX_SHARE * whole_s), least_s)
    return Window(seconds, max(round(seconds / slot_s), 1), max(round(least_s / slot_s), 1))
