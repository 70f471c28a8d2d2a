"""Columns of a table: the words of their names, and the values of the first rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from celltcp.logs.errors import quoted_names
from celltcp.logs.table.times import are_compact_dates, looks_like_date, looks_like_time
from celltcp.logs.table.values import MISSING, numbers
from celltcp.logs.table.words import DELAY, DOWN, DURATION, OTHER, RATE, UP
from celltcp.logs.units import rate_unit_in, time_unit_in, words_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.logs.table.dialect import Dialect
    from celltcp.logs.table.times import Times

#: Minimum number of rows for a counter: fewer values may rise by chance.
_MIN_COUNTER_ROWS = 8


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    #: Index in the table.
    position: int
    name: str
    #: Words of the name; empty without names.
    words: frozenset[str]
    #: Whether more than half of its texts are numbers.
    is_number: bool
    #: Whether it has dates.
    is_date: bool
    #: Whether it has times of day.
    is_clock: bool
    #: Whether all rows have the same text.
    is_constant: bool
    #: Numbers of the first rows.
    values: NDArray[np.float64] = field(repr=False, compare=False)
    #: Empty without any text.
    first_text: str = ""

    @property
    def known(self) -> NDArray[np.float64]:
        """Numbers of the first rows, without NaN."""
        return self.values[np.isfinite(self.values)]

    @property
    def is_rising(self) -> bool:
        """Whether its numbers never fall and are not all the same; a single number rises as well."""
        known = self.known
        return bool(
            known.size and (np.diff(known) >= 0).all() and (known.size == 1 or known[-1] > known[0])
        )

    @property
    def is_monotonic(self) -> bool:
        """Whether its numbers rise, or fall in each row, as with the newest row first."""
        return self.is_rising or bool(self.known.size > 2 and (np.diff(self.known) < 0).all())

    def name_has_any(self, words: set[str]) -> bool:
        """Returns whether one of these words is in its name."""
        return not self.words.isdisjoint(words)


def columns_of(sample: pd.DataFrame, dialect: Dialect) -> list[Column]:
    """Returns the columns of a table from its first rows, as texts."""
    result = []
    for index, name in enumerate(dialect.names):
        texts = sample.iloc[:, index].astype("string").str.strip()
        filled = texts.dropna()
        read = numbers(texts, has_decimal_comma=dialect.has_decimal_comma)
        is_missing = filled.str.lower().isin(MISSING)
        is_number = bool(np.isfinite(read.values).sum() > 0.5 * max(int((~is_missing).sum()), 1))
        dates = filled.head(20).map(looks_like_date)
        clocks = filled.head(20).map(lambda text: looks_like_time(text) and not looks_like_date(text))
        result.append(
            Column(
                index,
                name,
                frozenset(words_of(name)) if dialect.has_names else frozenset(),
                is_number,
                bool(len(dates) and dates.mean() > 0.5) or are_compact_dates(read.values),
                bool(len(clocks) and clocks.mean() > 0.5),
                len(filled) > 1 and filled.nunique() == 1,
                read.values,
                str(filled.iloc[0]) if len(filled) else "",
            )
        )
    return result


def is_counter(values: NDArray[np.float64], times: Times | None = None) -> bool | None:
    """Returns whether amounts are a counter, which falls at resets only; `None` if that may be chance.

    If times are given, another run begins where they fall.
    """
    used = np.isfinite(values)
    if times is not None:
        used &= times.is_known
        ns = times.ns[used]
        falls = np.flatnonzero(np.diff(ns) < 0) + 1
        if 2 * falls.size > ns.size:
            # The newest row comes first.
            return is_counter(values[used][::-1])
        if 0 < falls.size <= ns.size // _MIN_COUNTER_ROWS:
            parts = [is_counter(part) for part in np.split(values[used], falls)]
            if False in parts or True in parts:
                return False not in parts
            # A few rows may be out of order; the sorted rows are no counter then by chance only.
            return is_counter(values[used][np.argsort(ns, kind="stable")]) or None
    known = values[used]
    steps = np.diff(known)
    before, after = known[:-1][steps < 0], known[1:][steps < 0]
    # A reset begins near zero again.
    are_resets = bool((after < 0.5 * before).all()) and len(after) <= max(1, known.size // 20)
    if not (steps > 0).any() or not are_resets:
        return False
    if len(after) and known.size <= _MIN_COUNTER_ROWS:
        return False
    return True if (steps > 0).sum() >= _MIN_COUNTER_ROWS - 1 else None


def short_duration_name(columns: list[Column], taken: set[int], step_s: float) -> str | None:
    """Returns the name of a column with durations much shorter than the steps between rows.

    An amount of data then belongs to a short test and not to the time until the next row.
    """
    for column in columns:
        is_time = column.name_has_any(DURATION - {"interval"} | {"elapsed"}) or "time" in column.words
        if column.position in taken or not (column.is_number and is_time) or column.name_has_any(DELAY):
            continue
        unit = time_unit_in(column.name)
        seconds = float(np.median(column.known)) * (unit.nanos / 1e9 if unit else 1.0)
        if 0 < seconds < 0.5 * step_s:
            return column.name
    return None


def may_identify_runs(column: Column) -> bool:
    """Returns whether a column may identify runs, and is no measurement."""
    return not (column.name_has_any(OTHER | RATE | DOWN | UP) or rate_unit_in(column.name))


def ambiguous_text(columns: list[Column], question: str) -> str:
    """Returns the error message about a role that several columns may have."""
    return (
        f"the columns {quoted_names([column.name for column in columns])} leave open {question}: "
        "choose with --column TIME,RATE, by names or numbers from 1 (column in a scenario file)"
    )
