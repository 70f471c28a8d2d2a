"""Distributions: empirical cumulative distribution functions of slots, connections or reports."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from celltcp.present.palette import colours, lines
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.measured_values import distribution_values
from celltcp.publications.plots.panel import Panel, axis_of, by_condition, cca_name, heading
from celltcp.publications.quantities import QUANTITIES

#: Maximum number of points of a line.
_MAX_POINTS = 200

#: Minimum ratio of the largest to the smallest value on a logarithmic axis.
_LOG_AXIS_RATIO = 50


def ecdf_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per condition and quantity, or per quantity if the conditions have one CCA.

    Quantities all of whose rows have a published value or a claim are left out if there are others.
    """
    curves = {
        row.published.quantity
        for row in outcome.rows
        if row.published.claim is None and row.published.value is None
    } or {row.published.quantity for row in outcome.rows}
    groups = [
        rows
        for _, quantity, rows in by_condition(outcome)
        if quantity in curves and QUANTITIES[quantity].distribution is not None
    ]
    if all(len(rows) == 1 for rows in groups):
        by_quantity: dict[str, list[Row]] = {}
        for (row,) in groups:
            by_quantity.setdefault(row.published.quantity, []).append(row)
        groups = list(by_quantity.values())
    return [
        Panel(functools.partial(_draw, outcome.table.figure, rows, index == 0))
        for index, rows in enumerate(groups)
    ]


def _condition_colours(names: Sequence[str]) -> dict[str, str]:
    """Returns colours of conditions, in pairs of one hue if there are many."""
    shades = colormaps["tab10" if len(names) <= 10 else "tab20"]
    return {name: to_hex(shades(index % shades.N)) for index, name in enumerate(names)}


def _draw(name: str, rows: Sequence[Row], has_legend: bool, axes: Axes) -> None:
    conditions = list(dict.fromkeys(row.published.scenario for row in rows))
    has_several_conditions = len(conditions) > 1
    names = [row.published.scenario if has_several_conditions else row.published.cca for row in rows]
    shades = _condition_colours(names) if has_several_conditions else colours(names)
    styles = lines(names)
    distributions = [np.sort(distribution_values(row.source, row.published)) for row in rows]
    for label, values in zip(names, distributions, strict=True):
        if not len(values):
            continue
        shares = np.arange(1, len(values) + 1) / len(values)
        indices = np.unique(np.linspace(0, len(values) - 1, min(_MAX_POINTS, len(values))).astype(int))
        axes.step(
            np.concatenate([values[:1], values[indices]]),
            np.concatenate([[0.0], shares[indices]]),
            where="post",
            color=shades[label],
            ls="-" if has_several_conditions else styles[label],
            lw=1.0,
            label=label if has_several_conditions else cca_name(label),
        )
    all_values = np.concatenate(distributions)
    if len(all_values) and 0 < _LOG_AXIS_RATIO * all_values.min() < all_values.max():
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(axis_of(rows[0]))
    axes.set_ylabel("ECDF")
    axes.set_ylim(0, 1)
    axes.set_title(heading("" if has_several_conditions else conditions[0], name), fontsize=9)
    if has_legend or has_several_conditions:
        axes.legend(fontsize="x-small")
