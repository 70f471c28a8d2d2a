"""Time series: rates, RTT, queue and window over the time of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from celltcp.comparison.modes import mode_spans
from celltcp.comparison.plots.cca_modes import draw_modes
from celltcp.comparison.plots.cca_switches import NAME_ROWS, draw_changes
from celltcp.comparison.plots.distribution import unended_text
from celltcp.comparison.plots.smoothing import Window, with_pauses
from celltcp.comparison.units_of_work import UNITS
from celltcp.present.palette import colour, colours, lines, markers
from celltcp.present.style import CAPACITY, draw_series, legend_outside, shade_capacity
from celltcp.scenarios.cca_mix import labels

#: Colours and styles of further connections of a picture; those beyond the last are left out.
_FURTHER_STYLES = (("#332288", "--"), ("#882255", "-."), ("#117733", ":"))
#: Ratio of goodput to capacity above which the picture has an explanation, and its text.
_BURST_RATIO = 1.05
_BURST_TEXT = "above the capacity: data that had waited for a repair and came at once"
#: Slots on each side over which the capacity around a slot is measured.
_MEAN_SLOTS = 5
#: Ends of the ticks of unfinished units, as shares of the height.
_TICK_HEIGHTS = (0.95, 1.0)


class Delay(NamedTuple):
    """Delay in the slots: its column, and its name on an axis."""

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
    """Draws goodput over the shaded capacity, and delay, of every congestion control in one run.

    In pauses of an application goodput is zero, and capacity and delay are unknown.

    Args:
        rates: panel of the goodput.
        delays: panel of the delay.
        runs: of the comparison.
        slots: those of the flow under test, a row per run and slot.
        ccas: congestion controls of the picture.
        seed: of the run; the first unless given.
        slot_s: length of a slot, s.
        window: over which goodput is averaged; each slot as it is unless given.
        shown: those that are drawn; all unless given.
        delay: which delay is drawn.
    """
    seed = int(runs["seed"].min()) if seed is None else seed
    most, is_above = 0.0, False
    names, shades, styles = labels(ccas), colours(ccas), lines(ccas)
    for cca in shown or ccas:
        run = runs[(runs["cca"] == cca) & (runs["seed"] == seed)]["run"].iloc[0]
        mine = with_pauses(slots[slots["run"] == run], slot_s)
        if not most:
            shade_capacity(rates, mine["t_s"], mine["capacity_mbps"])
            most = float(mine["capacity_mbps"].max())
        look = {"color": shades[cca], "lw": 1.0, "ls": styles[cca]}
        goodput, waits = mine["goodput_mbps"], mine[delay.column]
        if window:
            goodput, waits = window.smoothed(goodput), window.filled(waits)
        goodput = goodput.fillna(0.0)
        is_above |= _is_above(goodput, mine["capacity_mbps"])
        draw_series(rates, mine["t_s"], goodput, label=names[cca], **look)
        draw_series(delays, mine["t_s"], waits, **look)
    rates.set_ylabel(f"goodput, Mbit/s\n{window.text}" if window else "goodput, Mbit/s")
    if is_above:
        rates.set_title(_BURST_TEXT, loc="left", fontsize=8, color="#555555")
    # A filled hole delivers more in one slot than the link carries: such spikes are cut off.
    rates.set_ylim(0, headroom(most))
    delays.set_ylabel(f"{delay.title}, ms (seed {seed})")
    delays.set_ylim(bottom=0)
    delays.set_xlabel("time, s")


def draw_flows(
    rates: Axes,
    delays: Axes,
    flows: Mapping[str, tuple[str, pd.DataFrame]],
    slot_s: float,
    window: Window | None = None,
    abreast: int = 1,
) -> float:
    """Draws goodput and RTT of flows of a run that compete for the path, over their shaded sum.

    Args:
        rates: panel of the goodput.
        delays: panel of the RTT.
        flows: congestion control and slots of each by its label.
        slot_s: length of a slot, s.
        window: over which goodput is averaged; each slot as it is unless given.
        abreast: number of panels side by side.

    Returns:
        The highest goodput that is drawn, of the sum, too.
    """
    # Flows of one CCA differ by their labels.
    ccas = [cca for cca, _ in flows.values()]
    keys = [
        label if cca in ccas[:index] else cca for index, (label, (cca, _)) in enumerate(flows.items())
    ]
    shades, styles = colours(keys), lines(keys)
    curves = {label: with_pauses(slots, slot_s) for label, (_, slots) in flows.items()}
    rated = {
        label: mine["goodput_mbps"] if window is None else window.smoothed(mine["goodput_mbps"])
        for label, mine in curves.items()
    }
    # Times of slots are sums of floating-point numbers.
    places = {label: np.round(mine["t_s"] / slot_s).astype(int) for label, mine in curves.items()}
    parts = [pd.Series(rated[label].fillna(0.0).to_numpy(), places[label]) for label in curves]
    total = pd.concat(parts).groupby(level=0).sum().sort_index()
    if len(total):
        rates.fill_between(total.index * slot_s, total, color=CAPACITY, lw=0, label="sum")
    for key, (label, mine) in zip(keys, curves.items(), strict=True):
        look: dict[str, Any] = {"color": shades[key], "lw": 1.0, "ls": styles[key]}
        draw_series(rates, mine["t_s"], rated[label].fillna(0.0), label=label, **look)
        waits = mine["rtt_mean_ms"]
        draw_series(delays, mine["t_s"], waits if window is None else window.filled(waits), **look)
    rates.set_ylabel(f"goodput, Mbit/s\n{window.text}" if window else "goodput, Mbit/s")
    delays.set_ylabel("RTT, ms")
    delays.set_ylim(bottom=0)
    delays.set_xlabel("time, s")
    legend_outside(rates, abreast=abreast)
    return float(total.max()) if len(total) else 0.0


def draw_units(
    axes: Axes, units: pd.DataFrame, ccas: Sequence[str], unit: str, seed: int | None
) -> None:
    """Draws the durations of units of work at their ends, of every congestion control in one run.

    Unfinished units have a tick at the upper edge where they began. Frames that never arrived have
    no time; the title has the share of those without an end.
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
    axes.set_ylim(bottom=0)
    if text := unended_text(units, ccas, unit):
        axes.set_title(text, fontsize=8, color="#555555")
    if (units["duration_s"].isna() & units["start_s"].notna()).any():
        key = Line2D([], [], color="#555555", ls="", marker="|", ms=10, label=UNITS[unit].unended)
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
) -> None:
    """Draws rates over the shaded capacity, RTT, and queue, window, data in flight and modes.

    Args:
        axes: three of them, from top to bottom.
        cca: congestion control of the connection.
        slots: of the connection.
        samples: of the connection.
        decisions: of its selector, if it has one.
        window: over which goodput is averaged; each slot as it is unless given.
        others: slots of further connections whose goodput is drawn, by their labels.
    """
    rates, delays, windows = axes
    times = samples["t_ns"] * 1e-9
    shade_capacity(rates, slots["t_s"], slots["capacity_mbps"])
    pacing = samples["pacing_rate_bps"] * 1e-6
    draw_series(rates, times, pacing, color="#999999", lw=0.6, label="pacing rate")
    name = f"{labels([cca])[cca]} goodput"
    goodput = slots["goodput_mbps"]
    if window:
        name, goodput = f"{name}, {window.text}", window.smoothed(goodput)
    draw_series(rates, slots["t_s"], goodput, color=colour(cca), lw=1, label=name)
    most = float(max(slots["capacity_mbps"].max(), goodput.max()))
    for (label, beside), (shade, style) in zip((others or {}).items(), _FURTHER_STYLES, strict=False):
        goodput = beside["goodput_mbps"]
        if window:
            goodput = window.smoothed(goodput)
        draw_series(rates, beside["t_s"], goodput, color=shade, lw=1, ls=style, label=label)
        most = max(most, float(goodput.max()))
    rates.set_ylim(0, headroom(most))
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


def draw_units_beside(axes: Axes, units: pd.DataFrame, unit: str, flows: Sequence[str]) -> None:
    """Draws the durations of the units of a kind in a run, a point where each ended.

    Args:
        axes: the panel.
        units: of the run that have ended, of all flows.
        unit: their kind.
        flows: all of the picture.
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


def _is_above(goodput: pd.Series, capacity: pd.Series) -> bool:
    """Returns whether goodput is well above the highest capacity around it."""
    return bool(
        (goodput > _BURST_RATIO * capacity.rolling(2 * _MEAN_SLOTS + 1, 1, center=True).max()).any()
    )


def headroom(most: float) -> float | None:
    """Returns the upper end of an axis for values up to `most`; None where nothing was ever sent."""
    return 1.25 * most if most > 0 else None
