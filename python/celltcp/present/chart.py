"""Chart: numbers of an interactive picture, as the script in a report reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from celltcp.present.js_arrays import pack_values, pack_x

Numbers: TypeAlias = NDArray[np.float64]

#: Maximum of values of a chart; larger ones are thinned.
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
    #: Ends of intervals: a band around a line, a bar through a point.
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
    #: Upper end of the axis without zoom; None for that of the values.
    top: float | None = None
    #: Lower end of the axis; None for that of the values, or zero if they are above it.
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
    #: Labels of x = 0, 1, 2 and so on, in place of numbers.
    names: tuple[str, ...] = ()
    #: Charts of a page with the same group share cursor and zoom.
    group: str = ""

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self.x) * sum(len(panel.series) for panel in self.panels)

    def thinned(self, most: int = MAX_VALUES) -> Chart:
        """Returns the chart with at most this number of values: minima and maxima of stretches."""
        if self.count <= most or self.names:
            return self
        series = max(sum(len(panel.series) for panel in self.panels), 1)
        stretch = 2 * -(-len(self.x) * series // most)
        starts = np.arange(0, len(self.x), stretch)
        middles = np.minimum(starts + stretch // 2, len(self.x) - 1)
        places = np.column_stack([self.x[starts], self.x[middles]]).ravel()
        panels = tuple(
            replace(panel, series=tuple(_thinned(each, starts) for each in panel.series))
            for panel in self.panels
        )
        return replace(self, x=places, panels=panels)

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


def forward_fill(times: Numbers, at: Numbers, values: Numbers) -> Numbers:
    """Returns the last value at each time; NaN before the first one."""
    return np.append(np.nan, values)[np.searchsorted(at, times, side="right")]


def numbers(values: Sequence[float] | Any) -> Numbers:
    """Returns values as an array of floating-point numbers."""
    return np.asarray(values, dtype=np.float64)
