"""Legs of splits: a download over time with a split, on both sides of the split host, and without."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.plots.panel import Panel, add_room, heading
from celltcp.publications.quantities.splits import SEGMENT_KB, legs_of, without_middlebox

#: Colours of the lines, those of the thesis.
_COLOURS = {
    "without split": "#009E73",
    "server to split host": "#D55E00",
    "split host to phone": "#0072B2",
}

#: Published quantities that are drawn as vertical lines.
_TIMES = {"completion_total"}
#: Line whose colour the levels of a published quantity have.
_LEVELS = {
    "server_inflight": "server to split host",
    "phone_leg_inflight": "split host to phone",
}


@dataclass(frozen=True)
class _Lines:
    """Lines of a panel."""

    #: Label of the vertical axis.
    axis: str
    #: Times, s, and values of each line by label.
    lines: Mapping[str, tuple[pd.Series, Any]]
    #: Published quantities in the panel.
    published: frozenset[str] = frozenset()


def leg_panels(outcome: Outcome) -> list[Panel]:
    """Returns four panels per condition with a split: bytes, windows, data in flight, buffer."""
    by_condition: dict[str, list[Row]] = {}
    for row in outcome.rows:
        by_condition.setdefault(row.published.scenario, []).append(row)
    return [
        Panel(functools.partial(_draw, outcome.table.figure, rows, index))
        for rows in by_condition.values()
        if any("@" in row.published.cca for row in rows)
        for index in range(4)
    ]


def _lines(rows: list[Row]) -> list[_Lines]:
    """Returns the lines of all panels, of the first run."""
    split = next(row for row in rows if "@" in row.published.cca)
    entry, source = split.published, split.source
    unsplit = _first_run(source.slots_of(replace(entry, cca=without_middlebox(entry.cca))))
    server = _first_run(source.slots_of(entry))
    legs = _first_run(legs_of(source, entry.cca))
    # The connections of the split host outlive the transfer.
    legs = legs[legs["t_s"] <= max(unsplit["t_s"].max(), server["t_s"].max())]
    at_phone_mb = server["delivered_bytes"].cumsum() * 1e-6
    at_host_mb = at_phone_mb.to_numpy() + _at(legs, server, "buffered_bytes") * 1e-6
    labels = list(_COLOURS)

    def lines_of(column: str, factor: float) -> dict[str, tuple[pd.Series, pd.Series]]:
        return {
            label: (slots["t_s"], slots[column] * factor)
            for label, slots in zip(labels, (unsplit, server, legs), strict=True)
        }

    arrived = {
        labels[0]: (unsplit["t_s"], unsplit["delivered_bytes"].cumsum() * 1e-6),
        labels[1]: (server["t_s"], at_host_mb),
        labels[2]: (server["t_s"], at_phone_mb),
    }
    buffered = {labels[2]: (legs["t_s"], legs["buffered_bytes"] * 1e-3)}
    return [
        _Lines("arrived, MB", arrived, frozenset(_TIMES)),
        _Lines("window, segments", lines_of("cwnd", 1.0)),
        _Lines("in flight, kB", lines_of("inflight", SEGMENT_KB), frozenset(_LEVELS)),
        _Lines("buffered at the split host, kB", buffered, frozenset({"split_buffer"})),
    ]


def _first_run(slots: pd.DataFrame) -> pd.DataFrame:
    first: pd.DataFrame = slots[slots["run"] == slots["run"].min()]
    return first


def _at(legs: pd.DataFrame, slots: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Returns a column of legs at the times of slots; unknown values are zero."""
    by_time = legs.set_index((legs["t_s"] * 1e3).round().astype(int))[column]
    at_slots = by_time.reindex((slots["t_s"] * 1e3).round().astype(int))
    return at_slots.fillna(0).to_numpy(np.float64)


def _draw(name: str, rows: list[Row], number: int, axes: Axes) -> None:
    panel = _lines(rows)[number]
    for label, (times, values) in panel.lines.items():
        axes.plot(times, values, color=_COLOURS[label], lw=1.1, label=label)
    for row in rows:
        published = row.published
        if published.value is None or published.quantity not in panel.published:
            continue
        label = _LEVELS.get(published.quantity, "split host to phone")
        colour = _COLOURS[label if "@" in published.cca else "without split"]
        style: dict[str, Any] = {"color": colour, "ls": ":", "lw": 1.3}
        draw = axes.axvline if published.quantity in _TIMES else axes.axhline
        draw(published.value, label=f"published: {published.value:g} {published.unit}", **style)
    axes.set_xlabel("time, s")
    axes.set_ylabel(panel.axis)
    axes.set_ylim(bottom=0)
    axes.set_title(heading(rows[0].published.scenario, name), fontsize=9)
    _add_legend(axes, has_all_lines=number == 0)


def _add_legend(axes: Axes, *, has_all_lines: bool) -> None:
    """Adds a legend: of all lines in the first panel, of published values only in the others."""
    handles, labels = axes.get_legend_handles_labels()
    entries = [
        (handle, label)
        for handle, label in zip(handles, labels, strict=True)
        if has_all_lines or label not in _COLOURS
    ]
    if not entries:
        return
    columns = 2 if has_all_lines else len(entries)
    axes.set_ylim(top=1.05 * axes.get_ylim()[1])
    add_room(axes, len(entries), columns)
    axes.legend(
        *zip(*entries, strict=True),
        fontsize="x-small",
        loc="upper left",
        ncols=columns,
        frameon=True,
        framealpha=0.8,
        edgecolor="none",
    )
