"""Charts: data of interactive pictures, as the script in a report reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from celltcp.present.js_arrays import pack_values, pack_x

Numbers: TypeAlias = NDArray[np.float64]

#: Maximum number of values of a chart; longer ones are thinned.
MAX_VALUES = 1_000_000


@dataclass(frozen=True)
class Series:
    """Values at the x coordinates of a chart; NaN for missing ones."""

    label: str
    colour: str
    values: Numbers
    #: `"line"`, `"area"` (filled down to zero, in steps), or `"points"`.
    look: str = "line"
    dash: tuple[float, ...] = ()
    #: Whether a line holds each value until the next one.
    holds: bool = False
    #: Ends of intervals in y: a band around a line, a bar through a point.
    low: Numbers | None = None
    high: Numbers | None = None
    #: Ends of the intervals in x, for points only.
    left: Numbers | None = None
    right: Numbers | None = None
    #: Diameter of points, in pixels.
    size: float = 5
    is_shown: bool = True


@dataclass(frozen=True)
class Panel:
    """Series on one vertical axis."""

    label: str
    unit: str
    series: tuple[Series, ...]
    digits: int = 2
    #: Upper end of the axis without zoom; None for the highest value.
    top: float | None = None
    #: Lower end of the axis; None for the lowest value, or zero if all values are above zero.
    bottom: float | None = None


@dataclass(frozen=True)
class Chart:
    """Panels one above the other that share a horizontal axis, zoom and cursor."""

    x: Numbers
    label: str
    unit: str
    panels: tuple[Panel, ...]
    digits: int = 2
    is_log: bool = False
    #: Labels of x = 0, 1, 2 and so on, instead of numbers.
    names: tuple[str, ...] = ()
    #: Charts of a page with the same group share cursor and zoom.
    group: str = ""

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self.x) * sum(len(panel.series) for panel in self.panels)

    def thinned(self, max_values: int = MAX_VALUES) -> Chart:
        """Returns the chart with at most `max_values` values: minima and maxima of blocks."""
        if self.count <= max_values or self.names:
            return self
        series_count = max(sum(len(panel.series) for panel in self.panels), 1)
        length = 2 * -(-len(self.x) * series_count // max_values)
        starts = np.arange(0, len(self.x), length)
        middles = np.minimum(starts + length // 2, len(self.x) - 1)
        x = np.column_stack([self.x[starts], self.x[middles]]).ravel()
        panels = tuple(
            replace(panel, series=tuple(_thinned(series, starts) for series in panel.series))
            for panel in self.panels
        )
        return replace(self, x=x, panels=panels)

    def to_json(self) -> dict[str, Any]:
        """Returns the chart as JSON for the script."""
        return {
            "x": pack_x(self.x),
            "label": self.label,
            "unit": self.unit,
            "digits": self.digits,
            "log": self.is_log,
            "names": list(self.names),
            "group": self.group,
            "panels": [
                {
                    "label": panel.label,
                    "unit": panel.unit,
                    "digits": panel.digits,
                    "top": panel.top,
                    "bottom": panel.bottom,
                    "series": [_series_json(series) for series in panel.series],
                }
                for panel in self.panels
            ],
        }


def _thinned(series: Series, starts: NDArray[np.int64]) -> Series:
    """Returns a series with the minimum and maximum of each block, without intervals."""
    known = ~np.isnan(series.values)
    low = np.minimum.reduceat(np.where(known, series.values, np.inf), starts)
    high = np.maximum.reduceat(np.where(known, series.values, -np.inf), starts)
    pairs = np.column_stack([low, high]).ravel()
    return replace(series, values=np.where(np.isfinite(pairs), pairs, np.nan), low=None, high=None)


def _series_json(series: Series) -> dict[str, Any]:
    ends = {name: getattr(series, name) for name in ("low", "high", "left", "right")}
    return {
        "label": series.label,
        "colour": series.colour,
        "look": series.look,
        "holds": series.holds,
        "dash": list(series.dash),
        "size": series.size,
        "shown": series.is_shown,
        "values": pack_values(series.values),
        **{name: pack_values(values) for name, values in ends.items() if values is not None},
    }


def forward_fill(times: Numbers, value_times: Numbers, values: Numbers) -> Numbers:
    """Returns the last value up to each of `times`; NaN before the first value."""
    return np.append(np.nan, values)[np.searchsorted(value_times, times, side="right")]


def numbers(values: Sequence[float] | Any) -> Numbers:
    """Returns values as an array of floating-point numbers."""
    return np.asarray(values, dtype=np.float64)
