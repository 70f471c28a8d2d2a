"""Plots of empirical distributions over slots, or over units of work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from celltcp._core import CelltcpError
from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.metric_names import plotted_metric
from celltcp.present.palette import colours, lines
from celltcp.present.style import MAX_BANDS, make_logarithmic
from celltcp.scenarios.cca_mix import labels

Numbers: TypeAlias = NDArray[np.float64]
#: Lower and upper ends of a band.
Bands: TypeAlias = tuple[Numbers, Numbers]

#: Columns of the slots by their names for users, with the label of the axis.
METRICS = {
    "goodput": ("goodput_mbps", "goodput per slot, Mbit/s"),
    "rtt": ("rtt_mean_ms", "mean RTT per slot, ms"),
    "owd": ("owd_mean_ms", "mean one-way delay per slot, ms"),
    "pm_balanced": ("pm_balanced", "PM, balanced"),
    "pm_delay": ("pm_delay", "PM, delay"),
}
#: Share of the slots that a plot shows: the highest goodputs are bursts of data behind a lost segment.
_SLOTS_QUANTILE = 0.995
#: Columns of delays, which count by the data of their slots, and the largest weight of a slot.
_DELAYS, _MAX_WEIGHT = ("rtt_mean_ms", "owd_mean_ms"), 100
#: Number of bootstrap samples for a band.
_RESAMPLES = 200
#: Ratio of the end of an axis to the median above which its scale is logarithmic.
_LOG_AXIS_RATIO = 10.0
#: Ratio of the ends of a logarithmic axis above which only powers of ten have ticks.
_DECADE_TICKS_RATIO = 500.0
#: Maximum number of steps of a curve.
_MAX_STEPS = 400
#: Column of the durations of units of work.
_DURATION = "duration_s"


def draw_ecdf(
    axes: Axes,
    slots: pd.DataFrame,
    ccas: Sequence[str],
    metric: str,
    *,
    is_log: bool | None = None,
) -> None:
    """Draws the empirical distribution of a metric, with a 95 % band from resampling whole runs.

    `slots` are those of a flow, or units of work for a metric in `UNITS`. `is_log` requests a
    logarithmic scale for positive values; unless given, values with a long tail have one.
    """
    column, label = column_of(metric)
    names, shades, styles = labels(ccas), colours(ccas), lines(ccas)
    end = _upper_end(slots, column)
    for cca in ccas:
        runs = _values_by_run(slots, cca, column)
        if not runs:
            continue
        grid = _steps(runs)
        mean, band = _shares(runs, grid)
        # From 0 at the lowest value to the end of the axis, even if some values are infinite.
        right = [end] if end is not None and grid[-1] < end else []
        values = [grid[0], *grid, *right]
        look = {"color": shades[cca], "lw": 1.4, "ls": styles[cca], "drawstyle": "steps-post"}
        axes.plot(values, _extended(mean, len(right)), label=names[cca], **look)
        if band is not None and len(ccas) <= MAX_BANDS:
            low, high = (_extended(each, len(right)) for each in band)
            axes.fill_between(values, low, high, step="post", color=shades[cca], alpha=0.2, lw=0)
    axes.set_ylim(0, 1)
    if end is not None:
        lowest = float(slots[column].min())
        if lowest > 0 and (has_long_tail(slots, column) if is_log is None else is_log):
            steps = (1, 2, 5) if end < _DECADE_TICKS_RATIO * lowest else (1,)
            make_logarithmic(axes, lowest / 1.05, end, steps)
        axes.set_xlim(right=end)
        if axes.get_xlim()[0] < 0:
            axes.set_xlim(left=0)
    axes.set_xlabel(label)
    of_slots = "delivered data" if column in _DELAYS else "slots"
    axes.set_ylabel(f"share of {UNITS[metric].noun if metric in UNITS else of_slots}")
    if text := unfinished_text(slots, ccas, metric):
        axes.set_title(text, fontsize=8, color="#555555")


def unfinished_text(units: pd.DataFrame, ccas: Sequence[str], metric: str) -> str:
    """Returns the share of unfinished units for each CCA with some; empty without any."""
    if metric not in UNITS:
        return ""
    shares = units[_DURATION].isna().groupby(units["cca"]).mean()
    names = labels(ccas)
    percents = {cca: f"{_percent(shares[cca])} %" for cca in ccas if shares.get(cca, 0.0) > 0}
    if not percents:
        return ""
    text = ", ".join(f"{names[cca]} {percent}" for cca, percent in percents.items())
    if len(percents) == len(ccas) > len({*percents.values()}) == 1:
        text = f"{percents[ccas[0]]} under every CCA"
    return f"{UNITS[metric].unfinished}: {text}"


def _percent(share: float) -> str:
    """Returns a share in percent: as a whole number, or below 1 % with one significant digit."""
    return f"{100 * share:.0f}" if share >= 0.01 else f"{100 * share:.1g}"


def drawn_metric(text: str) -> str:
    """Returns METRIC or METRIC:FLOW with the name of its plotted values as METRIC."""
    name, colon, flow = text.partition(":")
    return f"{plotted_metric(name, (*METRICS, *UNITS))}{colon}{flow}"


def column_of(metric: str) -> tuple[str, str]:
    """Returns the column of a metric, and the label of its axis.

    Raises:
        CelltcpError: if there is no such metric.
    """
    if metric in UNITS:
        return _DURATION, f"{UNITS[metric].title}, s"
    if metric not in METRICS:
        raise CelltcpError(
            f"metric: {metric!r} is not a choice; allowed: {', '.join((*METRICS, *UNITS))}, or one of "
            "their figures, such as response_p95_s"
        )
    return METRICS[metric]


def _upper_end(slots: pd.DataFrame, column: str) -> float | None:
    """Returns the end of an axis for the values of a column; None if they are missing or zero.

    The longest of units of work is the worst case, and is shown. Of slots, some with all the data
    behind a lost segment are cut off.
    """
    known = slots[column].dropna()
    high = float(known.quantile(1.0 if column == _DURATION else _SLOTS_QUANTILE)) if len(known) else 0.0
    return 1.05 * high if high > 0 else None


def has_long_tail(slots: pd.DataFrame, column: str) -> bool:
    """Returns whether an axis that ends at `_upper_end` needs a logarithmic scale."""
    known = slots[column].dropna()
    if known.empty or known.min() <= 0:
        return False
    return (_upper_end(slots, column) or 0.0) > 1.05 * _LOG_AXIS_RATIO * float(known.median())


def ecdf_curves(
    slots: pd.DataFrame, ccas: Sequence[str], metric: str, points: int
) -> tuple[Numbers, dict[str, tuple[Numbers, Bands | None]]]:
    """Returns up to `points` values, and for each CCA the share of slots up to these, with a band."""
    column, _ = column_of(metric)
    by_cca = {cca: runs for cca in ccas if (runs := _values_by_run(slots, cca, column))}
    if not by_cca:
        return np.zeros(0), {}
    end = _upper_end(slots, column)
    grid = np.unique(_quantiles([values for runs in by_cca.values() for values in runs], points))
    if end is not None:
        grid = np.union1d(grid[grid <= end], [end])
    return grid, {cca: _shares(runs, grid) for cca, runs in by_cca.items()}


def _values_by_run(slots: pd.DataFrame, cca: str, column: str) -> list[Numbers]:
    """Returns the sorted values of each run of a CCA; infinity for unfinished units."""
    selected = slots[slots["cca"] == cca]
    values = selected[column].fillna(math.inf) if column == _DURATION else selected[column].dropna()
    if column in _DELAYS and "delivered_bytes" in selected:
        # A delay is that of the data in its slot: percentiles are those of the segments.
        data = selected.loc[values.index, "delivered_bytes"]
        values = values.repeat(np.ceil(_MAX_WEIGHT * data / max(data.max(), 1.0)).astype(int))
    by_run = values.groupby(selected.loc[values.index, "run"].to_numpy())
    if not np.isfinite(values).any():
        return []
    return [np.sort(run.to_numpy(dtype=float)) for _, run in by_run]


def _steps(runs: Sequence[Numbers]) -> Numbers:
    """Returns the finite values of all runs, or evenly spaced quantiles of many."""
    values = np.concatenate(runs)
    finite: Numbers = np.unique(values[np.isfinite(values)])
    return finite if len(finite) <= _MAX_STEPS else np.unique(_quantiles(runs, _MAX_STEPS))


def _extended(shares: Numbers, repeats: int) -> Numbers:
    """Returns a zero, the shares, and the last share again as often as `repeats`."""
    return np.concatenate([[0.0], shares, np.repeat(shares[-1], repeats)])


def _quantiles(runs: Sequence[Numbers], points: int) -> Numbers:
    """Returns evenly spaced quantiles of the finite values of all runs."""
    values = np.concatenate(runs)
    quantiles: Numbers = np.quantile(values[np.isfinite(values)], np.linspace(0, 1, points))
    return quantiles


def _shares(runs: Sequence[Numbers], grid: Numbers) -> tuple[Numbers, Bands | None]:
    """Returns the mean share of slots up to each value, and a 95 % band from resampling whole runs."""
    shares = np.array([np.searchsorted(run, grid, "right") / len(run) for run in runs])
    mean: Numbers = shares.mean(axis=0)
    if len(runs) < 2:
        return mean, None
    draws = np.random.default_rng(1).integers(len(runs), size=(_RESAMPLES, len(runs)))
    means = np.array([shares[draw].mean(axis=0) for draw in draws])
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return mean, (low, high)
