"""Courses: quantities over time, or over the mean SINR of the position in both directions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from celltcp.present.palette import lines
from celltcp.present.style import shade_capacity
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import (
    Panel,
    axis_of,
    by_condition,
    cca_name,
    colors_of,
    heading,
    legend_above,
)
from celltcp.publications.published_table import Published
from celltcp.publications.quantities import QUANTITIES

#: Maximum ratio of a drawn capacity to the goodput; a larger capacity would flatten the lines.
_MAX_CAPACITY_RATIO = 6.0

#: Maximum ratio of the mean capacities that count as the same.
_SAME_CAPACITY_RATIO = 1.05

#: Maximum number of points of a line over time.
_MAX_POINTS = 120
#: Number of points of a line over the mean SINR.
_SINR_BINS = 40


def time_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per condition and quantity: means over the runs."""
    panels, drawn_ccas = [], set[str]()
    for _, quantity, rows in by_condition(outcome):
        if QUANTITIES[quantity].column:
            # A panel with a new CCA has a legend.
            has_legend = not {row.published.cca for row in rows} <= drawn_ccas
            drawn_ccas.update(row.published.cca for row in rows)
            draw = functools.partial(_draw_time, outcome.table.figure, rows, has_legend)
            panels.append(Panel(draw))
    return panels


def _draw_time(name: str, rows: Sequence[Row], has_legend: bool, axes: Axes) -> None:
    shades = colors_of(rows)
    styles = lines(row.published.cca for row in rows)
    column = QUANTITIES[rows[0].published.quantity].column or ""
    for index, row in enumerate(rows):
        slots = row.source.slots_of(_whole_run(row))
        end_s = float(slots["t_s"].max()) + row.source.slot_s
        step_s = max(row.source.slot_s, round(end_s / _MAX_POINTS, 1), 0.1)
        steps = ((slots["t_s"] + 1e-9) / step_s).astype(int)
        means = slots.groupby(steps)[column].mean()
        times_s = (means.index.to_numpy() + 0.5) * step_s
        if index == 0 and row.published.quantity == "goodput":
            capacity = slots.groupby(steps)["capacity_mbps"].mean()
            max_goodput = max(row.ours.mean for row in rows)
            if _have_same_capacity(rows) and capacity.mean() < _MAX_CAPACITY_RATIO * max_goodput:
                shade_capacity(axes, times_s, capacity.to_numpy())
        cca = row.published.cca
        style = {"color": shades[cca], "ls": styles[cca], "lw": 1.0, "label": cca_name(cca)}
        axes.plot(times_s, means.to_numpy(), **style)
    first = rows[0].published
    axes.set_xlabel("time, s")
    axes.set_ylabel(axis_of(rows[0]))
    axes.set_ylim(0, 1.05 * axes.dataLim.y1 or 1.0)
    axes.set_title(heading(first.scenario, name), fontsize=9)
    if has_legend:
        legend_above(axes)


def _have_same_capacity(rows: Sequence[Row]) -> bool:
    """Returns whether all rows have the same capacity, which can be drawn once.

    In a cell with other users, the share of a UE depends on the CCA of its flow.
    """
    means = [float(row.source.slots_of(_whole_run(row))["capacity_mbps"].mean()) for row in rows]
    return max(means) <= _SAME_CAPACITY_RATIO * min(means)


def position_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per quantity and pair of conditions that differ in the direction only."""
    pairs: dict[tuple[str, str], list[Row]] = {}
    for scenario, quantity, rows in by_condition(outcome):
        pattern = scenario.replace("forward", "*").replace("backward", "*")
        pairs.setdefault((pattern, quantity), []).extend(rows)
    return [
        Panel(functools.partial(_draw_position, outcome.table.figure, pattern, rows))
        for (pattern, _), rows in pairs.items()
    ]


def _draw_position(name: str, pattern: str, rows: Sequence[Row], axes: Axes) -> None:
    shades = colors_of(rows)
    for row in rows:
        slots = row.source.slots_of(_whole_run(row))
        trajectory = row.source.trajectory
        sinr_db = trajectory.at(slots["t_s"] + row.source.slot_s / 2)
        edges_db = np.linspace(trajectory.min_db, trajectory.max_db, _SINR_BINS + 1)
        bins = np.clip(np.digitize(sinr_db, edges_db) - 1, 0, _SINR_BINS - 1)
        column = QUANTITIES[row.published.quantity].column or ""
        medians = slots[column].groupby(bins).median()
        middles_db = (edges_db[:-1] + edges_db[1:])[medians.index.to_numpy()] / 2
        cca = row.published.cca
        axes.plot(
            middles_db,
            medians.to_numpy(),
            color=shades[cca],
            ls="-" if trajectory.movement == "forward" else "--",
            lw=1.0,
            label=f"{cca_name(cca)}, {trajectory.movement}",
        )
    axes.invert_xaxis()
    axes.set_xlabel("mean SINR, dB (the place)")
    axes.set_ylabel(f"median {axis_of(rows[0])}")
    axes.set_ylim(bottom=0)
    axes.set_title(heading(pattern, name), fontsize=9)
    legend_above(axes)


def _whole_run(row: Row) -> Published:
    """Returns the entry of a row for the whole run."""
    return replace(row.published, phase="", window=None, zone=None)
