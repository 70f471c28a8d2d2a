"""Reader of tables: finds the roles of columns, and reads those that are needed."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.errors import quoted_names
from celltcp.logs.recording import Recording
from celltcp.logs.table.columns import Column, columns_of, is_counter, short_duration_name
from celltcp.logs.table.dialect import Dialect, dialect_of
from celltcp.logs.table.frames import FrameTable, TextTable
from celltcp.logs.table.pairs import blocks_in, pairs_in
from celltcp.logs.table.pauses import may_mark_pauses, pause_reason, pauses_left_out, rows_with_value
from celltcp.logs.table.roles import Roles, missing_unit_error, roles_of
from celltcp.logs.table.runs import (
    check_counters,
    check_turns,
    direction_of_rows,
    first_table,
    only_run,
    runs_of,
    with_condition,
)
from celltcp.logs.table.times import Times, join_dates_and_clocks, read_times
from celltcp.logs.table.values import Numbers, numbers
from celltcp.logs.units import RATE_UNITS, VOLUME_UNITS, RateUnit, rate_unit, time_unit, time_unit_in

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.source import Source
    from celltcp.logs.table.runs import Rows

#: Number of first rows by which columns are interpreted.
_SAMPLE = 2_000
#: Minimum number of steps between rows for recognising a column of steps.
_MIN_STEPS = 8
#: Mean rate above which numbers with groups of three digits are rather decimals, bit/s.
_MAX_GROUPED_BPS = 1e9


def read_table(
    source: Source,
    options: ReadOptions,
    side: Direction,
    idle: tuple[str, str] | None = None,
) -> Recording:
    """Reads a table in text.

    Args:
        source: the file.
        options: options of the user.
        side: direction of the link.
        idle: column and value of rows without load.

    Raises:
        CelltcpError: if the text is no table, or leaves something open.
    """
    for find, kind in ((pairs_in, "pairs of names and values"), (blocks_in, "blocks of values")):
        if (frame := find(source)) is not None:
            return read_frame(frame, list(map(str, frame.columns)), options, side, kind)
    dialect = dialect_of(source.head)
    return _interpret(TextTable(source, dialect), dialect, options, side, idle=idle)


def read_frame(
    frame: pd.DataFrame,
    names: list[str],
    options: ReadOptions,
    side: Direction,
    kind: str,
    *,
    has_names: bool = True,
) -> Recording:
    """Reads a table in memory, whose columns have numbers as names without `has_names`.

    Raises:
        CelltcpError: if names and values leave something open.
    """
    dialect = Dialect(",", tuple(names), has_names, 0, has_decimal_comma=False, has_comments=False)
    return _interpret(FrameTable(frame), dialect, options, side, kind)


def _interpret(
    table: TextTable | FrameTable,
    dialect: Dialect,
    options: ReadOptions,
    side: Direction,
    kind: str = "",
    idle: tuple[str, str] | None = None,
) -> Recording:
    """Returns the rows of a table with times and rates.

    Raises:
        CelltcpError: if names and values leave something open.
    """
    columns = columns_of(table.read(max_rows=_SAMPLE), dialect)
    roles = roles_of(columns, dialect, options, side)
    needed = _needed(columns, roles, options, dialect)
    marks = [
        column
        for column in columns
        if column.position not in (roles.time, roles.clock, roles.duration, roles.rate)
        and dialect.has_names
        and may_mark_pauses(column)
    ]
    positions = sorted(needed | {column.position for column in marks})
    frame = table.read(positions, numeric=[column.position for column in columns if column.is_number])
    notes = (
        [f"{table.too_long_lines} lines with too many fields left out"] if table.too_long_lines else []
    )
    frame = first_table(frame, roles, dialect, notes)
    direction, direction_run = direction_of_rows(frame, columns, roles, options, side)
    if direction_run is not None:
        options = dataclasses.replace(options, run=with_condition(options.run, direction_run))
        notes.append(f"rows of {direction_run}")
    row_count = len(frame)
    left_out, options = pauses_left_out(marks, options)
    frame = only_run(frame, options, dialect)
    if len(frame) < row_count:
        notes.append(
            f"{row_count - len(frame)} of {row_count} rows left out, as they are not of {options.run}"
        )
    rates = _numbers(frame, roles.rate, dialect)
    name = _name(dialect, roles.rate)
    unit = _unit(roles, rates, options, name)
    if unit is None and dialect.has_names:
        raise CelltcpError(missing_unit_error(columns[roles.rate].name))
    if rates.strange_count:
        notes.append(f'{rates.strange_count} values such as "{rates.strange}" are no numbers')
    times, lengths, time_text = _times(frame, roles, dialect, options)
    used_unit = unit or RateUnit(1e6, "Mbit/s")
    if (number := dialect.ambiguous_numbers.get(roles.rate)) is not None:
        is_given = options.unit is not None
        notes.append(_decimal_note(number, dialect, used_unit, rates.values, is_given=is_given))
    counter = used_unit.is_volume and options.counter
    if used_unit.is_volume and counter is None:
        counter = is_counter(rates.values, times)
        if counter is None:
            raise CelltcpError(
                f"the amounts {name} rise in so few rows that they may add up or not: --counter or "
                "--no-counter says it (counter in a scenario file)"
            )
    if counter and lengths is not None:
        # A counter has the amount up to the end of its row.
        times, lengths = times._replace(ns=times.ns + lengths), None
    if used_unit.is_volume and counter is False and options.counter is None:
        check_counters(frame, columns, roles, rates.values, options)
    if used_unit.is_volume and not counter and options.unit is None:
        _check_durations(columns, roles, times, name)
    ends_at_row = options.rates_end_at_row
    if ends_at_row is None and used_unit.is_volume and not counter and lengths is None:
        ends_at_row = not options.run and _have_steps_before(columns, roles, times)
    without_time = int((~times.is_known).sum())
    if without_time:
        notes.append(f"{without_time} rows without a time left out")
    if without_time == len(frame):
        raise CelltcpError("no line with a time and a rate")
    # A slice copies no rows.
    timed = times.is_known if without_time else slice(None)
    runs = runs_of(frame, columns, roles, options, times, timed)
    check_turns(frame, columns, roles, options)
    values = rates.values[timed] * used_unit.bits
    if idle is not None:
        values = _without_idle(values, frame, dialect, idle, timed, notes)
    for column in left_out:
        is_paused = rows_with_value(frame, column, dialect)[timed]
        values = np.where(is_paused, np.nan, values)
        notes.append(f"the rates of {is_paused.sum()} rows with a value of {column.name} left out")
    rate_text = f"rate {name} in {used_unit.name}"
    if used_unit.is_volume:
        rate_text = f"{'counter' if counter else 'amount of each row'} {name} in {used_unit.name}"
    return Recording(
        kind=kind or dialect.title,
        columns=f"{time_text}, {rate_text}",
        ns=times.ns[timed],
        values=values,
        lengths=None if lengths is None else lengths[timed],
        is_volume=used_unit.is_volume,
        is_counter=bool(counter),
        counter_unit=used_unit.bits,
        ends_at_row=bool(ends_at_row),
        is_absolute=times.is_absolute,
        runs=runs,
        rtt_ms=_rtt(frame, columns, roles, dialect, timed),
        radio={
            kind: _numbers(frame, position, dialect).values[timed]
            for kind, position in roles.radio.items()
        },
        direction=roles.direction or direction,
        has_both=roles.has_both or direction_run is not None,
        is_rate_guess=unit is None,
        is_time_guess=times.is_guess,
        notes=tuple(notes),
        no_capacity=None if counter else pause_reason(frame, marks, dialect, values, timed),
    )


def _without_idle(
    values: NDArray[np.float64],
    frame: pd.DataFrame,
    dialect: Dialect,
    idle: tuple[str, str],
    timed: Rows,
    notes: list[str],
) -> NDArray[np.float64]:
    """Returns rates without those of rows without load, such as those of a ping.

    Rates of zero stay, as a row without load looks like one in an outage.
    """
    column, value = idle
    position = dialect.names.index(column) if column in dialect.names else None
    if position is None or position not in frame:
        return values
    states = frame[position].astype("string").str.strip().to_numpy(dtype=object)[timed]
    is_idle = np.asarray(states == value, dtype=bool) & (values > 0)
    if not is_idle.any() or is_idle.all():
        return values
    notes.append(f"{int(is_idle.sum())} rows of {column}={value}, which are not of the load, left out")
    return np.where(is_idle, np.nan, values)


def _unit(roles: Roles, rates: Numbers, options: ReadOptions, name: str) -> RateUnit | None:
    """Returns the unit of the rates: from the option, from the values, or from the column's name.

    Raises:
        CelltcpError: if the text next to the values is no unit of a rate, or has several.
    """
    given, beside = options.units()[1], rate_unit(rates.unit)
    if rates.is_scaled and given is not None:
        raise CelltcpError(f"unit: the values of {name} have units of their own: leave --unit out")
    if given is None and beside is None and rates.unit:
        raise CelltcpError(
            f'the values of {name} have "{rates.unit}" behind them, which is no unit of a rate: --unit '
            f"says it, such as {'MB/s' if rates.unit.startswith('M') else 'kB/s'} (unit in a scenario "
            f"file); allowed: {RATE_UNITS}, amounts of each row ({VOLUME_UNITS})"
        )
    return given or beside or roles.rate_unit


def _decimal_note(
    number: str,
    dialect: Dialect,
    unit: RateUnit,
    values: NDArray[np.float64],
    *,
    is_given: bool,
) -> str:
    """Returns the note about how numbers such as 12.500 were read.

    Raises:
        CelltcpError: if no unit is given, and the rates do not tell decimals from thousands.
    """
    digits = re.sub(r"[.,]", "", number)
    decimal = f"{digits[:-3]}.{digits[-3:]}"
    are_decimals = dialect.has_decimal_comma == ("," in number)
    read, other = (decimal, digits) if are_decimals else (digits, decimal)
    mean_bps = float(np.nanmean(values[:_SAMPLE])) * unit.bits
    grouped_bps = mean_bps * 1000 if are_decimals else mean_bps
    is_ambiguous = unit.is_volume or (grouped_bps > _MAX_GROUPED_BPS) != are_decimals
    if is_ambiguous and not is_given:
        factor = 1000 if are_decimals else 1 / 1000
        allowed = (VOLUME_UNITS if unit.is_volume else RATE_UNITS).split(", ")
        scaled = unit._replace(bits=factor * unit.bits)
        names = [
            unit.name,
            *(name for name in allowed if rate_unit(name) == scaled._replace(name=name)),
        ]
        raise CelltcpError(
            f'numbers such as "{number}" may be {read} or {other} {unit.name}: '
            f"{' or '.join(f'--unit {name}' for name in names)} says it, as {read} is read (unit in a "
            "scenario file)"
        )
    return f'"{number}" is taken as {read} (--unit)'


def _check_durations(columns: list[Column], roles: Roles, times: Times, name: str) -> None:
    """Checks whether amounts may be those of tests with durations in another column.

    Raises:
        CelltcpError: if so; the message names the options that decide it.
    """
    steps = np.diff(times.ns[:_SAMPLE])
    if roles.duration is not None or not (steps > 0).any():
        return
    taken = {position for position in (roles.time, roles.clock, roles.rate) if position is not None}
    other = short_duration_name(columns, taken, float(np.median(steps[steps > 0])) / 1e9)
    if other is not None:
        raise CelltcpError(
            f'the amounts {name} may be of the times in "{other}", which are shorter than those '
            "between rows: --column TIME,RATE with --unit names a column of rates, and --unit B says "
            "that they are of the time until the next row (column and unit in a scenario file)"
        )


def _have_steps_before(columns: list[Column], roles: Roles, times: Times) -> bool:
    """Returns whether a column has the times since the previous row, which amounts then belong to."""
    count = min(len(times.ns), _SAMPLE)
    steps = np.diff(times.ns[:count]).astype(np.float64)
    if (
        len(steps) < _MIN_STEPS
        or not times.is_known[:count].all()
        or np.ptp(steps) < 1e-3 * steps.max()
    ):
        return False
    for column in columns:
        if column.position in (roles.time, roles.clock, roles.rate) or len(column.values) != count:
            continue
        for nanos in (1, 10**3, 10**6, 10**9):
            if np.allclose(column.values[1:] * nanos, steps, rtol=1e-3, atol=0):
                return True
    return False


def _numbers(frame: pd.DataFrame, position: int, dialect: Dialect) -> Numbers:
    return numbers(frame[position], has_decimal_comma=dialect.has_decimal_comma)


def _name(dialect: Dialect, position: int) -> str:
    return f'"{dialect.names[position]}"' if dialect.has_names else f"of column {position + 1}"


def _needed(columns: list[Column], roles: Roles, options: ReadOptions, dialect: Dialect) -> set[int]:
    """Returns the positions of the columns to read."""
    with_roles = (
        *(roles.time, roles.clock, roles.duration, roles.end),
        *(roles.rate, roles.delay, *roles.radio.values()),
    )
    result = {position for position in with_roles if position is not None}
    names = [name.lower() for name in dialect.names]
    for name, _ in options.wanted_runs():
        if name.lower() not in names:
            raise CelltcpError(
                f'run: unknown "{name}"; allowed: of {quoted_names(list(dialect.names))}'
            )
        result.add(names.index(name.lower()))
    # Columns of texts or of whole numbers may have the numbers of runs.
    for column in columns:
        values = column.known if column.is_number else None
        if column.position in result or column.is_date or column.is_clock:
            continue
        if values is not None and not dialect.has_names:
            continue
        # Some lines below the table may have other values.
        if values is None or (len(values) and (values % 1 == 0).mean() > 0.9):
            result.add(column.position)
    return result


def _times(
    frame: pd.DataFrame, roles: Roles, dialect: Dialect, options: ReadOptions
) -> tuple[Times, NDArray[np.int64] | None, str]:
    """Returns the times of the rows, their lengths if those are known, and how they were read."""
    count = len(frame)
    step = options.step_ns()
    if step is not None:
        ns = np.arange(count, dtype=np.int64) * step
        times = Times(ns, np.ones(count, dtype=bool), "", is_absolute=False, is_guess=False)
        return times, np.full(count, step, dtype=np.int64), f"a row every {options.step}"
    if roles.time is None:
        assert roles.duration is not None  # roles_of refuses a table without both
        unit = roles.time_unit or time_unit("s")
        assert unit is not None
        read = _numbers(frame, roles.duration, dialect).values
        known = np.isfinite(read) & (read > 0)
        lengths = np.where(known, np.round(np.where(known, read, 0) * unit.nanos), 0).astype(np.int64)
        ends = np.cumsum(lengths)
        times = Times(ends - lengths, known, "", is_absolute=False, is_guess=roles.time_unit is None)
        return times, lengths, f"lengths of rows {_name(dialect, roles.duration)} in {unit.name}"
    column = frame[roles.time]
    if roles.clock is not None:
        column = join_dates_and_clocks(column, frame[roles.clock])
    times = read_times(
        column, roles.time_unit, dates=options.dates, has_decimal_comma=dialect.has_decimal_comma
    )
    until = None
    if roles.end is not None:
        until = _lengths_until(frame[roles.end], times, roles, dialect, options)
    name = _name(dialect, roles.time)
    if until is not None:
        assert roles.end is not None
        name += f" to {_name(dialect, roles.end)}"
    if roles.clock is not None:
        name += f" and {_name(dialect, roles.clock)}"
    return (
        times,
        until,
        f"time {name} {'' if times.title.startswith('dates') else 'in '}{times.title}".replace(
            f"{name} dates", f"{name} as dates"
        ),
    )


def _lengths_until(
    ends: pd.Series, times: Times, roles: Roles, dialect: Dialect, options: ReadOptions
) -> NDArray[np.int64] | None:
    """Returns the lengths of rows with an end, ns; `None` if most have none.

    Raises:
        CelltcpError: if rows overlap.
    """
    read = read_times(
        ends, roles.time_unit, dates=options.dates, has_decimal_comma=dialect.has_decimal_comma
    )
    known = times.is_known & read.is_known
    lengths = np.where(known, read.ns - times.ns, 0)
    starts, positive = times.ns[lengths > 0], lengths[lengths > 0]
    if 2 * len(positive) < len(lengths):
        return None
    order = np.argsort(starts, kind="stable")
    is_overlapping = np.diff(starts[order]) < 0.9 * positive[order][:-1]
    if is_overlapping.sum() > 0.05 * len(positive):
        raise CelltcpError(
            f"rows until {_name(dialect, roles.end or 0)} are of the same time, as those of flows are: "
            "write the bytes of each second as a table, or give the length of a row as --step (step in "
            "a scenario file)"
        )
    return np.asarray(lengths, dtype=np.int64)


def _rtt(
    frame: pd.DataFrame, columns: list[Column], roles: Roles, dialect: Dialect, timed: Rows
) -> NDArray[np.float64] | None:
    """Returns the RTT of each row, ms; `None` without a column or if its unit is open."""
    if roles.delay is None:
        return None
    name = columns[roles.delay].name
    unit = time_unit_in(name)
    values = _numbers(frame, roles.delay, dialect).values[timed]
    # The "min" of "min_rtt" is no minute.
    if unit is not None and unit.nanos > 10**9:
        unit = None
    if unit is None and not re.search(r"ping", name, re.IGNORECASE):
        return None
    return np.asarray(values * (unit.nanos / 1e6 if unit else 1.0))
