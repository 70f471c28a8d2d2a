"""Courses: quantities over the time of the run, or over the place on the way in both directions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from celltcp.present.palette import lines
from celltcp.present.style import shade_capacity
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import (
    Panel,
    axis_of,
    by_scenario,
    cca_name,
    colors_of,
    heading,
    legend_above,
)
from celltcp.publications.published_table import Published
from celltcp.publications.quantities import QUANTITIES

#: Maximum ratio of a drawn capacity to the goodput: a larger one would leave no room for the lines.
_MAX_CAPACITY_RATIO = 6.0

#: Capacities whose means differ by at most this factor are the same.
_SAME_CAPACITY_RATIO = 1.05

#: Maximum of points of a line over time, and points over the way.
_MAX_POINTS, _STEPS = 120, 40


def time_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per place and quantity: means over the runs."""
    groups = [each for each in by_scenario(outcome) if QUANTITIES[each[1]].column]
    panels, known = [], set[str]()
    for _, _, rows in groups:
        # A panel with a new CCA has a legend.
        legend = not {row.published.cca for row in rows} <= known
        known.update(row.published.cca for row in rows)
        panels.append(Panel(functools.partial(_draw_time, outcome.table.figure, rows, legend)))
    return panels


def _draw_time(name: str, rows: Sequence[Row], legend: bool, axes: Axes) -> None:
    shades = colors_of(rows)
    styles = lines(row.published.cca for row in rows)
    column = QUANTITIES[rows[0].published.quantity].column or ""
    for index, row in enumerate(rows):
        slots = row.source.slots_of(_whole(row))
        end = float(slots["t_s"].max()) + row.source.slot_s
        step = max(row.source.slot_s, round(end / _MAX_POINTS, 1), 0.1)
        places = ((slots["t_s"] + 1e-9) / step).astype(int)
        means = slots.groupby(places)[column].mean()
        times = (means.index.to_numpy() + 0.5) * step
        if index == 0 and row.published.quantity == "goodput":
            capacity = slots.groupby(places)["capacity_mbps"].mean()
            most = max(each.ours.mean for each in rows)
            if _same_capacity(rows) and capacity.mean() < _MAX_CAPACITY_RATIO * most:
                shade_capacity(axes, times, capacity.to_numpy())
        cca = row.published.cca
        look = {"color": shades[cca], "ls": styles[cca], "lw": 1.0, "label": cca_name(cca)}
        axes.plot(times, means.to_numpy(), **look)
    first = rows[0].published
    axes.set_xlabel("time, s")
    axes.set_ylabel(axis_of(rows[0]))
    axes.set_ylim(0, 1.05 * axes.dataLim.y1 or 1.0)
    axes.set_title(heading(first.scenario, name), fontsize=9)
    if legend:
        legend_above(axes)


def _same_capacity(rows: Sequence[Row]) -> bool:
    """Whether all rows have the same capacity.

    In a cell with other users the share of a UE depends on the CCA of its flow. No one area stands for
    all of them then.
    """
    means = [float(row.source.slots_of(_whole(row))["capacity_mbps"].mean()) for row in rows]
    return max(means) <= _SAME_CAPACITY_RATIO * min(means)


def position_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per pair of places that differ in the direction only, by quantity."""
    pairs: dict[tuple[str, str], list[Row]] = {}
    for scenario, quantity, rows in by_scenario(outcome):
        where = scenario.replace("forward", "*").replace("backward", "*")
        pairs.setdefault((where, quantity), []).extend(rows)
    return [
        Panel(functools.partial(_draw_position, outcome.table.figure, where, rows))
        for (where, _), rows in pairs.items()
    ]


def _draw_position(name: str, where: str, rows: Sequence[Row], axes: Axes) -> None:
    shades = colors_of(rows)
    for row in rows:
        slots = row.source.slots_of(_whole(row))
        way = row.source.way
        ratios = way.at(slots["t_s"] + row.source.slot_s / 2)
        edges = np.linspace(way.min_db, way.max_db, _STEPS + 1)
        places = np.clip(np.digitize(ratios, edges) - 1, 0, _STEPS - 1)
        column = QUANTITIES[row.published.quantity].column or ""
        medians = _medians(slots, column, places)
        middles = (edges[:-1] + edges[1:])[medians.index.to_numpy()] / 2
        cca = row.published.cca
        axes.plot(
            middles,
            medians.to_numpy(),
            color=shades[cca],
            ls="-" if way.movement == "forward" else "--",
            lw=1.0,
            label=f"{cca_name(cca)}, {way.movement}",
        )
    axes.invert_xaxis()
    axes.set_xlabel("mean SINR, dB (the place)")
    axes.set_ylabel(f"median {axis_of(rows[0])}")
    axes.set_ylim(bottom=0)
    axes.set_title(heading(where, name), fontsize=9)
    legend_above(axes)


def _medians(slots: pd.DataFrame, column: str, places: NDArray[np.intp]) -> pd.Series:
    result: pd.Series = slots[column].groupby(places).median()
    return result


def _whole(row: Row) -> Published:
    """Returns the row for the whole run."""
    return replace(row.published, phase="", window=None, zone=None)
