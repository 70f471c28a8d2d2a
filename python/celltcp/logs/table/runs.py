"""Selection of rows: those of the first table in a file, of a direction, or of a run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.blocks import all_rows
from celltcp.logs.table.columns import Column, is_counter, may_identify_runs
from celltcp.logs.table.roles import Roles, has_directions
from celltcp.logs.table.times import Times, looks_like_time
from celltcp.logs.table.values import MISSING
from celltcp.logs.table.words import ROWS
from celltcp.logs.units import words_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.table.dialect import Dialect

    #: Choice of rows of an array.
    Rows = NDArray[np.bool_] | slice

#: Maximum number of different values in a column of runs, and in one of devices.
_MAX_RUNS = 1_000
_MAX_DEVICES = 50
#: Minimum number of rows of each series in turn.
_MIN_TURNS = 4
#: Maximum number of lines without numbers that are checked for the names of a second table.
_MAX_HEADS = 8


def first_table(frame: pd.DataFrame, roles: Roles, dialect: Dialect, notes: list[str]) -> pd.DataFrame:
    """Returns the rows above the names of a second table, such as that of percentiles."""
    import pandas as pd

    if roles.time is None or not dialect.has_names:
        return frame
    texts = []
    for position in (roles.time, roles.rate):
        if pd.api.types.is_numeric_dtype(frame[position]):
            return frame
        texts.append(frame[position].astype("string").str.strip().fillna(""))
    times, rates = texts
    head = (dialect.names[roles.time], dialect.names[roles.rate])
    are_names = times.str.match("[A-Za-z_]") & rates.str.match("[A-Za-z_]")
    for row in np.flatnonzero(are_names.to_numpy(dtype=bool))[:_MAX_HEADS].tolist():
        cells = (times.iloc[row], rates.iloc[row])
        # If the names are those of the first table, a recording goes on.
        if row and cells != head and not any(_is_value(cell) for cell in cells):
            notes.append(f'{len(frame) - row} lines from "{cells[0]}" on left out, as another table')
            return frame.head(row)
    return frame


def _is_value(cell: str) -> bool:
    return looks_like_time(cell) or cell.lower() in MISSING


def direction_of_rows(
    frame: pd.DataFrame,
    columns: list[Column],
    roles: Roles,
    options: ReadOptions,
    side: Direction,
) -> tuple[Direction | None, str | None]:
    """Returns the direction to read and the condition on its rows, if rows have a direction each.

    Raises:
        CelltcpError: if rows of several kinds have the direction.
    """
    given = {column.lower() for column, _ in options.wanted_runs()}
    for column in columns:
        is_unused = column.position in frame and column.name.lower() not in given
        if roles.direction is not None or not is_unused or not has_directions(column):
            continue
        values = [str(value).strip() for value in frame[column.position].dropna().unique()[:_MAX_RUNS]]
        kinds = {
            name: [value for value in values if set(words_of(value)) & words]
            for name, words in ROWS.items()
        }
        if not all(kinds.values()):
            continue
        direction = options.direction or side
        if len(kinds[direction]) > 1:
            raise CelltcpError(_several_runs(column, kinds[direction], options))
        return direction, f"{column.name}={kinds[direction][0]}"
    return None, None


def with_condition(given: str | None, condition: str) -> str:
    """Returns the conditions of an option --run, with a further one such as `interface=eth0`."""
    return f"{given},{condition}" if given else condition


def _several_runs(column: Column, values: list[Any], options: ReadOptions) -> str:
    """Returns the error message about runs at the same time."""
    examples = ", ".join(str(value) for value in values[:5])
    run = shlex.quote(with_condition(options.run, f"{column.name}={values[0]}"))
    return (
        f'several runs at the same time, which "{column.name}" tells apart ({examples}): --run {run} '
        "reads one of them (run in a scenario file)"
    )


def check_counters(
    frame: pd.DataFrame,
    columns: list[Column],
    roles: Roles,
    amounts: NDArray[np.float64],
    options: ReadOptions,
) -> None:
    """Checks whether amounts are the counters of several devices.

    Raises:
        CelltcpError: if so; the message names the option that chooses one.
    """
    import pandas as pd

    for column in columns:
        is_unused = column.position in frame and column.position not in (roles.time, roles.clock)
        if column.is_number or not is_unused:
            continue
        codes, values = pd.factorize(frame[column.position].to_numpy())
        if 1 < len(values) <= min(_MAX_DEVICES, len(codes) // 2) and all(
            is_counter(amounts[codes == code]) for code in range(len(values))
        ):
            raise CelltcpError(_several_runs(column, list(values), options))


def check_turns(frame: pd.DataFrame, columns: list[Column], roles: Roles, options: ReadOptions) -> None:
    """Checks whether rows are of several series in turn, such as tests of one server after another.

    Raises:
        CelltcpError: if so; the message names the options that decide it.
    """
    import pandas as pd

    if options.column is not None:
        return
    for column in columns:
        if column.is_number or column.position not in frame or not may_identify_runs(column):
            continue
        if column.position in (roles.time, roles.clock, roles.rate):
            continue
        codes, values = pd.factorize(frame[column.position].head(_MAX_RUNS).to_numpy())
        count = len(values)
        has_turns = 1 < count <= min(_MAX_DEVICES, len(codes) // _MIN_TURNS)
        if has_turns and (codes == np.arange(len(codes)) % count).all():
            run = shlex.quote(with_condition(options.run, f"{column.name}={values[0]}"))
            examples = ", ".join(map(str, values[:5]))
            raise CelltcpError(
                f'the rows are of several series in turn, which "{column.name}" tells apart '
                f"({examples}): --run {run} reads one of them, --column TIME,RATE all (run and column "
                "in a scenario file)"
            )


def only_run(frame: pd.DataFrame, options: ReadOptions, dialect: Dialect) -> pd.DataFrame:
    """Returns the rows of the run that the options choose.

    Raises:
        CelltcpError: if there is no such row.
    """
    names = [name.lower() for name in dialect.names]
    for column, value in options.wanted_runs():
        texts = frame[names.index(column.lower())].astype("string").str.strip().str.removesuffix(".0")
        is_chosen = texts == value
        if value.lower() in MISSING:
            is_chosen = texts.isna() | texts.str.lower().isin(MISSING)
        chosen = frame[is_chosen.to_numpy(dtype=bool, na_value=False)]
        if not len(chosen):
            known = [str(value) for value in texts.dropna().unique()[:12]]
            raise CelltcpError(f'run: no row has "{value}" in {column}; allowed: {", ".join(known)}')
        frame = chosen.reset_index(drop=True)
    return frame


def runs_of(
    frame: pd.DataFrame,
    columns: list[Column],
    roles: Roles,
    options: ReadOptions,
    times: Times,
    timed: Rows,
) -> NDArray[np.int64] | None:
    """Returns the number of the run of each row, by a column that tells why times fall or repeat.

    The result is None if times rise, or no column tells that.

    Raises:
        CelltcpError: if runs are at the same time.
    """
    import pandas as pd

    ns = times.ns[timed]
    after, before = ns[1:], ns[:-1]
    if all_rows(len(after), lambda rows: after[rows] > before[rows]):
        return None
    for column in columns:
        if column.position not in frame or column.position in (roles.time, roles.clock, roles.rate):
            continue
        if not may_identify_runs(column):
            continue
        codes, values = pd.factorize(frame[column.position].to_numpy()[timed])
        if not 1 < len(values) <= min(_MAX_RUNS, len(ns) // 2):
            continue
        order = np.lexsort((np.arange(len(ns)), codes))
        is_same_run = np.diff(codes[order]) == 0
        if not (np.diff(ns[order])[is_same_run] > 0).all():
            continue
        changes = int((np.diff(codes) != 0).sum())
        if changes == len(values) - 1:
            return np.asarray(codes, dtype=np.int64)
        raise CelltcpError(_several_runs(column, list(values), options))
    return None
