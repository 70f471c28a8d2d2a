"""Plots of one comparison or several: spider plots, distributions, and series over time."""

from __future__ import annotations

import collections
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp.campaign.provenance import engine_text
from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.plots.distribution import column_of, draw_ecdf, has_long_tail
from celltcp.comparison.plots.series import draw_units
from celltcp.comparison.plots.smoothing import with_pauses
from celltcp.comparison.plots.tradeoff import draw_throughput_delay
from celltcp.comparison.tables import has_rows_of_flows
from celltcp.present.palette import colours, lines
from celltcp.present.style import draw_series, figure, footnote, legend_beside, make_logarithmic
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantity_texts import three_digits

#: Axes of a spider plot: metric, name, unit.
_AXES = (
    ("goodput_mbps", "goodput", "Mbit/s"),
    ("rtt_mean_ms", "mean RTT", "ms"),
    ("rtt_p95_ms", "p95 RTT", "ms"),
    ("retransmissions", "retrans-\nmissions", ""),
    ("pm_balanced", "PM balanced", ""),
    ("pm_delay", "PM delay", ""),
)
#: Metrics of a grid of distributions, a column for each.
_METRICS = ("goodput", "rtt", "owd")
#: Rows of a grid over time: column of the slots, and label of the axis.
_OVER_TIME = (
    ("cwnd", "cwnd, segments"),
    ("queue_packets", "queue, packets"),
    ("rtt_mean_ms", "RTT, ms"),
)
#: Maximum number of rows below it with units of work, and minimum number of units in one.
_MAX_UNIT_ROWS, _MIN_UNITS = 2, 20
#: Maximum number of columns of a grid over time.
_MAX_COLUMNS = 4
#: Minimum height of a row of distributions, and height of a page with all rows, inches.
_MIN_ROW_HEIGHT, _PAGE_HEIGHT = 1.5, 12.0
#: Maximum number of spider plots, or of plots of goodput against delay, side by side.
_MAX_PER_ROW = 3
#: Minimum ratio of the ends of a logarithmic axis of delays.
_LOG_RATIO = 8.0


def draw_spiders(
    comparisons: Sequence[Comparison], names: Sequence[Sequence[str]] | None = None
) -> Figure:
    """Draws the means of all metrics on axes that end at the largest mean, a panel per comparison.

    `names` are coordinates of the comparisons, for titles; unless given, these are the scenarios.
    """
    picture, drawn = _panels(len(comparisons), (4.4, 4.1), 1.8, projection="polar")
    titles = _titles(comparisons, names)
    for axes, comparison, title in zip(drawn, comparisons, titles, strict=True):
        means = {metric: comparison.summary[metric, "mean"].fillna(0.0) for metric, _, _ in _AXES}
        largest = {metric: float(values.max()) or 1.0 for metric, values in means.items()}
        angles = [2 * math.pi * index / len(_AXES) for index in range(len(_AXES) + 1)]
        ccas = comparison.ccas
        names_of, shades, styles = labels(ccas), colours(ccas), lines(ccas)
        for cca in ccas:
            shares = [float(means[metric][cca]) / largest[metric] for metric, _, _ in _AXES]
            look = {"color": shades[cca], "ls": styles[cca], "label": names_of[cca]}
            axes.plot(angles, [*shares, shares[0]], **look)
        axes.set_xticks(angles[:-1], [""] * len(_AXES))
        # Texts outside the circle, unlike labels of ticks, have room in the picture.
        for angle, (metric, name, unit) in zip(angles, _AXES, strict=False):
            text = f"{name}\n{three_digits(largest[metric])} {unit}".rstrip()
            side = "left" if math.cos(angle) > 0 else "right"
            height = "center" if abs(math.sin(angle)) < 0.1 else "bottom" if angle < math.pi else "top"
            axes.text(angle, 1.04, text, ha=side, va=height, linespacing=1.1)
        axes.set_ylim(0, 1)
        axes.set_yticks([0.5, 1.0], ["", ""])
        axes.set_title(title, pad=32)
    return _finished(picture, comparisons)


def draw_throughput_delays(
    comparisons: Sequence[Comparison], names: Sequence[Sequence[str]] | None = None
) -> Figure:
    """Draws goodput against the one-way delay, a panel per comparison, all with the same scales.

    `names` are coordinates of the comparisons, for titles; unless given, these are the scenarios.
    """
    picture, drawn = _panels(len(comparisons), (4.2, 3.6), 1.2)
    titles = _titles(comparisons, names)
    for axes, comparison, title in zip(drawn, comparisons, titles, strict=True):
        draw_throughput_delay(axes, comparison.runs, comparison.ccas)
        axes.set_title(title, loc="left", fontsize=9)
    (left, right), (_, top) = (
        (min(low for low, _ in ends), max(high for _, high in ends))
        for ends in ([axes.get_xlim() for axes in drawn], [axes.get_ylim() for axes in drawn])
    )
    delays = [float(comparison.runs["owd_p95_ms"].min()) for comparison in comparisons]
    for axes in drawn:
        axes.set_ylim(0, top)
        if min(delays) > 0 and right > _LOG_RATIO * min(delays):
            make_logarithmic(axes, 0.7 * min(delays), right, (1, 3))
        else:
            axes.set_xlim(left, right)
        axes.set_xlabel("p95 one-way delay, ms")
    return _finished(picture, comparisons)


def draw_ecdf_grid(
    comparisons: Sequence[Comparison], names: Sequence[Sequence[str]] | None = None
) -> Figure:
    """Draws the distributions of goodput, RTT and one-way delay, a row per comparison.

    A metric has the same scale in all rows. `names` are coordinates of the comparisons, for titles;
    unless given, these are the scenarios.
    """
    height = min(2.7, max(_MIN_ROW_HEIGHT, _PAGE_HEIGHT / len(comparisons)))
    picture = figure(10, height * len(comparisons) + 0.4)
    grid = picture.subplots(len(comparisons), len(_METRICS), squeeze=False, sharey=True)
    tables = [comparison.tested_slots for comparison in comparisons]
    for column, metric in enumerate(_METRICS):
        name, _ = column_of(metric)
        is_log = any(has_long_tail(slots, name) for slots in tables)
        for axes, slots, comparison in zip(grid[:, column], tables, comparisons, strict=True):
            draw_ecdf(axes, slots, comparison.ccas, metric, is_log=is_log)
            if column:
                axes.set_ylabel("")
            if is_log and axes.get_xscale() == "log":
                axes.set_xlabel(f"{axes.get_xlabel()} (logarithmic)")
            if axes is not grid[-1, column]:
                axes.set_xlabel("")
    for panels, title in zip(grid, _titles(comparisons, names), strict=True):
        panels[0].set_title(title, loc="left")
    return _finished(picture, comparisons)


def draw_window_grid(
    comparisons: Sequence[Comparison], names: Sequence[Sequence[str]] | None = None
) -> Figure:
    """Draws congestion window, bottleneck queue and RTT over time, a column per comparison.

    Where flows compete, each has a column. Runs are those with the first seed of each congestion
    control. All panels of a quantity have the same scale. Below are the units of work of other flows,
    such as the responses of a ping. `names` are coordinates of the comparisons, for titles; unless
    given, these are the scenarios.
    """
    columns = _flow_columns(comparisons, names)
    abreast = min(_MAX_COLUMNS, len(columns))
    blocks = -(-len(columns) // abreast)
    units_below = _units_of_others(comparisons)
    height = len(_OVER_TIME) + len(units_below)
    picture = figure(7 if abreast == 1 else 4.2 * abreast, 0.4 + 1.7 * height * blocks)
    grid = picture.subplots(height * blocks, abreast, squeeze=False)
    rows: dict[str, list[Axes]] = {}
    largest: dict[str, float] = {}
    for index, (comparison, title, slots) in enumerate(columns):
        block, column = divmod(index, abreast)
        panels = grid[height * block : height * (block + 1), column]
        # The units are below the first of the flows of a comparison.
        is_rival = index > 0 and comparison is columns[index - 1][0]
        units_here = [] if is_rival else units_below
        for axes in panels[len(_OVER_TIME) + len(units_here) :]:
            axes.set_visible(False)
        panels = panels[: len(_OVER_TIME) + len(units_here)]
        slot_s = float(comparison.results.about["slot_s"])
        runs = comparison.runs[comparison.runs["seed"] == comparison.runs["seed"].min()]
        shades, styles = colours(comparison.ccas), lines(comparison.ccas)
        for run, cca in zip(runs["run"], runs["cca"].astype(str), strict=True):
            run_slots = with_pauses(slots[slots["run"] == run], slot_s)
            for axes, (name, _) in zip(panels, _OVER_TIME, strict=False):
                look = {"color": shades[cca], "lw": 1.0, "ls": styles[cca]}
                draw_series(axes, run_slots["t_s"], run_slots[name], **look)
                largest[name] = max(largest.get(name, 0.0), float(run_slots[name].max()))
        units = comparison.units
        for axes, (flow, unit) in zip(panels[len(_OVER_TIME) :], units_here, strict=True):
            of_flow = units[(units["flow"] == flow) & (units["unit"] == unit)]
            draw_units(axes, of_flow, comparison.ccas, unit, None)
            name = f"{flow} {UNITS[unit].title}"
            largest[name] = max(largest.get(name, 0.0), float(of_flow["duration_s"].max()))
        below = [f"{flow} {UNITS[unit].title}" for flow, unit in units_here]
        labelled = [*_OVER_TIME, *((name, f"{textwrap.fill(name, 14)}, s") for name in below)]
        for axes, (name, label) in zip(panels, labelled, strict=True):
            rows.setdefault(name, []).append(axes)
            axes.set_ylabel(label if column == 0 else "")
            if axes is not panels[-1]:
                axes.set_xlabel("")
                axes.tick_params(labelbottom=False)
                # A series may begin later than another one, such as the RTT.
                axes.sharex(panels[-1])
        panels[-1].autoscale(axis="x")
        panels[0].set_title(title, loc="left")
        panels[-1].set_xlabel(f"time, s (seed {runs['seed'].iloc[0]})")
    for name, row in rows.items():
        for axes in row:
            axes.set_ylim(0, 1.05 * largest[name] if largest.get(name, 0.0) > 0 else None)
    for axes in grid[height * (blocks - 1) :, 1 + (len(columns) - 1) % abreast :].flat:
        axes.set_visible(False)
    return _finished(picture, comparisons)


def _flow_columns(
    comparisons: Sequence[Comparison], names: Sequence[Sequence[str]] | None
) -> list[tuple[Comparison, str, pd.DataFrame]]:
    """Returns the flow under test, or all flows that compete, of comparisons: titles and slots."""
    columns = []
    for comparison, title in zip(comparisons, _titles(comparisons, names), strict=True):
        columns.append((comparison, title, comparison.tested_slots))
        rivals = comparison.competing_flows if has_rows_of_flows([comparison]) else []
        columns += [
            (comparison, flow.name, comparison.slots_of(flow.name))
            for flow in rivals
            if flow != comparison.tested
        ]
    return columns


def _units_of_others(comparisons: Sequence[Comparison]) -> list[tuple[str, str]]:
    """Returns flow and kind of the units of work of flows beside the flow under test, most units first.

    Those are kinds of many units, whose times are those of the path at that moment.
    """
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for comparison in comparisons:
        units = comparison.units
        seeds, others = units["seed"].min(), units["flow"] != comparison.tested.name
        rows = units[(units["seed"] == seeds) & others]
        sizes = rows.groupby(["flow", "unit"], sort=False, observed=True).size() / len(comparison.ccas)
        counts.update({(str(flow), str(unit)): int(size) for (flow, unit), size in sizes.items()})
    common = counts.most_common(_MAX_UNIT_ROWS)
    return [key for key, count in common if count >= _MIN_UNITS * len(comparisons)]


#: Plots of one comparison or several, by their names.
GRIDS = {
    "ecdf-grid": draw_ecdf_grid,
    "spider": draw_spiders,
    "throughput-delay": draw_throughput_delays,
    "window": draw_window_grid,
}


def _panels(
    count: int, size: tuple[float, float], beside: float, **look: Any
) -> tuple[Figure, list[Axes]]:
    """Returns a picture with a number of panels in rows; its sizes are in inches.

    Args:
        count: number of panels.
        size: width and height of a panel.
        beside: width beside all of them.
        look: as for `Figure.add_subplot`.
    """
    columns = min(_MAX_PER_ROW, count)
    rows = -(-count // columns)
    picture = figure(size[0] * columns + beside, size[1] * rows)
    return picture, [picture.add_subplot(rows, columns, number + 1, **look) for number in range(count)]


def _titles(comparisons: Sequence[Comparison], names: Sequence[Sequence[str]] | None) -> list[str]:
    """Returns the names, joined; without any, the scenarios, with the flow under test if needed."""
    if names is None:
        names = [
            [*filter(None, (str(each.results.about["name"]), each.subject))] for each in comparisons
        ]
    return list(map(", ".join, names))


def _finished(picture: Figure, comparisons: Sequence[Comparison]) -> Figure:
    """Adds a legend of all CCAs, and the footnote with the engine."""
    legend_beside(picture, list(dict.fromkeys(cca for each in comparisons for cca in each.ccas)))
    footnote(picture, list(dict.fromkeys(engine_text(each.results.about) for each in comparisons)))
    return picture
