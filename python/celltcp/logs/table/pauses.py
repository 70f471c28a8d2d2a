"""Rows in which another test of the tool, such as a ping, stops the load: no rates of the link."""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING

import numpy as np

from celltcp.logs.table.values import MISSING, numbers
from celltcp.logs.table.words import DELAY, OTHER

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.logs.options import ReadOptions
    from celltcp.logs.table.columns import Column
    from celltcp.logs.table.dialect import Dialect
    from celltcp.logs.table.runs import Rows

#: Minimum number, and maximum share, of the rows with another test.
_MIN_PAUSES, _MAX_PAUSED_SHARE = 8, 0.4
#: Share of the rate of the rows beside it below which a row is low.
_LOW_SHARE = 0.25
#: Minimum share of low rows among those with another test, and its minimum ratio to that among others.
_MIN_LOW_SHARE, _MIN_LOW_RATIO = 0.5, 3.0
#: Minimum period of low rows, maximum deviation from it, and minimum share of steps that keep it, rows.
_MIN_PERIOD, _MAX_DEVIATION, _MIN_PERIODIC_SHARE = 4, 1, 0.8


def may_mark_pauses(column: Column) -> bool:
    """Returns whether a column has numbers in a few rows, as those of a test now and then.

    Quantities of the radio and counts, such as those of losses, may have the same reason as a low rate.
    """
    count = len(column.known)
    is_rare = _MIN_PAUSES <= count <= _MAX_PAUSED_SHARE * len(column.values)
    return is_rare and (column.name_has_any(DELAY) or not column.name_has_any(OTHER))


def pauses_left_out(marks: list[Column], options: ReadOptions) -> tuple[list[Column], ReadOptions]:
    """Returns the columns whose rows `--run COLUMN=-` leaves out, and the options without these.

    Such rows stay, without their rates: their RTTs are needed.
    """
    by_name = {column.name.lower(): column for column in marks}
    chosen, others = [], []
    for name, value in options.wanted_runs():
        column = by_name.get(name.lower()) if value.lower() in MISSING else None
        if column:
            chosen.append(column)
        else:
            others.append(f"{name}={value}")
    return chosen, dataclasses.replace(options, run=",".join(others) or None)


def rows_with_value(frame: pd.DataFrame, column: Column, dialect: Dialect) -> NDArray[np.bool_]:
    """Returns which rows have a number in a column."""
    read = numbers(frame[column.position], has_decimal_comma=dialect.has_decimal_comma)
    return np.isfinite(read.values)


def pause_reason(
    frame: pd.DataFrame,
    columns: Iterable[Column],
    dialect: Dialect,
    values: NDArray[np.float64],
    timed: Rows,
) -> str | None:
    """Returns the reason why some rates are no capacity: another test stopped the load, now and then.

    Args:
        frame: rows of the table.
        columns: columns that may have values of such a test; those of pings come first.
        dialect: form of the table.
        values: rates of the rows with a time.
        timed: choice of these rows.
    """
    for column in sorted(columns, key=lambda each: not each.name_has_any(DELAY)):
        is_marked = rows_with_value(frame, column, dialect)[timed]
        beside = _rates_beside(values, is_marked)
        if (share := _share_of_paused(values, beside, is_marked)) is not None:
            return (
                f"in {is_marked.sum()} rows with a value of {column.name} the rate is, in the median, "
                f"{100 * share:.0f} % of that beside them, as where {_test_of(column)} stops the load: "
                f"--run {shlex.quote(f'{column.name}=-')} leaves them out (run in a scenario file)"
            )
    return _period_reason(values)


def _rates_beside(values: NDArray[np.float64], is_marked: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Returns for each row the mean rate of the nearest rows before and after it without a mark."""
    usable = np.flatnonzero(~is_marked & np.isfinite(values))
    rows = np.arange(len(values))
    after = np.searchsorted(usable, rows, side="right")
    before = np.searchsorted(usable, rows, side="left") - 1
    result = np.full(len(values), np.nan)
    has_both = (before >= 0) & (after < len(usable))
    result[has_both] = (values[usable[before[has_both]]] + values[usable[after[has_both]]]) / 2
    return result


def _share_of_paused(
    values: NDArray[np.float64], beside: NDArray[np.float64], is_marked: NDArray[np.bool_]
) -> float | None:
    """Returns the median share of marked rows in the rate beside them; None if most are as high."""
    is_known = np.isfinite(values) & (beside > 0)
    marked, others = is_marked & is_known, ~is_marked & is_known
    if marked.sum() < _MIN_PAUSES or marked.sum() > _MAX_PAUSED_SHARE * is_known.sum():
        return None
    is_low = values < _LOW_SHARE * beside
    low_share, other_share = float(is_low[marked].mean()), float(is_low[others].mean())
    if low_share < max(_MIN_LOW_SHARE, _MIN_LOW_RATIO * other_share):
        return None
    return float(np.median(values[marked] / beside[marked]))


def _period_reason(values: NDArray[np.float64]) -> str | None:
    """Returns the reason why single rows are no capacity: their rates are low at one period."""
    is_low = values < _LOW_SHARE * _rates_beside(values, np.zeros(len(values), bool))
    low = np.flatnonzero(is_low)
    if not _MIN_PAUSES <= len(low) <= _MAX_PAUSED_SHARE * len(values):
        return None
    steps = np.diff(low)
    period = float(np.median(steps))
    is_periodic = np.abs(steps - period) <= _MAX_DEVIATION
    if period < _MIN_PERIOD or is_periodic.mean() < _MIN_PERIODIC_SHARE:
        return None
    return (
        f"about each {period:.0f}th row, {len(low)} in all, has below {100 * _LOW_SHARE:.0f} % of the "
        "rate beside it: if a ping or another test stops the load, not the network, leave them out"
    )


def _test_of(column: Column) -> str:
    return "a ping" if column.name_has_any(DELAY) else "another test"
