"""Columns of Arrow tables as NumPy arrays and rows, and back, without pandas; sums and means of groups.

`pa.array`, `pa.scalar` and `to_numpy` import pandas, which takes longer than a short command. The
functions of this module in their place do not.

Sums are the same to the last bit wherever they are computed: groups that lie one after another are
added up by NumPy, in pairs. All others are added up in their order with compensation (Kahan), as are
columns with NaN, which are left out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)


def numbers(column: pa.ChunkedArray[Any]) -> NDArray[Any]:
    """Returns a column of numbers; where some are null, all are floating-point numbers, with NaN."""
    if column.null_count:
        column = column.cast(pa.float64())
    parts = [_plain(chunk) for chunk in column.chunks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint32), *parts])


def _plain(chunk: pa.Array[Any]) -> NDArray[Any]:
    if not chunk.null_count:
        result: NDArray[Any] = np.from_dlpack(chunk)
        return result
    buffer: Any = chunk.buffers()[1]
    data = np.frombuffer(buffer, np.float64)[chunk.offset : chunk.offset + len(chunk)]
    is_known = np.from_dlpack(chunk.is_valid().cast(pa.uint8()))
    return np.where(is_known, data, math.nan)


def array_of(values: NDArray[Any]) -> pa.Array[Any]:
    """Returns numbers as an Arrow array of their type."""
    kind = pa.from_numpy_dtype(values.dtype)
    data: Any = np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(data)])


def text_array_of(texts: Sequence[str]) -> pa.Array[Any]:
    """Returns texts as an Arrow array."""
    encoded = [text.encode() for text in texts]
    ends: Any = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def rows_of(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yields the values of these columns for each row; None for null."""
    return zip(*(table[name].to_pylist() for name in names), strict=True)


def records(table: pa.Table) -> list[dict[str, Any]]:
    """Returns the rows of a table; numbers that are null are NaN, as in a data frame."""
    columns = [_values(table.column(index)) for index in range(table.num_columns)]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.ChunkedArray[Any]) -> list[Any]:
    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    return numbers(column).tolist() if is_number else column.to_pylist()


def connections(table: pa.Table) -> NDArray[np.int64]:
    """Returns a number for each row that its `run` and `flow` determine."""
    run, flow = (numbers(table[name]).astype(np.int64) for name in ("run", "flow"))
    return (run << 32) | flow


def values_of(
    requested_keys: NDArray[np.int64], known: NDArray[np.int64], values: NDArray[Any], missing: float
) -> NDArray[Any]:
    """Returns the value of each requested key; `missing` for unknown keys.

    Args:
        requested_keys: keys as in a column of `connections`.
        known: keys with a value, unique.
        values: of the known keys.
        missing: value of all others.
    """
    # The last value is that of the place -1.
    result: NDArray[Any] = np.append(values, missing)[places_of(requested_keys, known)]
    return result


def distinct(
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Returns the distinct keys in rising order, their first places, and the number of each row's key.

    NumPy's `unique` gives the same, but imports masked arrays, which takes longer than a small table.
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_first = np.concatenate((np.ones(min(1, len(keys)), bool), ordered[1:] != ordered[:-1]))
    group = np.empty(len(keys), np.intp)
    group[order] = np.cumsum(is_first) - 1
    return ordered[is_first], order[is_first], group


def places_of(requested_keys: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.intp]:
    """Returns the index of each requested key among the known ones (unique); -1 without one."""
    if not len(known):
        return np.full(len(requested_keys), -1, np.intp)
    order = np.argsort(known)
    result = order[np.minimum(np.searchsorted(known, requested_keys, sorter=order), len(known) - 1)]
    return np.where(known[result] == requested_keys, result, -1)


def group_sums(values: NDArray[Any], groups: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Returns the sum of each group; zero for those without a value.

    Args:
        values: what is added up.
        groups: number of the group of each value, from 0 to `count - 1`.
        count: of groups.
    """
    if np.isnan(values).any() or (np.diff(groups) < 0).any():
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=count))
        parts = np.split(values[order], ends[:-1])
        return np.array([_compensated(part.tolist()) for part in parts], np.float64)
    sums = np.zeros(count)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sums[groups[starts]] = np.add.reduceat(values, starts) if len(starts) else ()
    return sums


def group_means(values: NDArray[Any], groups: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Returns the mean of each group, as `group_sums` adds up; NaN for those without a value."""
    sums = group_sums(values, groups, count)
    known = np.bincount(groups[~np.isnan(values)], minlength=count)
    means = np.full(count, math.nan)
    np.divide(sums, known, out=means, where=known > 0)
    return means


def sums_by(keys: Sequence[Key], values: Sequence[float]) -> dict[Key, float]:
    """Returns the sum of the values of each key, in the order in which the keys first come."""
    known = list(dict.fromkeys(keys))
    return _by(known, group_sums(np.array(values, np.float64), _numbered(keys, known), len(known)))


def means_by(keys: Sequence[Key], values: Sequence[float]) -> dict[Key, float]:
    """Returns the mean of the values of each key, in the order in which the keys first come.

    NaN where none is known.
    """
    known = list(dict.fromkeys(keys))
    return _by(known, group_means(np.array(values, np.float64), _numbered(keys, known), len(known)))


def _numbered(keys: Sequence[Key], known: Sequence[Key]) -> NDArray[np.intp]:
    numbers = {key: index for index, key in enumerate(known)}
    return np.array([numbers[key] for key in keys], np.intp)


def _by(known: Sequence[Key], result: NDArray[np.float64]) -> dict[Key, float]:
    return dict(zip(known, result.tolist(), strict=True))


def _compensated(values: Iterable[float]) -> float:
    total = lost = 0.0
    for value in values:
        if math.isnan(value):
            continue
        gain = value - lost
        after = total + gain
        lost = (after - total) - gain
        # Beyond infinity there is nothing to compensate.
        lost = 0.0 if math.isnan(lost) else lost
        total = after
    return total
