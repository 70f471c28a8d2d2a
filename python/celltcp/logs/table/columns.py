"""Columns of a table: which has the times and which the rates, by their values and their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from celltcp.logs.errors import listed, refuse
from celltcp.logs.table.times import (
    are_compact_dates,
    epoch_unit,
    has_time_of_day,
    looks_like_date,
    looks_like_time,
)
from celltcp.logs.table.values import numbers
from celltcp.logs.units import (
    RATE_UNITS,
    RateUnit,
    TimeUnit,
    rate_unit_in,
    time_unit_in,
    words_of,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.table.dialect import Dialect

_TIME = {"time", "timestamp", "timestamps", "t", "ts", "date", "datetime", "epoch", "elapsed", "clock"}
_TIME |= {
    "s",
    "sec",
    "secs",
    "seconds",
    "timeinseconds",
    "utc",
    "datetimestamp",
    "msec",
    "zeit",
    "uhrzeit",
    "start",
}
_INDEX = {
    "seq",
    "index",
    "idx",
    "id",
    "no",
    "nr",
    "num",
    "number",
    "row",
    "sample",
    "i",
    "n",
    "unnamed",
}
_DURATION = {"duration", "dur", "length", "interval"}
_RATE = {
    "rate",
    "throughput",
    "bitrate",
    "bandwidth",
    "bw",
    "capacity",
    "goodput",
    "tput",
    "brate",
    "thr",
}
_RATE |= {"thput", "thrput", "durchsatz", "datarate", "speed"}
_VOLUME = {"bytes", "byte", "octets", "octet", "transfer", "transferred", "volume", "bits"}
_DOWN = {"down", "downlink", "dl", "download", "rx", "received", "receive", "recv", "in", "downstream"}
_UP = {"up", "uplink", "ul", "upload", "tx", "sent", "send", "out", "upstream", "transmitted"}
_DELAY = {"rtt", "srtt", "latency", "delay", "ping", "owd"}
#: Words of columns whose other words may look like a rate's.
_OTHER = _DELAY | {
    "jitter",
    "loss",
    "lost",
    "drop",
    "drops",
    "dropped",
    "error",
    "errors",
    "err",
    "bler",
}
_OTHER |= {
    "retransmits",
    "retrans",
    "retr",
    "cwnd",
    "ssthresh",
    "frame",
    "fps",
    "sampling",
    "mcs",
    "cqi",
}
_OTHER |= {
    "snr",
    "sinr",
    "rsrp",
    "rsrq",
    "rssi",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "altitude",
    "km",
}
_OTHER |= {"kmh", "mph", "buffer", "queue", "packets", "packet", "pkts", "pps", "success", "hit", "cpu"}
#: Words of the quality of the radio.
RADIO = {"sinr": {"sinr", "snr"}, "rsrp": {"rsrp"}}
#: Rows from which a column that never falls is a counter: fewer may rise by chance.
_COUNTER_ROWS = 8


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    place: int
    name: str
    words: frozenset[str]
    is_number: bool
    #: Whether it has dates, or times of day.
    is_date: bool
    is_clock: bool
    values: NDArray[np.float64] = field(repr=False, compare=False)
    sample: str = ""

    @property
    def known(self) -> NDArray[np.float64]:
        """Numbers of the first rows that are known."""
        return self.values[np.isfinite(self.values)]

    @property
    def is_rising(self) -> bool:
        """Whether its numbers never fall and are not all the same."""
        known = self.known
        return bool(
            known.size and (np.diff(known) >= 0).all() and (known.size == 1 or known[-1] > known[0])
        )

    def is_of(self, words: set[str]) -> bool:
        """Returns whether one of these words is in its name."""
        return not self.words.isdisjoint(words)


@dataclass(frozen=True)
class Roles:
    """Roles of the columns of a table, by their places."""

    time: int | None
    #: Column of times of day, beside one of dates.
    clock: int | None
    #: Column of the lengths of rows, where there are no times.
    duration: int | None
    rate: int
    time_unit: TimeUnit | None
    #: Unit of the rates; `None` if nothing says it.
    rate_unit: RateUnit | None
    delay: int | None
    direction: Direction | None
    #: Whether the other direction has a column, too.
    has_both: bool
    radio: dict[str, int]


def columns_of(sample: pd.DataFrame, dialect: Dialect) -> list[Column]:
    """Returns the columns of a table from its first rows, as texts."""
    result = []
    for place, name in enumerate(dialect.names):
        texts = sample.iloc[:, place].astype("string").str.strip()
        filled = texts.dropna()
        read = numbers(texts, has_decimal_comma=dialect.has_decimal_comma)
        is_number = bool(np.isfinite(read.values).sum() > 0.5 * max(len(filled), 1))
        dates = filled.head(20).map(looks_like_date)
        clocks = filled.head(20).map(lambda text: looks_like_time(text) and not looks_like_date(text))
        result.append(
            Column(
                place,
                name,
                frozenset(words_of(name)) if dialect.has_names else frozenset(),
                is_number,
                bool(len(dates) and dates.mean() > 0.5) or are_compact_dates(read.values),
                bool(len(clocks) and clocks.mean() > 0.5),
                read.values,
                str(filled.iloc[0]) if len(filled) else "",
            )
        )
    return result


def roles_of(columns: list[Column], dialect: Dialect, options: ReadOptions, side: Direction) -> Roles:
    """Returns the roles of the columns.

    Raises:
        CelltcpError: if names and values leave a role open; it names the option that settles it.
    """
    time_unit, rate_unit = options.units()
    time, rate = _given(options.column, dialect)
    if options.direction and (rate is not None or not dialect.has_names):
        why = "is given beside a column of the rate"
        if rate is None:
            why = "is given, but the columns have no names"
        raise refuse(f"direction: {why}: leave it out")
    clock = duration = None
    if time is None and options.step is None:
        time, clock, duration = _time(columns, dialect, rate)
    elif time is not None and columns[time].is_date:
        clock = _clock(columns, time)
    elif time is None:
        # A row number is no rate.
        time = None
    taken = {place for place in (time, clock, duration) if place is not None}
    both = _candidates(columns, taken) if dialect.has_names else []
    if rate is None:
        rate = _rate(columns, dialect, taken, options, side)
    if time is None and duration is None and options.step is None:
        raise refuse(_no_time(columns, dialect, rate))
    chosen = columns[rate]
    if not chosen.is_number:
        raise refuse(f'the column "{chosen.name}" has no rates: its first value is {chosen.sample!r}')
    unit = rate_unit or rate_unit_in(chosen.name)
    if dialect.has_names and unit is None and chosen.is_of({"bytes", "byte", "octets", "octet"}):
        unit = RateUnit(8.0, "B", is_volume=True)
    return Roles(
        time=time,
        clock=clock,
        duration=duration,
        rate=rate,
        time_unit=time_unit or _unit_of_time(columns, duration if time is None else time, dialect),
        rate_unit=unit,
        delay=_delay(columns, taken | {rate}),
        direction=_direction(chosen),
        has_both={_direction(each) for each in both} >= {"down", "up"},
        radio={
            kind: place
            for kind, words in RADIO.items()
            if (place := _first(columns, words, taken | {rate})) is not None
        },
    )


def is_counter(values: NDArray[np.float64]) -> bool | None:
    """Returns whether amounts add up, as they fall at resets only; `None` if it may be by chance."""
    known = values[np.isfinite(values)]
    steps = np.diff(known)
    before, after = known[:-1][steps < 0], known[1:][steps < 0]
    # A reset begins near zero again.
    are_resets = bool((after < 0.5 * before).all()) and len(after) <= max(1, known.size // 20)
    if not (steps > 0).any() or not are_resets:
        return False
    if len(after):
        return known.size > _COUNTER_ROWS
    return True if known.size >= _COUNTER_ROWS else None


def _given(text: str | None, dialect: Dialect) -> tuple[int | None, int | None]:
    """Returns the places that `RATE` or `TIME,RATE` names."""
    if text is None:
        return None, None
    names = list(dialect.names)
    plain = [name.lower() for name in names]

    def place(word: str) -> int:
        word = word.strip()
        if dialect.has_names and word.lower() in plain:
            return plain.index(word.lower())
        if word.isdigit() and 1 <= int(word) <= len(names):
            return int(word) - 1
        named = f", or of {', '.join(names)}" if dialect.has_names else ""
        raise refuse(f'column: unknown "{word}"; allowed: numbers from 1 to {len(names)}{named}')

    if dialect.has_names and text.strip().lower() in plain:
        return None, place(text)
    before, comma, after = text.partition(",")
    return (place(before), place(after)) if comma else (None, place(text))


def _time(
    columns: list[Column], dialect: Dialect, rate: int | None
) -> tuple[int | None, int | None, int | None]:
    """Returns the columns of times, of times of day beside dates, and of lengths."""
    others = [each for each in columns if each.place != rate]
    if not dialect.has_names:
        return _time_without_names(others), None, None
    dated = [each for each in others if each.is_date]
    epochs = [
        each
        for each in others
        if each.is_number and each.is_rising and epoch_unit(each.known) and not _is_amount(each)
    ]
    named = [
        each
        for each in others
        if each.is_of(_TIME) and not each.is_of(_OTHER) and rate_unit_in(each.name) is None
    ]
    clocks = [each for each in others if each.is_clock]
    for group in (
        [each for each in named if each in dated or each in epochs],
        [each for each in named if each in clocks] if not dated else [],
        dated,
        epochs,
        [each for each in named if each.is_number and each.is_rising and each.is_of(_TIME - {"date"})],
        [each for each in named if each.is_number and not each.is_of(_INDEX) and len(each.known) > 1],
        clocks,
    ):
        if group:
            time = group[0]
            return time.place, _clock(columns, time.place), None
    lengths = [each for each in others if each.is_number and each.is_of(_DURATION - {"interval"})]
    lengths = [each for each in lengths if (each.known > 0).all() and not _is_amount(each)]
    if lengths:
        return None, None, lengths[0].place
    rising = [
        each
        for each in others
        if each.is_number
        and each.is_rising
        and len(each.known) > 1
        and not each.is_of(_INDEX)
        and not _is_amount(each)
    ]
    strictly = [
        each for each in rising if (np.diff(each.known) > 0).all() and each.words & {"x", "uptime"}
    ]
    if len(strictly) == 1:
        return strictly[0].place, None, None
    if rising:
        raise refuse(_open(columns, "which column has the times"))
    return None, None, None


def _is_amount(column: Column) -> bool:
    """Returns whether the name of a column is of something else than times."""
    words = _OTHER | _RATE | _VOLUME | _DOWN | _UP
    return column.is_of(words) or rate_unit_in(column.name) is not None


def _time_without_names(others: list[Column]) -> int | None:
    if len(others) == 1 and others[0].place == 0 and not others[0].is_date:
        return None
    for group in (
        [each for each in others if each.is_date],
        [each for each in others if each.is_clock],
        [each for each in others if each.is_number and each.is_rising and epoch_unit(each.known)],
        [each for each in others if each.is_number and each.is_rising],
    ):
        if len(group) == 1 or (group and group[0].place == 0):
            return group[0].place
    return 0 if len(others) > 1 else None


def _clock(columns: list[Column], time: int) -> int | None:
    """Returns the column of times of day that belongs to a column of dates without them."""
    if not columns[time].is_date or has_time_of_day(columns[time].sample):
        return None
    return next((each.place for each in columns if each.is_clock), None)


def _candidates(columns: list[Column], taken: set[int]) -> list[Column]:
    """Returns the columns that may have the rates: by units of rates, else words, else amounts."""
    others = [
        each
        for each in columns
        if each.place not in taken
        and each.is_number
        and not each.is_of(_OTHER)
        and not _is_position(each)
    ]
    units = {each.place: rate_unit_in(each.name) for each in others}
    for group in (
        [each for each in others if (unit := units[each.place]) and not unit.is_volume],
        [each for each in others if each.is_of(_RATE)],
        [each for each in others if each.is_of(_VOLUME) or units[each.place]],
        [each for each in others if each.is_of(_DOWN | _UP)],
    ):
        if group:
            return group
    return others if len(others) == 1 and len(columns) == 2 else []


def _is_position(column: Column) -> bool:
    return (
        column.is_of({"speed"}) and not column.is_of(_DOWN | _UP) and rate_unit_in(column.name) is None
    )


def _rate(
    columns: list[Column], dialect: Dialect, taken: set[int], options: ReadOptions, side: Direction
) -> int:
    if not dialect.has_names:
        others = [each for each in columns if each.place not in taken and each.is_number]
        if len(others) == 1:
            return others[0].place
        raise refuse(
            f"{len(columns)} columns without names: --column TIME,RATE says which two, as numbers from "
            "1 (column in a scenario file)"
        )
    result = _candidates(columns, taken)
    wanted = options.direction or side
    fitting = [each for each in result if _direction(each) == wanted]
    if fitting:
        result = fitting
    elif options.direction:
        raise refuse(_open(columns, "which column is of that direction"))
    elif result and all(_direction(each) for each in result):
        other = "up" if wanted == "down" else "down"
        raise refuse(
            f"the rates are of the other direction: --direction {other} reads them (direction in a "
            "scenario file)"
        )
    else:
        result = [each for each in result if _direction(each) is None] or result
    if len(result) == 1:
        return result[0].place
    raise refuse(_open(columns, "which column has the rates"))


def _direction(column: Column) -> Direction | None:
    down, up = column.is_of(_DOWN - {"in"}), column.is_of(_UP - {"out"})
    if down == up:
        down, up = column.is_of({"in"}), column.is_of({"out"})
    return None if down == up else "down" if down else "up"


def _delay(columns: list[Column], taken: set[int]) -> int | None:
    """Returns the column of RTTs, one with a unit of time in its name first."""
    others = _OTHER - _DELAY - {"sent", "km"}
    candidates = [
        each for each in columns if each.place not in taken and each.is_number and each.is_of(_DELAY)
    ]
    candidates = [
        each for each in candidates if not each.is_of(others | {"var", "std", "stddev", "mdev"})
    ]
    candidates.sort(key=lambda each: time_unit_in(each.name) is None)
    return candidates[0].place if candidates else None


def _first(columns: list[Column], words: set[str], taken: set[int]) -> int | None:
    candidates = (
        each for each in columns if each.place not in taken and each.is_number and each.is_of(words)
    )
    return next((each.place for each in candidates), None)


def _unit_of_time(columns: list[Column], place: int | None, dialect: Dialect) -> TimeUnit | None:
    if place is None or not dialect.has_names:
        return None
    if dialect.names == ("time", "Mbit/s"):
        # `celltcp traces convert` writes seconds.
        return TimeUnit(10**9, "s")
    return time_unit_in(columns[place].name)


def _no_time(columns: list[Column], dialect: Dialect, rate: int) -> str:
    if not dialect.has_names:
        return "no column has times: --step says how long a row lasts, such as 1s (step in a scenario)"
    others = [each.name for each in columns if each.place != rate]
    if others:
        return (
            f"none of the columns {listed(others)} has times: --step says how long a row lasts, such "
            "as 1s, or --column TIME,RATE which columns are meant (step and column in a scenario file)"
        )
    return (
        "the table has rates and no times: --step says how long a row lasts, such as 1s (step in a "
        "scenario file)"
    )


def _open(columns: list[Column], what: str) -> str:
    return (
        f"the columns {listed([each.name for each in columns])} leave open {what}: --column TIME,RATE "
        "says it, by names or numbers from 1 (column in a scenario file)"
    )


def unit_is_open(name: str) -> str:
    """Returns the error about rates without a unit."""
    return (
        f'the column "{name}" does not tell the unit of its rates: --unit says it (unit in a scenario '
        f"file); allowed: {RATE_UNITS}"
    )
