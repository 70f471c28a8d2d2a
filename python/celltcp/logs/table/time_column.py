"""Detection of the time column of a table, by values first and names second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.table.columns import Column, ambiguous_text
from celltcp.logs.table.times import (
    epoch_unit,
    has_time_of_day,
)
from celltcp.logs.table.words import DOWN, DURATION, END, INDEX, OTHER, RATE, TIME, UP, VOLUME
from celltcp.logs.units import rate_unit_in

if TYPE_CHECKING:
    from celltcp.logs.table.dialect import Dialect

#: Words of columns with parts of a date, which alone are no times.
_PARTS = {"year", "month", "day", "hour", "minute", "second"}
#: Maximum share of rows at which times fall.
_MAX_FALL_SHARE = 0.2


def time_of(
    columns: list[Column], dialect: Dialect, rate: int | None
) -> tuple[int | None, int | None, int | None]:
    """Returns the columns of times, of times of day with dates, and of durations."""
    others = [column for column in columns if column.position != rate and not _stands_still(column)]
    if not dialect.has_names:
        return _time_without_names(others), None, None
    parts = [column for column in others if column.words & _PARTS and not column.is_date]
    if len(parts) > 1:
        others = [column for column in others if not any(column is part for part in parts)]
    dated = [column for column in others if column.is_date]
    if full := [column for column in dated if has_time_of_day(column.sample)]:
        # A date alone is no time if another column has the time of day.
        others = [column for column in others if not column.is_date or has_time_of_day(column.sample)]
        dated = full
    epochs = [
        column
        for column in others
        if column.is_number
        and column.is_monotonic
        and epoch_unit(column.known)
        and not _is_amount(column)
    ]
    named = [
        column
        for column in others
        if column.is_of(TIME) and not column.is_of(OTHER) and rate_unit_in(column.name) is None
        if column.is_rising or not column.is_of(DURATION - {"interval"})
    ]
    clocks = [column for column in others if column.is_clock]
    for group in (
        [column for column in named if column in dated or column in epochs],
        [column for column in named if column in clocks] if not dated else [],
        dated,
        epochs,
        [
            column
            for column in named
            if column.is_number and column.is_rising and column.is_of(TIME - {"date"})
        ],
        [
            column
            for column in named
            if column.is_number and not column.is_of(INDEX) and _falls_rarely(column)
        ],
        clocks,
    ):
        if group:
            time = min(group, key=lambda each: each.is_of(END))
            return time.position, clock_of(columns, time.position), None
    lengths = [
        column for column in others if column.is_number and column.is_of(DURATION - {"interval"})
    ]
    lengths = [length for length in lengths if (length.known > 0).all() and not _is_amount(length)]
    if lengths:
        return None, None, lengths[0].position
    rising = [
        column
        for column in others
        if column.is_number
        and column.is_rising
        and len(column.known) > 1
        and not column.is_of(INDEX)
        and not _is_amount(column)
    ]
    strictly = [
        column
        for column in rising
        if (np.diff(column.known) > 0).all() and column.words & {"x", "uptime"}
    ]
    if len(strictly) == 1:
        return strictly[0].position, None, None
    if rising:
        raise CelltcpError(
            f"{ambiguous_text(columns, 'which column has the times')}, or --step the length of a row"
        )
    return None, None, None


def _stands_still(column: Column) -> bool:
    """Returns whether all rows have the same time, such as the start of a query."""
    is_point = has_time_of_day(column.sample) if column.is_date else epoch_unit(column.known)
    return column.is_constant and bool(is_point)


def _is_amount(column: Column) -> bool:
    """Returns whether the name of a column is not that of times."""
    words = OTHER | RATE | VOLUME | DOWN | UP
    return column.is_of(words) or rate_unit_in(column.name) is not None


def _time_without_names(others: list[Column]) -> int | None:
    if len(others) == 1 and others[0].position == 0 and not others[0].is_date:
        return None
    for group in (
        [column for column in others if column.is_date],
        [column for column in others if column.is_clock],
        [
            column
            for column in others
            if column.is_number and column.is_monotonic and epoch_unit(column.known)
        ],
        [column for column in others if column.is_number and column.is_rising],
    ):
        if len(group) == 1 or (group and group[0].position == 0):
            return group[0].position
    first = next((column for column in others if column.position == 0), None)
    return 0 if len(others) > 1 and first is not None and _falls_rarely(first) else None


def _falls_rarely(column: Column) -> bool:
    """Returns whether a column may have times of several runs: they fall where a run ends only."""
    known = column.known
    return bool(len(known) > 1 and (np.diff(known) < 0).mean() < _MAX_FALL_SHARE)


def end_of(columns: list[Column], time: int) -> int | None:
    """Returns the column of the ends of the rows, which are not before their times."""
    begin = columns[time]
    for each in columns:
        if each.position == time or each.is_constant or not each.is_of(END):
            continue
        if each.is_of(OTHER | RATE | VOLUME):
            continue
        kinds = [(column.is_number, column.is_date, column.is_clock) for column in (begin, each)]
        is_later = not each.is_number or (each.values >= begin.values)[np.isfinite(each.values)].all()
        if kinds[0] == kinds[1] and any(kinds[0]) and is_later:
            return each.position
    return None


def clock_of(columns: list[Column], time: int) -> int | None:
    """Returns the column of times of day that belongs to a column of dates without them."""
    if not columns[time].is_date or has_time_of_day(columns[time].sample):
        return None
    return next((column.position for column in columns if column.is_clock), None)
