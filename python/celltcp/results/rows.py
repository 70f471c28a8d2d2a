"""Rows of tables: the rows of each run, and rows as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.results.columns import distinct, records

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.results.json_fields import MetricInterval
    from celltcp.results.statistics import Estimate

#: Type of a row of JSON.
Row = TypeVar("Row")


def spans(runs: pd.Series | NDArray[np.uint32]) -> dict[int, slice]:
    """Returns the rows of each run as a slice, from the sorted column `run` of a table."""
    numbers, starts, _ = distinct(np.asarray(runs))
    ends = [*starts[1:].tolist(), len(runs)][: len(starts)]
    return {
        int(run): slice(start, end)
        for run, start, end in zip(numbers, starts.tolist(), ends, strict=True)
    }


def rows(table: pa.Table, span: slice | None) -> list[dict[str, Any]]:
    """Returns the rows of a span; an empty list for None."""
    return [] if span is None else table.slice(span.start, span.stop - span.start).to_pylist()


def json_rows(data: pd.DataFrame, row: Callable[..., Row]) -> list[Row]:
    """Returns the rows of a table as JSON; `row` is their type, whose fields are the columns."""
    return [json_row(values, row) for values in data.to_dict("records")]


def json_records(table: pa.Table) -> list[dict[str, Any]]:
    """Returns the rows of an Arrow table as JSON."""
    return [json_row(row, dict) for row in records(table)]


def json_row(values: Mapping[Any, Any], row: Callable[..., Row]) -> Row:
    """Returns a row of this type as JSON."""
    return row(**{str(key): json_value(value) for key, value in values.items()})


def json_value(value: Any) -> Any:
    """Returns a value as JSON, in which None stands for NaN and infinity."""
    if isinstance(value, dict):
        return {name: json_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [json_value(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def interval_json(mean: Estimate) -> MetricInterval:
    """Returns the mean of a metric with its interval as JSON."""
    result: MetricInterval = {"mean": json_value(mean.mean), "ci95": mean.ci95}
    if mean.ends is not None:
        result["low"], result["high"] = mean.ends
    if mean.is_bound:
        result["is_lower_bound"] = True
    return result
