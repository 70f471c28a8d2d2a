"""Time series of a run: rates, delays, queue and congestion window."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.modes import mode_spans
from celltcp.comparison.plots.cca_modes import draw_modes
from celltcp.comparison.plots.cca_switches import NAME_ROWS, draw_changes
from celltcp.comparison.plots.distribution import unfinished_text
from celltcp.comparison.plots.smoothing import Window, with_pauses
from celltcp.present.palette import colour, colours, lines, markers
from celltcp.present.style import CAPACITY, draw_series, legend_outside, shade_capacity, suit_unit
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantity_texts import rate_text

#: Colours and styles of further connections of a plot; others are left out.
_FURTHER_STYLES = (("#332288", "--"), ("#882255", "-."), ("#117733", ":"))
#: Ratio of goodput to capacity above which the plot has a note, and its text.
_BURST_RATIO = 1.05
_BURST_TEXT = "above the capacity: data that had waited for a repair and came at once"
#: Share of the capacity below which goodputs have an axis of their own.
_LOW_SHARE = 0.1
#: Highest spike of goodput that is drawn whole, as a multiple of the capacity.
_MAX_SPIKE = 3.0
#: Number of slots on each side of a slot whose capacities are compared with its goodput.
_SIDE_SLOTS = 5
#: Lower and upper ends of the ticks of unfinished units, as shares of the height.
_TICK_HEIGHTS = (0.95, 1.0)


class Delay(NamedTuple):
    """Delay in the slots: its column, and its name for an axis."""

    column: str
    title: str


RTT, ONE_WAY = Delay("rtt_mean_ms", "RTT"), Delay("owd_mean_ms", "one-way delay")


def draw_comparison_series(
    rates: Axes,
    delays: Axes,
    runs: pd.DataFrame,
    slots: pd.DataFrame,
    ccas: Sequence[str],
    seed: int | None,
    slot_s: float,
    window: Window | None = None,
    shown: Sequence[str] = (),
    delay: Delay = RTT,
) -> None:
    """Draws goodput over the shaded capacity, and delay, for the run with a seed of each CCA.

    In pauses of an application, goodput is zero, and capacity and delay are unknown. Goodputs far below
    the capacity have an axis of their own.

    Args:
        rates: panel of the goodput.
        delays: panel of the delay.
        runs: with `run`, `cca` and `seed`.
        slots: of the flow under test, a row per run and slot.
        ccas: all congestion controls, in the order of their colours.
        seed: of the run; the first unless given.
        slot_s: length of a slot, s.
        window: over which goodput is averaged; slots are not averaged unless given.
        shown: congestion controls that are drawn; all unless given.
        delay: which delay is drawn.
    """
    seed = int(runs["seed"].min()) if seed is None else seed
    largest, is_above = 0.0, False
    names, shades, styles = labels(ccas), colours(ccas), lines(ccas)
    slots_of = {}
    for cca in shown or ccas:
        run = runs[(runs["cca"] == cca) & (runs["seed"] == seed)]["run"].iloc[0]
        slots_of[cca] = with_pauses(slots[slots["run"] == run], slot_s)
    # Of the run that lasts longest: the capacity is known as long as the flow runs.
    longest = max(slots_of.values(), key=lambda run_slots: max(run_slots["t_s"], default=0.0))
    max_capacity = max(longest["capacity_mbps"].dropna(), default=0.0)
    shade_capacity(rates, longest["t_s"], longest["capacity_mbps"])
    for cca, run_slots in slots_of.items():
        capacity = run_slots["capacity_mbps"]
        look = {"color": shades[cca], "lw": 1.0, "ls": styles[cca]}
        goodput, delays_ms = run_slots["goodput_mbps"].fillna(0.0), run_slots[delay.column]
        if window:
            goodput, delays_ms = window.smoothed(goodput), window.filled(delays_ms)
        largest = max([largest, *goodput])
        nearby_capacity = capacity.rolling(2 * _SIDE_SLOTS + 1, 1, center=True).max()
        is_above |= bool((goodput > _BURST_RATIO * nearby_capacity).any())
        # Above the axis, which would hide goodputs of zero.
        draw_series(rates, run_slots["t_s"], goodput, label=names[cca], zorder=3, **look)
        draw_series(delays, run_slots["t_s"], delays_ms, **look)
    _end_with(rates, [longest["t_s"]], slot_s)
    is_far_below = 0 < largest < _LOW_SHARE * max_capacity
    is_cut = 1.05 * largest > _MAX_SPIKE * max_capacity > 0
    cut_text = f", here cut off at {_MAX_SPIKE:g} times the capacity" if is_cut else ""
    texts = [
        *([f"{_BURST_TEXT}{cut_text}"] if is_above else []),
        *([f"the capacity, up to {rate_text(max_capacity)}, is far above"] if is_far_below else []),
    ]
    rates.set_title("; ".join(texts), loc="left", fontsize=8, color="#555555")
    # All data behind a lost segment are delivered at once when it arrives: the highest of such spikes
    # are cut off.
    top = headroom(largest if is_far_below else max_capacity) or 0.0
    end = max(top, min(1.05 * largest, _MAX_SPIKE * max_capacity))
    rates.set_ylim(0, end or None)
    label_rates(rates, end, window)
    delays.set_ylabel(f"{delay.title}, ms (seed {seed})")
    delays.set_ylim(bottom=0)
    delays.set_xlabel("time, s")


def draw_flows(
    rates: Axes,
    delays: Axes,
    flows: Mapping[str, tuple[str, pd.DataFrame]],
    slot_s: float,
    window: Window | None,
    abreast: int,
    compared: Collection[str],
) -> float:
    """Draws goodput and RTT of the competing flows of a run, over the shaded sum of the goodputs.

    The axis of the goodput has no label, which `label_rates` gives to all panels with its scale.

    Args:
        rates: panel of the goodput.
        delays: panel of the RTT.
        flows: congestion control and slots of each flow, by its label.
        slot_s: length of a slot, s.
        window: over which goodput is averaged; slots are not averaged if None.
        abreast: number of panels side by side.
        compared: congestion controls whose colours further flows do not have: in other panels these are
            the colours of the flow under test.

    Returns:
        The highest sum of the goodputs, Mbit/s.
    """
    # Further flows of a CCA have the colours of their labels, the same in all panels.
    ccas = [cca for cca, _ in flows.values()]
    keys = [
        label if cca in ccas[:index] or (index and cca in compared) else cca
        for index, (label, (cca, _)) in enumerate(flows.items())
    ]
    every = [*compared, *keys]
    shades, styles = colours(every), lines(every)
    curves = [with_pauses(slots, slot_s) for _, slots in flows.values()]
    goodputs = [
        goodput if window is None else window.smoothed(goodput)
        for goodput in (slots["goodput_mbps"].fillna(0.0) for slots in curves)
    ]
    # Times of slots are sums of floating-point numbers.
    numbers = [np.round(slots["t_s"] / slot_s).astype(int) for slots in curves]
    parts = [
        pd.Series(goodput.to_numpy(), slot) for goodput, slot in zip(goodputs, numbers, strict=True)
    ]
    total = pd.concat(parts).groupby(level=0).sum().sort_index()
    if len(total):
        rates.fill_between(total.index * slot_s, total, color=CAPACITY, lw=0, label="sum")
    for label, key, slots, goodput in zip(flows, keys, curves, goodputs, strict=True):
        look: dict[str, Any] = {"color": shades[key], "lw": 1.0, "ls": styles[key]}
        draw_series(rates, slots["t_s"], goodput, label=label, zorder=3, **look)
        rtt = slots["rtt_mean_ms"]
        draw_series(delays, slots["t_s"], rtt if window is None else window.filled(rtt), **look)
    delays.set_ylabel("RTT, ms")
    delays.set_ylim(bottom=0)
    delays.set_xlabel("time, s")
    _end_with(rates, [slots["t_s"] for slots in curves], slot_s)
    legend_outside(rates, panels_per_row=abreast)
    return float(total.max()) if len(total) else 0.0


def draw_units(
    axes: Axes, units: pd.DataFrame, ccas: Sequence[str], unit: str, seed: int | None
) -> None:
    """Draws the durations of units of work at their ends, for the run with a seed of each CCA.

    Unfinished units have a tick at the upper edge at their start, unless the start is unknown. The
    title has the share of unfinished units.
    """
    seed = int(units["seed"].min()) if seed is None else seed
    units = units[units["seed"] == seed]
    names, shades, styles = labels(ccas), colours(ccas), lines(ccas)
    for cca in ccas:
        selected = units[units["cca"] == cca].sort_values("end_s")
        finished = selected.dropna(subset="duration_s")
        look = {"color": shades[cca], "lw": 0.5, "ls": styles[cca], "marker": ".", "ms": 3}
        draw_series(axes, finished["end_s"], finished["duration_s"], label=names[cca], **look)
        unfinished_s = selected.loc[selected["duration_s"].isna(), "start_s"].dropna()
        if len(unfinished_s):
            axes.vlines(
                unfinished_s,
                *_TICK_HEIGHTS,
                colors=shades[cca],
                lw=1,
                transform=axes.get_xaxis_transform(),
            )
    # Points near the top are whole.
    axes.set_ylim(0, headroom(float(units["duration_s"].max())))
    if text := unfinished_text(units, ccas, unit):
        axes.set_title(text, fontsize=8, color="#555555")
    if (units["duration_s"].isna() & units["start_s"].notna()).any():
        key = Line2D([], [], color="#555555", ls="", marker="|", ms=10, label=UNITS[unit].unfinished)
        axes.legend(handles=[key], fontsize=8)
    axes.set_ylabel(f"{UNITS[unit].title}, s (seed {seed})")
    axes.set_xlabel("time, s")


def draw_run_series(
    axes: list[Axes],
    cca: str,
    slots: pd.DataFrame,
    samples: pd.DataFrame,
    decisions: pd.DataFrame | None = None,
    window: Window | None = None,
    others: Mapping[str, pd.DataFrame] | None = None,
    *,
    is_paced: bool = True,
) -> None:
    """Draws the rates of a connection over the shaded capacity, its RTT, and its windows and modes.

    Args:
        axes: three panels, from top to bottom.
        cca: congestion control of the connection.
        slots: of the connection.
        samples: of the connection.
        decisions: of its selector, if it has one.
        window: over which goodput is averaged; slots are not averaged unless given.
        others: slots of further connections whose goodput is drawn, by their labels.
        is_paced: whether the pacing rate has an effect, and is drawn.
    """
    rates, delays, windows = axes
    times = samples["t_ns"] * 1e-9
    shade_capacity(rates, slots["t_s"], slots["capacity_mbps"])
    if is_paced:
        pacing = samples["pacing_rate_bps"] * 1e-6
        draw_series(rates, times, pacing, color="#999999", lw=0.6, label="pacing rate")
    name = f"{labels([cca])[cca]} goodput"
    goodput = slots["goodput_mbps"]
    if window:
        name, goodput = f"{name}, {window.text}", window.smoothed(goodput)
    draw_series(rates, slots["t_s"], goodput, color=colour(cca), lw=1, label=name)
    largest = float(max(slots["capacity_mbps"].max(), goodput.max()))
    for (label, other), (shade, style) in zip((others or {}).items(), _FURTHER_STYLES, strict=False):
        goodput = window.smoothed(other["goodput_mbps"]) if window else other["goodput_mbps"]
        draw_series(rates, other["t_s"], goodput, color=shade, lw=1, ls=style, label=label)
        largest = max(largest, float(goodput.max()))
    rates.set_ylim(0, headroom(largest))
    _end_with(rates, [slots["t_s"], times])
    rates.set_ylabel("Mbit/s")
    draw_series(delays, times, samples["srtt_us"] * 1e-3, color="#999999", lw=0.8, label="srtt")
    on_path = {"color": colour(cca), "lw": 1, "label": "RTT on the path"}
    draw_series(delays, slots["t_s"], slots["rtt_mean_ms"], **on_path)
    delays.set_ylim(0, headroom(float(slots["rtt_mean_ms"].max())))
    delays.set_ylabel("ms")
    legend_outside(delays)
    # Values are constant until the next ACK.
    held = {"drawstyle": "steps-post"}
    in_flight = {"color": "#999999", "lw": 0.6, "label": "in flight", **held}
    draw_series(windows, times, samples["inflight"], **in_flight)
    draw_series(windows, times, samples["cwnd"], color=colour(cca), lw=1, label="cwnd", **held)
    queue = {"color": "#999933", "lw": 0.8, "label": "bottleneck queue"}
    draw_series(windows, slots["t_s"], slots["queue_packets"], **queue)
    known = samples[samples["ssthresh"] < 2**31 - 1]
    threshold = {"color": "black", "lw": 0.7, "ls": ":", "label": "ssthresh", **held}
    draw_series(windows, known["t_ns"] * 1e-9, known["ssthresh"], **threshold)
    windows.set_ylim(0, headroom(float(samples["cwnd"].max())) if len(samples) else None)
    windows.set_ylabel("segments")
    windows.set_xlabel("time, s")
    keys = draw_modes(windows, mode_spans(samples))
    legend_outside(windows, [*windows.get_legend_handles_labels()[0], *keys])
    legend_outside(rates, rows_between=0 if decisions is None else NAME_ROWS)
    if decisions is not None:
        decisions = decisions.assign(t_s=decisions["t_ns"] * 1e-9).sort_values("t_s")
        draw_changes(axes, decisions)


def draw_run_units(axes: Axes, units: pd.DataFrame, unit: str, flows: Sequence[str]) -> None:
    """Draws the durations of the finished units of work of a kind in a run, at the end of each.

    `flows` are the flows of all kinds, in the order of their colours.
    """
    shades, marks = colours(flows), markers(flows)
    for flow in units["flow"].unique():
        selected = units[units["flow"] == flow]
        look: dict[str, Any] = {"color": shades[flow], "marker": marks[flow], "ms": 3, "ls": "none"}
        axes.plot(
            selected["end_s"], selected["duration_s"], label=f"{flow}: {UNITS[unit].title}", **look
        )
    axes.set_ylim(0, headroom(float(units["duration_s"].max())))
    axes.set_ylabel("s")
    legend_outside(axes)


def _end_with(axes: Axes, times: Iterable[pd.Series], slot_s: float = 0.0) -> None:
    """Lets a time axis begin at 0 and end with the last of the times, at which a slot may begin."""
    ends_s = [float(series.max()) for series in times if series.notna().any()]
    if ends_s and max(ends_s) + slot_s > 0:
        axes.set_xlim(0, max(ends_s) + slot_s)


def label_rates(rates: Axes, largest_mbps: float, window: Window | None) -> None:
    """Labels the axis of goodputs up to a value, with the time over which they are averaged."""
    unit = suit_unit(rates.yaxis, largest_mbps, "Mbit/s", "kbit/s")
    rates.set_ylabel(f"goodput, {unit}\n{window.text}" if window else f"goodput, {unit}")


def headroom(largest: float) -> float | None:
    """Returns the upper end of an axis for values up to `largest`; None without a positive one."""
    return 1.25 * largest if largest > 0 else None
