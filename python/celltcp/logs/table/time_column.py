"""Detection of the columns with times in a table, by values first and names second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.table.columns import Column, ambiguous_text
from celltcp.logs.table.times import epoch_unit, has_time_of_day
from celltcp.logs.table.words import DOWN, DURATION, END, INDEX, OTHER, RATE, TIME, UP, VOLUME
from celltcp.logs.units import rate_unit_in

if TYPE_CHECKING:
    from celltcp.logs.table.dialect import Dialect

#: Words of columns with parts of a date, each of which is no time.
_PARTS = {"year", "month", "day", "hour", "minute", "second"}
#: Maximum share of rows at which times of several runs fall.
_MAX_FALL_SHARE = 0.2


def time_of(
    columns: list[Column], dialect: Dialect, rate: int | None
) -> tuple[int | None, int | None, int | None]:
    """Returns the positions of the columns of times, of times of day beside dates, and of durations."""
    others = [column for column in columns if column.position != rate and not _stands_still(column)]
    if not dialect.has_names:
        return _time_without_names(others), None, None
    parts = [column for column in others if column.words & _PARTS and not column.is_date]
    if len(parts) > 1:
        others = [column for column in others if column not in parts]
    dated = [column for column in others if column.is_date]
    if full := [column for column in dated if has_time_of_day(column.first_text)]:
        # A date alone is no time if another column has the time of day.
        others = [
            column for column in others if not column.is_date or has_time_of_day(column.first_text)
        ]
        dated = full
    epochs = [
        column
        for column in others
        if column.is_number
        and column.is_monotonic
        and epoch_unit(column.known)
        and not _is_measurement(column)
    ]
    named = [
        column
        for column in others
        if column.name_has_any(TIME)
        and not column.name_has_any(OTHER)
        and rate_unit_in(column.name) is None
        if column.is_rising or not column.name_has_any(DURATION - {"interval"})
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
            if column.is_number and column.is_rising and column.name_has_any(TIME - {"date"})
        ],
        [
            column
            for column in named
            if column.is_number and not column.name_has_any(INDEX) and _falls_rarely(column)
        ],
        clocks,
    ):
        if group:
            time = min(group, key=lambda column: column.name_has_any(END))
            return time.position, clock_of(columns, time.position), None
    lengths = [
        column for column in others if column.is_number and column.name_has_any(DURATION - {"interval"})
    ]
    lengths = [length for length in lengths if (length.known > 0).all() and not _is_measurement(length)]
    if lengths:
        return None, None, lengths[0].position
    rising = [
        column
        for column in others
        if column.is_number
        and column.is_rising
        and len(column.known) > 1
        and not column.name_has_any(INDEX)
        and not _is_measurement(column)
    ]
    uptimes = [
        column
        for column in rising
        if (np.diff(column.known) > 0).all() and column.words & {"x", "uptime"}
    ]
    if len(uptimes) == 1:
        return uptimes[0].position, None, None
    if rising:
        raise CelltcpError(
            f"{ambiguous_text(columns, 'which column has the times')}, or give the length of a "
            "row with --step"
        )
    return None, None, None


def _stands_still(column: Column) -> bool:
    """Returns whether all rows have the same time, such as the start of a query."""
    is_time = has_time_of_day(column.first_text) if column.is_date else epoch_unit(column.known)
    return column.is_constant and bool(is_time)


def _is_measurement(column: Column) -> bool:
    """Returns whether the name of a column is that of a measured quantity, not of times."""
    words = OTHER | RATE | VOLUME | DOWN | UP
    return column.name_has_any(words) or rate_unit_in(column.name) is not None


def _time_without_names(others: list[Column]) -> int | None:
    """Returns the position of the column of times in a table without names."""
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
    """Returns whether a column may have times of several runs, which only fall at the end of a run."""
    known = column.known
    return bool(len(known) > 1 and (np.diff(known) < 0).mean() < _MAX_FALL_SHARE)


def end_of(columns: list[Column], time: int) -> int | None:
    """Returns the position of the column of the ends of rows, which are not before their times."""
    start = columns[time]
    for end in columns:
        if end.position == time or end.is_constant or not end.name_has_any(END):
            continue
        if end.name_has_any(OTHER | RATE | VOLUME):
            continue
        start_kind, end_kind = (
            (column.is_number, column.is_date, column.is_clock) for column in (start, end)
        )
        is_later = not end.is_number or (end.values >= start.values)[np.isfinite(end.values)].all()
        if start_kind == end_kind and any(start_kind) and is_later:
            return end.position
    return None


def clock_of(columns: list[Column], time: int) -> int | None:
    """Returns the column of times of day that belongs to a column of dates without them."""
    if not columns[time].is_date or has_time_of_day(columns[time].first_text):
        return None
    return next((column.position for column in columns if column.is_clock), None)
