"""Roles of the columns of a table, by values and names: which has times, rates, RTTs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from celltcp._core import CelltcpError
from celltcp.logs.errors import quoted_names
from celltcp.logs.table.columns import Column, ambiguous_text
from celltcp.logs.table.time_column import clock_of, end_of, time_of
from celltcp.logs.table.words import DELAY, DOWN, OTHER, RADIO, RATE, ROWS, TIME, UP, VOLUME
from celltcp.logs.units import (
    RATE_UNITS,
    VOLUME_UNITS,
    RateUnit,
    TimeUnit,
    is_per_longer,
    rate_unit_in,
    time_unit_in,
    words_of,
)

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.table.dialect import Dialect


@dataclass(frozen=True)
class Roles:
    """Columns of a table by their roles, as positions; `None` without a column."""

    time: int | None
    #: Column of times of day, if another one has the dates.
    clock: int | None
    #: Column of the lengths of rows, if none has times.
    duration: int | None
    #: Column of the ends of rows.
    end: int | None
    rate: int
    time_unit: TimeUnit | None
    #: Unit of the rates; `None` if unknown.
    rate_unit: RateUnit | None
    #: Column of RTTs.
    delay: int | None
    #: Direction of the rates; `None` if unknown.
    direction: Direction | None
    #: Whether the other direction has a column, too.
    has_both: bool
    #: Columns with the quality of the radio, by quantity.
    radio: dict[str, int]


def roles_of(columns: list[Column], dialect: Dialect, options: ReadOptions, side: Direction) -> Roles:
    """Returns the roles of the columns; the rates are of `options.direction`, or else of `side`.

    Raises:
        CelltcpError: if names and values leave a role open; the message names an option that helps.
    """
    time_unit, rate_unit = options.units()
    time, rate = _requested_columns(options.column, dialect)
    if options.direction and (rate is not None or not dialect.has_names):
        reason = "but the columns have no names" if rate is None else "beside a column of the rate"
        comma = "," if rate is None else ""
        raise CelltcpError(f"direction: is given{comma} {reason}: leave it out")
    clock = duration = None
    if time is None and options.step is None:
        time, clock, duration = time_of(columns, dialect, rate)
    elif time is not None and columns[time].is_date:
        clock = clock_of(columns, time)
    taken = {position for position in (time, clock, duration) if position is not None}
    is_rate = rate_unit is not None and not rate_unit.is_volume
    candidates = _candidates(columns, taken, is_rate=is_rate) if dialect.has_names else []
    if rate is None:
        rate = _rate(columns, dialect, taken, options, side)
    if time is None and duration is None and options.step is None:
        raise CelltcpError(_no_time(columns, dialect, rate))
    chosen = columns[rate]
    if not chosen.is_number:
        raise CelltcpError(
            f'the column "{chosen.name}" has no rates: its first value is {chosen.first_text!r}'
        )
    unit = rate_unit or _unit_of_rate(chosen)
    lacks_unit = dialect.has_names and unit is None and not is_per_longer(chosen.name)
    if lacks_unit and chosen.name_has_any({"bytes", "byte", "octets", "octet"}):
        unit = RateUnit(8.0, "B", is_volume=True)
    return Roles(
        time=time,
        clock=clock,
        duration=duration,
        end=end_of(columns, time) if time is not None and clock is None else None,
        rate=rate,
        time_unit=time_unit or _unit_of_time(columns, duration if time is None else time, dialect),
        rate_unit=unit,
        delay=_delay(columns, taken | {rate}),
        direction=_direction(chosen),
        has_both={_direction(column) for column in candidates} >= {"down", "up"},
        radio={
            kind: position
            for kind, words in RADIO.items()
            if (position := _first(columns, words, taken | {rate})) is not None
        },
    )


def _unit_of_rate(column: Column) -> RateUnit | None:
    """Returns the unit in the name of the column of the rates.

    Raises:
        CelltcpError: if it may be one of a rate or of an amount.
    """
    unit = rate_unit_in(column.name)
    if unit is None or not unit.is_volume:
        return unit
    if column.name_has_any(RATE):
        return unit._replace(name=f"{unit.name}/s", is_volume=False)
    if unit.name.endswith("bit") and not column.name_has_any({"bits", "bit"}):
        raise CelltcpError(
            f'the column "{column.name}" may have {unit.name}/s or the {unit.name} of each row: --unit '
            f"{unit.name}/s or --unit {unit.name} says it (unit in a scenario file)"
        )
    return unit


def _requested_columns(text: str | None, dialect: Dialect) -> tuple[int | None, int | None]:
    """Returns the positions of time and rate that `RATE` or `TIME,RATE` names."""
    if text is None:
        return None, None
    names = list(dialect.names)
    plain = [name.lower() for name in names]

    def position(word: str) -> int:
        word = word.strip()
        if dialect.has_names and word.lower() in plain:
            return plain.index(word.lower())
        if word.isdigit() and 1 <= int(word) <= len(names):
            return int(word) - 1
        named = f", or of {', '.join(names)}" if dialect.has_names else ""
        raise CelltcpError(f'column: unknown "{word}"; allowed: numbers from 1 to {len(names)}{named}')

    if dialect.has_names and text.strip().lower() in plain:
        return None, position(text)
    before, comma, after = text.partition(",")
    return (position(before), position(after)) if comma else (None, position(text))


def _candidates(columns: list[Column], taken: set[int], *, is_rate: bool) -> list[Column]:
    """Returns the columns that may have the rates: by units of rates, else words, else amounts.

    Amounts come last if `is_rate`: the given unit is one of a rate.
    """
    others = [
        column
        for column in columns
        if column.position not in taken
        and column.is_number
        and not column.name_has_any(OTHER)
        and not _is_speed(column)
    ]
    units = {column.position: rate_unit_in(column.name) for column in others}
    amounts = [column for column in others if column.name_has_any(VOLUME) or units[column.position]]
    directed = [column for column in others if column.name_has_any(DOWN | UP) and column not in amounts]
    # In a table with "download bytes", a plain "download" may be the rate.
    bare = [column for column in directed if column.words <= DOWN | UP]
    groups = [
        [column for column in others if (unit := units[column.position]) and not unit.is_volume],
        [column for column in others if column.name_has_any(RATE)],
        *([directed, amounts] if is_rate else [amounts + bare if amounts else [], directed]),
    ]
    for group in groups:
        if group:
            return group
    return others if len(others) == 1 and len(columns) == 2 else []


def _is_speed(column: Column) -> bool:
    """Returns whether a column has the speed of a vehicle, or the rate of the physical layer."""
    if not column.name_has_any({"speed"}) or column.name_has_any(DOWN | UP):
        return False
    return column.name_has_any({"link"}) or rate_unit_in(column.name) is None


def _rate(
    columns: list[Column], dialect: Dialect, taken: set[int], options: ReadOptions, side: Direction
) -> int:
    """Returns the position of the column of rates in the direction to read."""
    if not dialect.has_names:
        others = [column for column in columns if column.position not in taken and column.is_number]
        if len(others) == 1:
            return others[0].position
        first = quoted_names([column.first_text for column in columns], max_count=6)
        raise CelltcpError(
            f"{len(columns)} columns without names, whose first row has {first}: --column TIME,RATE "
            "says which two, as numbers from 1, or --column RATE and --step the length of a row "
            "(column and step in a scenario file)"
        )
    unit = options.units()[1]
    candidates = _candidates(columns, taken, is_rate=unit is not None and not unit.is_volume)
    direction = options.direction or side
    fitting = [column for column in candidates if _direction(column) == direction]
    if fitting:
        candidates = fitting
    elif options.direction and not any(map(has_directions, columns)):
        raise CelltcpError(ambiguous_text(columns, "which column is of that direction"))
    elif candidates and all(_direction(column) for column in candidates):
        if direction == "up":
            raise CelltcpError(
                "no column has rates of the uplink: leave --uplink (path.up.trace) out, or take those "
                "of the downlink: --direction down, with --uplink --set path.up.direction=down"
            )
        raise CelltcpError(
            "the rates are of the uplink: for uploads, --uplink FILE --set path.down=50Mbit/s; else "
            "--direction up takes them for the downlink (direction in a scenario file)"
        )
    else:
        candidates = [column for column in candidates if _direction(column) is None] or candidates
    if len(candidates) == 1:
        return candidates[0].position
    if not candidates:
        raise CelltcpError(
            f"none of the columns {quoted_names([column.name for column in columns])} is a rate or an "
            "amount of data by its name: --column TIME,RATE says it, by names or numbers from 1 "
            "(column in a scenario file)"
        )
    raise CelltcpError(ambiguous_text(columns, "which column has the rates"))


def has_directions(column: Column) -> bool:
    """Returns whether a column has the direction of each row."""
    words = set(words_of(column.first_text))
    return not column.is_number and any(words & row for row in ROWS.values())


def _direction(column: Column) -> Direction | None:
    down, up = column.name_has_any(DOWN - {"in"}), column.name_has_any(UP - {"out"})
    if down == up:
        down, up = column.name_has_any({"in"}), column.name_has_any({"out"})
    return None if down == up else "down" if down else "up"


def _delay(columns: list[Column], taken: set[int]) -> int | None:
    """Returns the position of the column of RTTs; one with a unit of time in its name comes first."""
    others = OTHER - DELAY - {"sent", "km"} | {"var", "std", "stdev", "stddev", "mdev"}
    candidates = [column for column in columns if not column.name_has_any(others)]
    candidates.sort(key=lambda column: time_unit_in(column.name) is None)
    return _first(candidates, DELAY, taken)


def _first(columns: list[Column], words: set[str], taken: set[int]) -> int | None:
    """Returns the position of the first column of numbers with one of these words in its name."""
    positions = (
        column.position
        for column in columns
        if column.position not in taken and column.is_number and column.name_has_any(words)
    )
    return next(positions, None)


def _unit_of_time(columns: list[Column], position: int | None, dialect: Dialect) -> TimeUnit | None:
    if position is None or not dialect.has_names:
        return None
    if dialect.names == ("time", "Mbit/s"):
        # `celltcp traces convert` writes seconds.
        return TimeUnit(10**9, "s")
    return time_unit_in(columns[position].name)


def _no_time(columns: list[Column], dialect: Dialect, rate: int) -> str:
    """Returns the error message about a table without times."""
    if not dialect.has_names:
        return "no column has times: --step says how long a row lasts, such as 1s (step in a scenario)"
    others = [column.name for column in columns if column.position != rate]
    constant = [
        column
        for column in columns
        if column.is_constant and column.is_number and column.name_has_any(TIME)
    ]
    if constant:
        return (
            f'all rows have the time {constant[0].first_text} in "{constant[0].name}": --step says how '
            "long a row lasts, such as 1s (step in a scenario file)"
        )
    if others:
        return (
            f"none of the columns {quoted_names(others)} has times: --step says how long a row lasts, "
            "such as 1s, or --column TIME,RATE names the columns of both (step and column in a "
            "scenario file)"
        )
    return (
        "the table has rates and no times: --step says how long a row lasts, such as 1s (step in a "
        "scenario file)"
    )


def missing_unit_error(name: str) -> str:
    """Returns the error message about rates without a unit."""
    return (
        f'the column "{name}" does not tell the unit of its rates: --unit says it (unit in a scenario '
        f"file); allowed: {RATE_UNITS}, amounts of each row ({VOLUME_UNITS})"
    )
