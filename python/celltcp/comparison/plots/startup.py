"""Plots of the start-up of a flow: bytes delivered and congestion window over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from celltcp.comparison.plots.distribution import Bands, Numbers
from celltcp.present.palette import colours, lines
from celltcp.present.style import MAX_BANDS, suit_unit
from celltcp.results.statistics import NORMAL_HALF_WIDTH
from celltcp.scenarios.cca_mix import labels


def draw_startup(
    axes: Axes,
    slots: pd.DataFrame,
    flows: pd.DataFrame,
    ccas: Sequence[str],
    *,
    slot_s: float,
    seconds: float,
) -> None:
    """Draws the MB delivered by a time after the first data byte: mean and 95 % band of each CCA.

    `slots` and `flows` are those of the flow under test; `seconds` is the length of the time axis.
    """
    names, shades, styles = labels(ccas), colours(ccas), lines(ccas)
    steps, curves = delivered_curves(slots, flows, ccas, slot_s=slot_s, seconds=seconds)
    for cca, (mean, band) in curves.items():
        axes.plot(steps, mean, color=shades[cca], label=names[cca], lw=1.4, ls=styles[cca])
        if band is not None and len(ccas) <= MAX_BANDS:
            axes.fill_between(steps, *band, color=shades[cca], alpha=0.2, lw=0)
    axes.set_xlim(0, seconds)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time since the first data byte, s")
    largest = max((float(mean[-1]) for mean, _ in curves.values()), default=0.0)
    axes.set_ylabel(f"delivered, {suit_unit(axes.yaxis, largest, 'MB', 'kB')}")


def draw_startup_windows(
    axes: Axes,
    slots: pd.DataFrame,
    flows: pd.DataFrame,
    runs: pd.DataFrame,
    ccas: Sequence[str],
    *,
    slot_s: float,
    seconds: float,
) -> None:
    """Draws the congestion windows by a time after the first data byte in the runs of the first seed.

    `slots` and `flows` are those of the flow under test; `runs` has `run`, `cca` and `seed`.
    """
    shades, styles = colours(ccas), lines(ccas)
    starts_s = flows.groupby("run")["first_data_s"].min()
    first = runs[runs["seed"] == runs["seed"].min()]
    shown = slots[slots["t_s"] + slot_s <= slots["run"].map(starts_s) + seconds]
    for run, cca in zip(first["run"], first["cca"].astype(str), strict=True):
        for _, group in shown[shown["run"] == run].groupby("flow"):
            times_s = group["t_s"] + slot_s - starts_s[run]
            axes.plot(times_s, group["cwnd"], color=shades[cca], lw=1.4, ls=styles[cca])
    axes.set_xlim(0, seconds)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time since the first data byte, s")
    axes.set_ylabel(f"cwnd, segments (seed {first['seed'].min()})")


def delivered_curves(
    slots: pd.DataFrame,
    flows: pd.DataFrame,
    ccas: Sequence[str],
    *,
    slot_s: float,
    seconds: float,
) -> tuple[Numbers, dict[str, tuple[Numbers, Bands | None]]]:
    """Returns times, s, and for each CCA the mean over the runs of the MB delivered until then.

    With each mean is its 95 % band, None for a single run.
    """
    steps = np.arange(0, seconds + slot_s / 2, slot_s)
    starts_s = flows.groupby("run")["first_data_s"].min()
    result = {}
    for cca in ccas:
        curves = []
        for run, group in slots[slots["cca"] == cca].groupby("run"):
            ends = group["t_s"].to_numpy() + slot_s - starts_s[run]
            delivered = group["delivered_bytes"].to_numpy().cumsum() / 1e6
            curves.append(np.interp(steps, ends, delivered, left=0.0))
        if not curves:
            continue
        mean, band = np.mean(curves, axis=0), None
        if len(curves) > 1:
            half = NORMAL_HALF_WIDTH * np.std(curves, axis=0, ddof=1) / np.sqrt(len(curves))
            band = mean - half, mean + half
        result[cca] = mean, band
    return steps, result
