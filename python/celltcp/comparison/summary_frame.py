"""Data frames of means with their intervals, for comparisons in Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import pandas as pd

from celltcp.comparison.applications.applications import metric_estimates, without_few
from celltcp.results.statistics import Estimate

#: Row of a data frame: a CCA, or a CCA and a flow.
_Row = TypeVar("_Row", tuple[str], tuple[str, str])

#: Column of metrics with lower bounds.
_IS_BOUND = "is_lower_bound"

#: Columns of a metric, each with its value and that of rows without the metric.
_PARTS: Sequence[tuple[str, Callable[[Estimate], float | bool], float | bool]] = (
    ("mean", lambda each: each.mean, math.nan),
    ("ci95", lambda each: each.half_width, math.nan),
    (_IS_BOUND, lambda each: each.is_bound, False),
)


def summary_frame(rows: Mapping[_Row, Mapping[str, Sequence[float]]]) -> pd.DataFrame:
    """Returns mean and half width of the 95 % interval of metrics, without names of the index.

    Metrics of which a mean is a lower bound have a column that says so; such means have no interval.
    NaN stands for metrics that a row lacks, and for percentiles of too few values.

    Args:
        rows: values of the metrics by name, one per run, by row.
    """
    estimates = [metric_estimates(without_few(metrics)) for metrics in rows.values()]
    names = dict.fromkeys(itertools.chain.from_iterable(estimates))
    bounds = {name for row in estimates for name, each in row.items() if each.is_bound}
    columns = {
        (name, part): [value_of(row[name]) if name in row else missing for row in estimates]
        for name in names
        for part, value_of, missing in _PARTS
        if part != _IS_BOUND or name in bounds
    }
    return pd.DataFrame(columns, index=pd.MultiIndex.from_tuples(list(rows)))
