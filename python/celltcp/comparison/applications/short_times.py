"""Times of short units of work in tables, in ms: seconds would show hardly any of their digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.applications.application_metrics import nearest_rank
from celltcp.comparison.metrics import (
    APP_METRICS,
    MAX_SHORT_S,
    PERCENT,
    TIME_DIGITS,
    is_percentage,
    short_digits,
)
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from celltcp.comparison.applications.applications import Application


_COMPLETION = "completion_s"
#: Minimum number of runs for their 95th percentile, which is the largest value of fewer.
_MIN_RUNS = 20


class ShownColumn(NamedTuple):
    """Column of a metric of an application, in the unit of a table."""

    metric: str
    heading: str
    digits: int
    #: Factor from the unit of the metric to that of the table.
    factor: float = 1.0
    #: Percentile of the runs in place of their mean; None for the mean.
    percentile: int | None = None

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.metric if self.percentile is None else f"{self.metric}_p{self.percentile}_of_runs"

    def values(self, metrics: Mapping[str, Sequence[float]]) -> list[float]:
        """Returns the values of which the table has the mean, in its unit; none without them."""
        values = [self.factor * value for value in metrics.get(self.metric, ())]
        if self.percentile is None or not values:
            return values
        # What never ends takes longer than any other run.
        return [
            nearest_rank([math.inf if math.isnan(each) else each for each in values], self.percentile)
        ]

    def vanishes(self, mean: float) -> bool:
        """Returns whether a mean in the unit of the table is a deviation below its last digit."""
        return APP_METRICS[self.metric].is_spread and mean < 0.5 * 10**-self.digits


def with_percentiles_of_runs(
    columns: Sequence[ShownColumn], applications: Sequence[Application]
) -> list[ShownColumn]:
    """Returns columns with the median and the 95th percentile of runs that have one transfer each.

    Without them, how long the slowest transfers last does not show, as a run has no percentile. There
    must be as many runs as a percentile needs values, by the rule of `has_too_few`.
    """
    if not all(_COMPLETION in each.names and each.has_single_transfers for each in applications):
        return [*columns]
    runs = min(len(values) for each in applications for values in each.values(_COMPLETION).values())
    added = [
        each._replace(
            heading=each.heading.replace("mean", f"p{percentile} of runs"), percentile=percentile
        )
        for each in columns
        if each.metric == _COMPLETION and runs >= _MIN_RUNS
        for percentile in (50, 95)
    ]
    return [*columns, *added]


def shown_columns(metrics: Iterable[str], applications: Iterable[Application]) -> list[ShownColumn]:
    """Returns the columns of metrics; all times are in ms if the mean of one is short.

    Deviations have the digits of the means, and no column if all are below the last one.
    """
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
    shortest = min(
        (mean for name, of in means.items() if not APP_METRICS[name].is_spread for mean in of),
        default=MAX_SHORT_S,
    )
    columns = []
    for name in metrics:
        metric = APP_METRICS[name]
        # Some points of a sweep may have cut transfers, others none.
        headings = {each.heading(name) for each in applications} - {metric.heading}
        text = next(iter(headings), metric.heading)
        if shortest < MAX_SHORT_S and name in means:
            least = shortest if metric.is_spread else min(means[name], default=MAX_SHORT_S)
            heading = f"{text.removesuffix('s')}ms"
            column = ShownColumn(name, heading, short_digits(least), 1e3)
        elif is_percentage(name):
            column = ShownColumn(name, f"{text} %", metric.digits - 2, PERCENT)
        else:
            column = ShownColumn(name, text, metric.digits)
        if not (
            applications and column.vanishes(column.factor * max(means.get(name, ()), default=0.0))
        ):
            columns.append(column)
    return columns
