"""Pictures of a comparison in a report: a static drawing, and the data of an interactive chart."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from celltcp.comparison.applications.units_of_work import UNITS, units_of
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import GOODPUT, interval_ends
from celltcp.comparison.plots.accessors import leading_ccas
from celltcp.comparison.plots.distribution import column_of, draw_ecdf, ecdf_curves, has_long_tail
from celltcp.comparison.plots.series import ONE_WAY, RTT, Delay, draw_comparison_series, headroom
from celltcp.comparison.plots.smoothing import Window, window_of, with_pauses
from celltcp.comparison.plots.startup import delivered_curves, draw_startup
from celltcp.comparison.plots.tradeoff import draw_throughput_delay
from celltcp.present.chart import MAX_VALUES, Chart, Numbers, Panel, Series, numbers
from celltcp.present.palette import colours
from celltcp.present.section import Figure
from celltcp.present.style import CAPACITY, MAX_BANDS, dashes, figure, legend_beside
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels

#: Number of points of a distribution.
_POINTS = 400
#: Length of the drawn start of a flow, s.
_STARTUP_S = 5.0
#: Panels over time: column of the slots, label, unit, digits.
_OVER_TIME = (
    ("goodput_mbps", "goodput", "Mbit/s", 2),
    ("rtt_mean_ms", "RTT", "ms", 1),
    ("queue_packets", "bottleneck queue", "packets", 0),
    ("cwnd", "congestion window", "segments", 0),
)


def _single_panel(ccas: Sequence[str], draw: Callable[[Axes], None]) -> Picture:
    """Returns a picture of one panel with a legend of CCAs."""
    picture = figure(6.5, 3.8)
    draw(picture.add_subplot())
    legend_beside(picture, ccas)
    return picture


def top_of(values: Numbers) -> float | None:
    """Returns the upper end of an axis for values; None without a positive one."""
    return headroom(float(np.nanmax(values))) if np.isfinite(values).any() else None


def tradeoff(comparison: Comparison) -> Figure:
    """Returns goodput against delay, a point per run and one for the mean of each CCA."""
    names, shades = labels(comparison.ccas), colours(comparison.ccas)
    runs = comparison.runs
    by_cca = {cca: runs[runs["cca"] == cca] for cca in comparison.ccas}
    delays = {cca: estimate(table["owd_p95_ms"].tolist()) for cca, table in by_cca.items()}
    all_delays = [*(numbers(table["owd_p95_ms"]) for table in by_cca.values())]
    delays_ms = np.concatenate([*all_delays, numbers([each.mean for each in delays.values()])])
    delays_ms = np.unique(delays_ms[np.isfinite(delays_ms)])
    series = []
    for cca, table in by_cca.items():
        values = _placed(delays_ms, numbers(table["owd_p95_ms"]), numbers(table["goodput_mbps"]))
        series.append(Series(f"{names[cca]}, run", shades[cca], values, look="points", size=4))
        delay, goodput = delays[cca], estimate(table["goodput_mbps"].tolist())
        low, high = interval_ends(GOODPUT, goodput)
        width = min(delay.ci95 or 0.0, 0.95 * delay.mean)
        mean, low_end, high_end, left, right = (
            _placed(delays_ms, numbers([delay.mean]), numbers([value]))
            for value in (goodput.mean, low, high, delay.mean - width, delay.mean + width)
        )
        series.append(
            Series(
                *(names[cca], shades[cca], mean),
                look="points",
                low=low_end,
                high=high_end,
                left=left,
                right=right,
                size=10,
            )
        )
    is_log = len(delays_ms) > 0 and delays_ms.min() > 0 and delays_ms.max() > 8 * delays_ms.min()
    chart = Chart(
        delays_ms,
        "95th percentile of one-way delay",
        "ms",
        (Panel("goodput", "Mbit/s", tuple(series)),),
        digits=1,
        is_log=bool(is_log),
    )
    draw = functools.partial(draw_throughput_delay, runs=runs, ccas=comparison.ccas)
    return Figure(
        functools.partial(_single_panel, comparison.ccas, draw), "Goodput against delay per CCA", chart
    )


def _placed(axis: Numbers, points: Numbers, values: Numbers) -> Numbers:
    """Returns values at their points of an axis, and NaN at its other points."""
    result = np.full(len(axis), np.nan)
    is_known = np.isfinite(points)
    result[np.searchsorted(axis, points[is_known])] = values[is_known]
    return result


def over_time(comparison: Comparison, seed: int) -> Figure:
    """Returns goodput, delay, queue and window over time in the runs with a seed."""
    leading = leading_ccas(comparison)
    runs = comparison.runs
    slots = comparison.tested_slots
    run_of = runs[runs["seed"] == seed].set_index("cca")["run"]
    by_run = {int(str(run)): group for run, group in slots.groupby("run")}
    tables = {cca: by_run[int(run_of[cca])] for cca in comparison.ccas if int(run_of[cca]) in by_run}
    slot_s = float(comparison.results.about["slot_s"])
    window = window_of(slots, slot_s)
    longest = max((len(group) for group in tables.values()), default=0)
    if longest * len(tables) * len(_OVER_TIME) > MAX_VALUES:
        tables = {cca: group for cca, group in tables.items() if cca in leading}
    start_s = min(float(group["t_s"].iloc[0]) for group in tables.values())
    end_s = max(float(group["t_s"].iloc[-1]) for group in tables.values())
    times = numbers(start_s + slot_s * np.arange(round((end_s - start_s) / slot_s) + 1))
    delay = ONE_WAY if comparison.split_ccas else RTT
    panels = _panels(times, slot_s, tables, leading, window, delay)
    chart = Chart(times, "time", "s", panels, digits=2, group="time")

    def draw() -> Picture:
        picture = figure(8.5, 4.6)
        upper, lower = picture.subplots(2, 1, sharex=True)
        draw_comparison_series(
            upper, lower, runs, slots, comparison.ccas, seed, slot_s, window, leading, delay
        )
        lower.set_xlabel("time, s")
        legend_beside(picture, leading)
        return picture

    return Figure(draw, f"Goodput and {delay.title} over time, run with seed {seed}", chart.thinned())


def _panels(
    times: Numbers,
    slot_s: float,
    tables: dict[str, pd.DataFrame],
    leading: Sequence[str],
    window: Window,
    delay: Delay,
) -> tuple[Panel, ...]:
    """Returns a panel per column of the slots (by CCA); that of goodput has the capacity, too.

    `times` are the start times of the slots, s; the CCAs in `leading` are shown at first.
    """
    names, shades, dash = labels(tables), colours(tables), dashes(tables)

    def column(cca: str, name: str) -> Numbers:
        slots = with_pauses(tables[cca], slot_s)
        series = slots[name]
        if name == "goodput_mbps":
            series = window.smoothed(series).fillna(0.0)
        elif name == delay.column:
            series = window.filled(series)
        values = np.full(len(times), np.nan)
        values[np.round((numbers(slots["t_s"]) - times[0]) / slot_s).astype(int)] = numbers(series)
        return values

    panels = []
    for name, label, unit, digits in _OVER_TIME:
        if name == RTT.column:
            name, label = delay
        series = [
            Series(names[cca], shade, column(cca, name), dash=dash[cca], is_shown=cca in leading)
            for cca, shade in shades.items()
        ]
        top = None
        if name == "goodput_mbps":
            capacity = column(next(iter(tables)), "capacity_mbps")
            series.insert(0, Series("capacity", CAPACITY, capacity, look="area"))
            # All data behind a lost segment are delivered at once: such spikes are cut off.
            top = top_of(capacity)
            label = f"{label}, {window.text}"
        panels.append(Panel(label, unit, tuple(series), digits, top))
    return tuple(panels)


def start_up(comparison: Comparison) -> Figure:
    """Returns the bytes delivered since the first data byte."""
    slot_s = float(comparison.results.about["slot_s"])
    slots, flows, ccas = comparison.tested_slots, comparison.tested_flows, comparison.ccas
    steps, curves = delivered_curves(slots, flows, ccas, slot_s=slot_s, seconds=_STARTUP_S)
    panel = Panel("delivered", "MB", _banded(ccas, curves))
    chart = Chart(steps, "time since the first data byte", "s", (panel,), digits=2)
    draw = functools.partial(
        draw_startup, slots=slots, flows=flows, ccas=ccas, slot_s=slot_s, seconds=_STARTUP_S
    )
    return Figure(
        functools.partial(_single_panel, comparison.ccas, draw), "Bytes delivered at the start", chart
    )


def _banded(
    ccas: Sequence[str], curves: Mapping[str, tuple[Numbers, tuple[Numbers, Numbers] | None]]
) -> tuple[Series, ...]:
    """Returns a series per CCA from its mean and its band; bands of many CCAs are left out."""
    names, shades, dash = labels(ccas), colours(ccas), dashes(ccas)
    has_bands = len(ccas) <= MAX_BANDS

    def series(cca: str, mean: Numbers, band: tuple[Numbers, Numbers] | None) -> Series:
        low, high = band if has_bands and band is not None else (None, None)
        return Series(names[cca], shades[cca], mean, dash=dash[cca], low=low, high=high)

    return tuple(series(cca, mean, band) for cca, (mean, band) in curves.items())


def distribution(comparison: Comparison, metric: str) -> Figure:
    """Returns the distribution of a metric over slots, or of METRIC:FLOW over its units of work."""
    name, _, flow = metric.partition(":")
    is_unit = name in UNITS
    values = units_of(comparison.units, name, flow) if is_unit else comparison.tested_slots
    noun = UNITS[name].noun if is_unit else "slots"
    grid, curves = ecdf_curves(values, comparison.ccas, name, _POINTS)
    series = _banded(comparison.ccas, curves)
    label, _, unit = column_of(name)[1].partition(", ")
    panel = Panel(f"share of {noun}", "", series, digits=3, top=1.0, bottom=0.0)
    is_log = has_long_tail(values, column_of(name)[0])
    chart = Chart(grid, label, unit, (panel,), digits=3 if is_unit else 2, is_log=is_log)
    draw = functools.partial(draw_ecdf, slots=values, ccas=comparison.ccas, metric=name)
    words = f"Distribution of {metric} over {noun} per CCA"
    return Figure(functools.partial(_single_panel, comparison.ccas, draw), words, chart)
