"""Times of short units of work in tables, in ms: seconds would show hardly any of their digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.metrics import APP_METRICS, MAX_SHORT_S, TIME_DIGITS, short_digits
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from celltcp.comparison.applications import Application


class ShownColumn(NamedTuple):
    """Column of a metric of an application, in the unit of a table."""

    metric: str
    heading: str
    digits: int
    #: Factor from the unit of the metric to that of the table.
    factor: float = 1.0

    def values(self, metrics: Mapping[str, Sequence[float]]) -> list[float]:
        """Returns the values of the metric in the unit of the table; none without them."""
        return [self.factor * value for value in metrics.get(self.metric, ())]


def shown_columns(metrics: Iterable[str], applications: Iterable[Application]) -> list[ShownColumn]:
    """Returns the columns of metrics; all times are in ms if the mean of one is short."""
    metrics, applications = list(metrics), list(applications)
    means = {
        name: [
            mean
            for application in applications
            for values in application.metrics.values()
            if name in values and 0 < (mean := estimate(values[name]).mean) < math.inf
        ]
        for name in metrics
        if APP_METRICS[name].unit == "s" and APP_METRICS[name].digits == TIME_DIGITS
    }
    is_short = any(
        mean < MAX_SHORT_S
        for name, of in means.items()
        if not APP_METRICS[name].is_spread
        for mean in of
    )
    columns = []
    for name in metrics:
        metric = APP_METRICS[name]
        # Some points of a sweep may have cut transfers, others none.
        headings = {each.heading(name) for each in applications} - {metric.heading}
        text = next(iter(headings), metric.heading)
        if is_short and name in means:
            digits = short_digits(min(means[name], default=MAX_SHORT_S))
            heading = f"{text.removesuffix('s')}ms"
            columns.append(ShownColumn(name, heading, digits, 1e3))
        else:
            columns.append(ShownColumn(name, text, metric.digits))
    return columns
