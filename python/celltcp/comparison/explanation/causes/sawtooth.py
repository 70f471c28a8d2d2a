"""Sawtooth of the congestion window: losses by its own size, and growth between by RFC 9438 or 5681."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.causes.hystart import exit_text
from celltcp.comparison.explanation.evidence.recoveries import of_connection
from celltcp.comparison.explanation.evidence.window_growth import WindowGrowth, window_growth_of
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.quantity_texts import delay_text, three_digits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum number of recoveries of a connection for an interval between them.
_MIN_RECOVERIES = 2
#: Minimum share of the segments that an overflow in slow start lost, for a text.
_MIN_START_LOSS = 0.002
#: Reasons of drops that the window of the flow itself brings about.
_OWN_DROPS = ("overflow", "aqm")

#: Minimum window near W_max, as a share of it, where the cubic function is flat.
_MIN_PLATEAU = 0.9


class Loss(NamedTuple):
    """Loss recovery of a connection, with the window before it and W_max after it, segments."""

    start_s: float
    length_s: float
    #: Whether it is of slow start or has time-outs, so that no growth by the law follows or precedes.
    is_other: bool
    before: float
    w_max: float
    #: Whether fast convergence lowered W_max.
    is_lowered: bool


class CongestionEpoch(NamedTuple):
    """Time from a loss to the following one, in which the window falls and grows."""

    loss: Loss
    #: Window before the following loss, segments.
    window: float
    #: Time between the losses, and that by the RFC, s.
    interval_s: float
    expected_s: float
    #: Whether growth by segments per round trip, that of Reno, reaches the window first.
    is_linear: bool


class Sawtooth:
    """Loss recoveries of a flow after the start-up, of connections with at least two of them."""

    def __init__(self, evidence: Evidence) -> None:
        """Takes the metrics of a flow under a congestion control."""
        self._evidence = evidence
        rows = evidence.recoveries
        rows = rows[~(rows["undone"] > 0)].sort_values("t_s")
        rows = rows[(rows["drops"] > 0) | (rows["timeouts"] > 0)]
        # A recovery from slow start may have another one right after it, of its last round trip.
        previous = rows.groupby(["run", "flow"], observed=True)[["end_s", "slow_start"]].shift()
        is_next = rows["t_s"] - previous["end_s"] <= evidence.min_rtt_s
        is_of_start = (rows["slow_start"] > 0) | ((previous["slow_start"] > 0) & is_next)
        self._reductions: pd.DataFrame = rows.assign(slow_start=is_of_start)
        rows = self._reductions[~is_of_start]
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
    def is_of_own_window(self) -> bool:
        """Whether there are recoveries, all of which are from losses that the flow's window causes."""
        rows = self._rows
        is_own = (rows["drops"] == rows[[*_OWN_DROPS]].sum(axis=1)) & ~(rows["timeouts"] > 0)
        return bool(len(rows) and is_own.all())

    @functools.cached_property
    def growth(self) -> WindowGrowth | None:
        """Growth of the window between losses; None unless under CUBIC or Reno."""
        return window_growth_of(self._evidence.own_cca)

    @property
    def rtt_s(self) -> float:
        """Mean RTT, s."""
        return self._evidence.mean("rtt_mean_ms") / 1e3

    @functools.cached_property
    def epochs(self) -> list[CongestionEpoch]:
        """Times between losses after the start-up; none under other CCAs."""
        growth = self.growth
        if growth is None:
            return []
        keys = self._rows[["run", "flow"]].drop_duplicates()
        return [
            _epoch(growth, self.rtt_s, *losses)
            for key in keys.itertuples(index=False, name=None)
            for losses in itertools.pairwise(self._losses(growth, *map(int, key)))
            if not any(loss.is_other for loss in losses)
        ]

    def _losses(self, growth: WindowGrowth, run: int, flow: int) -> Iterator[Loss]:
        """Yields the losses of a connection, with those of slow start, of which W_max comes."""
        rows = of_connection(self._reductions, run, flow)
        windows, w_max = self._evidence.windows, 0.0
        columns = ["t_s", "length_s", "slow_start", "timeouts"]
        for start_s, length_s, slow_start, timeouts in rows[columns].to_numpy(float):
            before = windows.before(run, flow, start_s)
            is_lowered = growth.lowers_w_max(before, w_max)
            # Linux forgets W_max at a time-out.
            w_max = 0.0 if timeouts else growth.w_max(before, is_lowered=is_lowered)
            yield Loss(start_s, length_s, bool(slow_start or timeouts), before, w_max, is_lowered)

    @property
    def start_text(self) -> str:
        """The exit from slow start: by HyStart before the recoveries of `text`, or at an overflow."""
        return (exit_text(self._evidence) if self.text else "") or self._overflow_text

    @property
    def _overflow_text(self) -> str:
        """A slow start that only an overflow ended, as text; empty for few lost segments."""
        rows = self._reductions
        rows = rows[(rows["slow_start"] > 0) & (rows["overflow"] > 0)]
        lost = rows["overflow"].sum()
        if not len(rows) or lost < _MIN_START_LOSS * self._evidence.total("segments"):
            return ""
        first = rows.iloc[0]
        window = self._evidence.windows.before(int(first["run"]), int(first["flow"]), first["t_s"])
        return (
            f"Slow start ended at an overflow: the window grew to {window:.0f} segments until the "
            f"first loss, and {self._evidence.mean_count_text(lost)} "
            f"segments{self._evidence.per_run_text} were lost, as losses show a round trip later."
        )

    @functools.cached_property
    def text(self) -> str:
        """The intervals and windows, and what RFC 9438 or 5681 has for these windows.

        Empty unless a bulk flow under CUBIC or Reno has losses by its own window alone.
        """
        growth, epochs = self.growth, self.epochs
        if growth is None or not epochs or not self._evidence.is_bulk or not self.is_of_own_window:
            return ""
        before = _mean(epoch.loss.before for epoch in epochs)
        if not before > 0:
            return ""
        connections = len(self._rows[["run", "flow"]].drop_duplicates())
        recoveries_text = number_text(len(self._rows) / connections)
        recoveries_text += " per connection" if connections > 1 else ""
        # A segment decides up to 2.7 s where the cubic function is flat.
        precision_text = "" if self._evidence.windows.is_of_acks else ", known within a segment,"
        windows_text = " to ".join(map(number_text, (before, growth.beta * before)))
        law_text = _law_text(growth, epochs, self.rtt_s)
        return (
            f"Loss recoveries after the start-up: {recoveries_text}, every "
            f"{_range_text(self._intervals_s)}; each lowers the window by "
            f"{percent_text(1 - growth.beta)}, from {windows_text} segments. "
            f"{law_text} By this, the windows at these losses{precision_text} give "
            f"{_range_text([epoch.expected_s for epoch in epochs])}, recoveries included."
        )


def _epoch(growth: WindowGrowth, rtt_s: float, loss: Loss, following: Loss) -> CongestionEpoch:
    """Returns the time between two losses, with the growth in it by the law."""
    trough, window = growth.beta * loss.before, following.before
    growth_s, is_linear = growth.epoch(trough, loss.w_max, window, rtt_s)
    interval_s = following.start_s - loss.start_s
    return CongestionEpoch(loss, window, interval_s, loss.length_s + growth_s, is_linear)


def _range_text(values_s: Collection[float]) -> str:
    """Returns the mean of times, and the least and largest one; the mean alone if they are one."""
    mean, low, high = map(three_digits, (_mean(values_s), min(values_s), max(values_s)))
    return f"{mean} s" if low == high else f"{mean} s on average (between {low} and {high} s)"


def _mean(values: Iterable[float]) -> float:
    return float(np.mean([*values]))


def _law_text(growth: WindowGrowth, epochs: list[CongestionEpoch], rtt_s: float) -> str:
    """Returns sentences on the growth of a window back to what it was before a loss."""
    before = _mean(epoch.loss.before for epoch in epochs)
    trough = growth.beta * before
    linear_s = growth.linear_s(trough, before, rtt_s)
    back_text = f"{number_text(before - trough)} back in {three_digits(linear_s)} s"
    rtt_text = f"per round trip of {delay_text(1e3 * rtt_s)}"
    if not growth.cubic_constant:
        return f"RFC 5681 adds a segment {rtt_text}, and gives {back_text}."
    parts = [
        f"K of RFC 9438, in which the cubic function regains W_max, is "
        f"{three_digits(growth.k_s(before, trough))} s.",
        _fast_convergence_text(growth, epochs, rtt_s),
        _plateau_text(growth, epochs),
    ]
    linear = sum(epoch.is_linear for epoch in epochs)
    friendly_text = f"Reno-friendly region ({growth.per_rtt:.2f} segments {rtt_text})"
    if linear:
        is_part = linear < len(epochs)
        after_text = f"After {linear} of {len(epochs)} losses, the" if is_part else "The"
        parts.append(f"{after_text} {friendly_text} is ahead, and gives {back_text}.")
    elif growth.per_rtt:
        parts.append(f"The {friendly_text} would take {three_digits(linear_s)} s.")
    return " ".join(filter(None, parts))


def _fast_convergence_text(growth: WindowGrowth, epochs: list[CongestionEpoch], rtt_s: float) -> str:
    """Returns a sentence on W_max and K after losses below the W_max before; empty without any."""
    lowered = [epoch.loss for epoch in epochs if epoch.loss.is_lowered]
    if not lowered or all(epoch.is_linear for epoch in epochs):
        return ""
    window, w_max = (_mean(getattr(loss, name) for loss in lowered) for name in ("before", "w_max"))
    trough = growth.beta * window
    back_s = growth.growth_s(trough, w_max, window, rtt_s)
    is_linear = back_s < growth.cubic_s(trough, w_max, window)
    region_text = " in the Reno-friendly region" if is_linear else ""
    return (
        f"{len(lowered)} of {len(epochs)} losses came below the W_max before: fast convergence lowers "
        f"W_max to {number_text(w_max)} segments and K to {three_digits(growth.k_s(w_max, trough))} s, "
        f"and {number_text(window)} segments are back after {three_digits(back_s)} s{region_text}."
    )


def _plateau_text(growth: WindowGrowth, epochs: list[CongestionEpoch]) -> str:
    """Returns a sentence on losses up to W_max, near which the cubic function hardly grows."""
    early = [
        (epoch.loss.w_max - epoch.window, growth.k_s(epoch.loss.w_max, trough) - growth_s)
        for epoch in epochs
        if not epoch.loss.is_lowered and not epoch.is_linear
        if _MIN_PLATEAU * epoch.loss.w_max <= epoch.window <= epoch.loss.w_max
        for trough in [growth.beta * epoch.loss.before]
        for growth_s in [growth.cubic_s(trough, epoch.loss.w_max, epoch.window)]
    ]
    if not early:
        return ""
    missing, early_s = map(_mean, zip(*early, strict=True))
    below_text = f"{count_text(round(missing), 'segment')} below it" if round(missing) else "at it"
    return (
        "Near W_max the window hardly grows, and Linux counts whole segments: a loss "
        f"{below_text} comes {three_digits(early_s)} s before K."
    )


def growing_window(evidence: Evidence) -> Cause | None:
    """A run is shorter than the sawtooth of the window, which still grows at its end.

    The bulk flow overflowed the buffer in its start-up alone.
    """
    short = (
        each
        for each in evidence.comparison.short_runs
        if (each.flow, each.cca) == (evidence.flow_name, evidence.cca)
    )
    each = next(short, None)
    return each and Cause(
        "growing_window",
        f"{each.text[0].upper()}{each.text[1:]}: it has not filled the buffer again.",
        evidence.unused_share,
    )
