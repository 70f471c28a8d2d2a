"""Legs: a download with a split and one without over time, on both sides of the split host."""

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

#: Colours of the thesis: without split, from the server to the split host, from there to the phone.
_LOOKS = {
    "without split": "#009E73",
    "server to split host": "#D55E00",
    "split host to phone": "#0072B2",
}

#: Published quantities in each panel, with their line.
_TIMES = {"completion_total"}
_LEVELS = {
    "server_inflight": "server to split host",
    "phone_leg_inflight": "split host to phone",
}


@dataclass(frozen=True)
class _Lines:
    """Lines of a panel by label, with the label of the axis and its published quantities."""

    axis: str
    lines: Mapping[str, tuple[pd.Series, Any]]
    published: frozenset[str] = frozenset()


def leg_panels(outcome: Outcome) -> list[Panel]:
    """Returns four panels per place with a split: bytes, windows, data in flight, the host's buffer."""
    rows: dict[str, list[Row]] = {}
    for row in outcome.rows:
        rows.setdefault(row.published.scenario, []).append(row)
    return [
        Panel(functools.partial(_draw, outcome.table.figure, mine, index))
        for mine in rows.values()
        if any("@" in row.published.cca for row in mine)
        for index in range(4)
    ]


def _lines(rows: list[Row]) -> list[_Lines]:
    """Returns the lines of all panels, of the first run."""
    split = next(row for row in rows if "@" in row.published.cca)
    split_source = split.source
    plain = _first(
        split_source.slots_of(replace(split.published, cca=without_middlebox(split.published.cca)))
    )
    server = _first(split_source.slots_of(split.published))
    legs = _first(legs_of(split_source, split.published.cca))
    # The connections of the split host outlive the transfer.
    legs = legs[legs["t_s"] <= max(each["t_s"].max() for each in (plain, server))]
    came = server["delivered_bytes"].cumsum() * 1e-6
    at_host = came.to_numpy() + _at(legs, server, "buffered_bytes") * 1e-6
    labels = list(_LOOKS)

    def three(column: str, factor: float) -> dict[str, tuple[pd.Series, pd.Series]]:
        return {
            label: (slots["t_s"], slots[column] * factor)
            for label, slots in zip(labels, (plain, server, legs), strict=True)
        }

    arrived = {
        labels[0]: (plain["t_s"], plain["delivered_bytes"].cumsum() * 1e-6),
        labels[1]: (server["t_s"], at_host),
        labels[2]: (server["t_s"], came),
    }
    buffered = {labels[2]: (legs["t_s"], legs["buffered_bytes"] * 1e-3)}
    flights = frozenset({"server_inflight", "phone_leg_inflight"})
    return [
        _Lines("arrived, MB", arrived, frozenset(_TIMES)),
        _Lines("window, segments", three("cwnd", 1.0)),
        _Lines("in flight, kB", three("inflight", SEGMENT_KB), flights),
        _Lines("buffered at the split host, kB", buffered, frozenset({"split_buffer"})),
    ]


def _first(slots: pd.DataFrame) -> pd.DataFrame:
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
        axes.plot(times, values, color=_LOOKS[label], lw=1.1, label=label)
    for row in rows:
        published = row.published
        if published.value is None or published.quantity not in panel.published:
            continue
        label = _LEVELS.get(published.quantity, "split host to phone")
        look: dict[str, Any] = {
            "color": _LOOKS[label if "@" in published.cca else "without split"],
            "ls": ":",
            "lw": 1.3,
        }
        draw = axes.axvline if published.quantity in _TIMES else axes.axhline
        draw(published.value, label=f"published: {published.value:g} {published.unit}", **look)
    axes.set_xlabel("time, s")
    axes.set_ylabel(panel.axis)
    axes.set_ylim(bottom=0)
    axes.set_title(heading(rows[0].published.scenario, name), fontsize=9)
    _explain(axes, every_line=number == 0)


def _explain(axes: Axes, *, every_line: bool) -> None:
    """Adds a legend: of every line in the first panel, and of published values in the others."""
    handles, labels = axes.get_legend_handles_labels()
    plotted_legs = [
        (handle, label)
        for handle, label in zip(handles, labels, strict=True)
        if every_line or label not in _LOOKS
    ]
    if not plotted_legs:
        return
    columns = 2 if every_line else len(plotted_legs)
    axes.set_ylim(top=1.05 * axes.get_ylim()[1])
    add_room(axes, len(plotted_legs), columns)
    axes.legend(
        *zip(*plotted_legs, strict=True),
        fontsize="x-small",
        loc="upper left",
        ncols=columns,
        frameon=True,
        framealpha=0.8,
        edgecolor="none",
    )
