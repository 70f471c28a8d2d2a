"""Options for reading a log, which resolve ambiguous names and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from celltcp._core import CelltcpError
from celltcp.logs.units import (
    RATE_UNITS,
    TIME_UNITS,
    VOLUME_UNITS,
    RateUnit,
    TimeUnit,
    rate_unit,
    time_unit,
)

Direction = Literal["down", "up"]

#: Treatments of gaps in a log.
HOLES = ("cut", "hold", "zero")
#: Orders of day and month in dates such as 01/05/2024.
DATES = ("dmy", "mdy", "ymd")


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a log; `None` is inferred from the file."""

    #: Columns of a table, `RATE` or `TIME,RATE`, by names or numbers from 1.
    column: str | None = None
    #: Units of a table: `RATE`, `TIME` or `TIME,RATE`.
    unit: str | None = None
    #: Direction whose rates are read, of a file that has both.
    direction: Direction | None = None
    #: Treatment of gaps: `cut`, `hold` or `zero`.
    holes: str = "cut"
    #: Whether a rate is of the interval that ends at its row.
    rates_end_at_row: bool | None = None
    #: Length of a row in a table without times, such as `1s`.
    step: str | None = None
    #: Rows to read, as `COLUMN=VALUE` or `COLUMN=VALUE,COLUMN=VALUE`.
    run: str | None = None
    #: Order of day and month in dates.
    dates: str | None = None
    #: Whether the column is a counter that adds up.
    counter: bool | None = None

    @classmethod
    def of(cls, given: Mapping[str, object]) -> ReadOptions:
        """Returns the options of a scenario or a command.

        Raises:
            CelltcpError: if a value is not allowed.
        """
        options = cls(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
        for name, value, allowed in [
            ("holes", options.holes, HOLES),
            ("dates", options.dates or "dmy", DATES),
        ]:
            if value not in allowed:
                raise CelltcpError(f"{name}: unknown {value!r}; allowed: {', '.join(allowed)}")
        options.units()
        options.step_ns()
        options.wanted_runs()
        return options

    def units(self) -> tuple[TimeUnit | None, RateUnit | None]:
        """Returns the units of time and rate that are given."""
        if self.unit is None:
            return None, None
        parts = [part.strip() for part in self.unit.split(",")]
        if len(parts) == 1:
            time, rate = time_unit(parts[0]), rate_unit(parts[0])
            if time or rate:
                return (None, rate) if rate else (time, None)
        elif len(parts) == 2:
            time, rate = time_unit(parts[0]), rate_unit(parts[1])
            if time and rate:
                return time, rate
        raise CelltcpError(
            f"unit: unknown {self.unit!r}; allowed: {RATE_UNITS}, amounts ({VOLUME_UNITS}), "
            f"{TIME_UNITS}, or TIME,RATE such as ms,kbit/s"
        )

    def step_ns(self) -> int | None:
        """Returns the length of a row from the options, ns."""
        if self.step is None:
            return None
        text = self.step.strip()
        number = text.rstrip("abcdefghijklmnopqrstuvwxyzµ ")
        unit = time_unit(text[len(number) :].strip() or "s")
        try:
            value = float(number)
        except ValueError:
            value = 0.0
        if unit is None or not 0 < value * unit.nanos < 1e18:
            raise CelltcpError(f"step: {self.step!r} is no time; allowed: above 0, such as 1s or 100ms")
        return round(value * unit.nanos)

    def wanted_runs(self) -> list[tuple[str, str]]:
        """Returns the conditions on the rows to read, as columns and values."""
        result: list[tuple[str, str]] = []
        for part in self.run.split(",") if self.run is not None else []:
            column, equals, value = part.partition("=")
            if result and not equals:
                # The comma is part of the value.
                result[-1] = result[-1][0], f"{result[-1][1]},{part}"
            elif column.strip() and value.strip():
                result.append((column.strip(), value.strip()))
            else:
                raise CelltcpError(f"run: {self.run!r} is not COLUMN=VALUE, such as run_num=1")
        return result
