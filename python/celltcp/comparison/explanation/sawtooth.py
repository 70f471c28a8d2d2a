"""Sawtooth of the congestion window: time between loss recoveries, and that by RFC 9438 and 5681."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.cause import number_text
from celltcp.results.steady_state import SteadyState, steady_state_of
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Minimum number of recoveries of a connection for a mean interval between them.
_MIN_RECOVERIES = 3
#: Reasons of drops that the window of the flow itself brings about.
_OWN_DROPS = ("overflow", "aqm")


class Sawtooth:
    """Loss recoveries of a flow after the start-up, of connections with at least three of them."""

    def __init__(self, evidence: Evidence) -> None:
        """Takes the metrics of a flow under a congestion control."""
        self._evidence = evidence
        rows = evidence.recoveries
        rows = rows[(rows["slow_start"] == 0) & ~(rows["undone"] > 0)].sort_values("t_s")
        rows = rows[(rows["drops"] > 0) | (rows["timeouts"] > 0)]
        sizes = rows.groupby(["run", "flow"], observed=True)["t_s"].transform("size")
        self._rows: pd.DataFrame = rows[sizes >= _MIN_RECOVERIES]

    @functools.cached_property
    def _intervals_s(self) -> pd.Series:
        """Times between the starts of successive recoveries, s."""
        intervals: pd.Series = self._rows.groupby(["run", "flow"], observed=True)["t_s"].diff().dropna()
        return intervals

    @property
    def interval_s(self) -> float:
        """Mean time between the starts of successive recoveries, s; NaN for few of them."""
        return float(self._intervals_s.mean())

    @property
    def text(self) -> str:
        """The intervals, and what RFC 9438 or 5681 has for the windows before the recoveries.

        Empty unless a bulk flow under CUBIC or Reno has losses by its own window alone.
        """
        evidence, rows = self._evidence, self._rows
        law = steady_state_of(evidence.own_cca)
        is_own = (rows["drops"] == rows[[*_OWN_DROPS]].sum(axis=1)) & ~(rows["timeouts"] > 0)
        if law is None or not evidence.is_bulk or rows.empty or not is_own.all():
            return ""
        windows = self._windows_before()
        mean = float(np.nanmean([window for each in windows for window in each]))
        if not mean > 0:
            return ""
        count_text = number_text(len(rows) / len(windows)) + (" per connection" if windows[1:] else "")
        low, high = map(three_digits, (self._intervals_s.min(), self._intervals_s.max()))
        return (
            f"Loss recoveries after the start-up: {count_text}, every "
            f"{three_digits(self.interval_s)} s on average (between {low} and {high} s). "
            f"{_law_text(law, mean, evidence.mean('rtt_mean_ms') / 1e3, windows)}"
        )

    def _windows_before(self) -> list[list[float]]:
        """Returns the windows before the recoveries of each connection, segments."""
        change = self._evidence.windows.change
        return [
            [
                change(int(run), int(flow), start_s, start_s + length_s, is_timeout=False).before
                for run, flow, start_s, length_s in rows.to_numpy(float)
            ]
            for _, rows in self._rows[["run", "flow", "t_s", "length_s"]].groupby(["run", "flow"])
        ]


def _law_text(law: SteadyState, window: float, rtt_s: float, windows: list[list[float]]) -> str:
    """Returns a sentence on the time in which a window grows back to what it was.

    Reno adds a segment per round trip, the Reno-friendly region of CUBIC 3 (1 - beta) / (1 + beta),
    also with delayed ACKs, as Linux counts the segments that an ACK reports.
    """
    before = f"a window of {number_text(window)} segments before them"
    lost = window * (1 - law.beta)
    if not law.cubic_constant:
        return (
            f"After {before}, RFC 5681 adds the lost half in {number_text(lost)} round trips, "
            f"{three_digits(lost * rtt_s)} s beside the recovery."
        )
    k_s = math.cbrt(lost / law.cubic_constant)
    friendly_s = lost * (1 + law.beta) / (3 * (1 - law.beta)) * rtt_s
    text = f"K of RFC 9438 is {three_digits(k_s)} s for {before}"
    if friendly_s < k_s:
        friendly_text = f"needs only {three_digits(friendly_s)} s beside the recovery"
        return f"{text}, but its Reno-friendly region {friendly_text}."
    if not any(map(_shrinks, windows)):
        return f"{text}."
    # W_max is then the middle of both windows, and is passed at K.
    fast_s = 2 * math.cbrt(lost / 2 / law.cubic_constant)
    return (
        f"{text}; where that is smaller than the one before, fast convergence makes it up to "
        f"{three_digits(min(fast_s, friendly_s))} s."
    )


def _shrinks(windows: list[float]) -> bool:
    """Returns whether a window before a recovery is below W_max: fast convergence lowers that."""
    w_max = 0.0
    for window in windows:
        if window < w_max:
            return True
        w_max = window
    return False
