"""Columns of Arrow tables as NumPy arrays and rows, and back, without pandas; sums and means of groups.

`pa.array`, `pa.scalar` and `to_numpy` import pandas, which takes longer than a short command. This
module replaces them.

The same rows in the same order have the same sums to the last bit. If the rows of each group lie
together, in the order of the groups, NumPy adds them up in pairs. Otherwise, and in columns with NaN,
each group is added up row by row with compensation (Kahan), without the NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)


def numbers(column: pa.ChunkedArray[Any]) -> NDArray[Any]:
    """Returns a column of numbers; if some are null, as floating-point numbers with NaN for null."""
    if column.null_count:
        column = column.cast(pa.float64())
    parts = [_to_numpy(chunk) for chunk in column.chunks]
    if not parts:
        # Without chunks, the type of the numbers does not matter.
        return np.empty(0, np.uint32)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _to_numpy(chunk: pa.Array[Any]) -> NDArray[Any]:
    if not chunk.null_count:
        result: NDArray[Any] = np.from_dlpack(chunk)
        return result
    buffer: Any = chunk.buffers()[1]
    data = np.frombuffer(buffer, np.float64)[chunk.offset : chunk.offset + len(chunk)]
    is_valid = np.from_dlpack(chunk.is_valid().cast(pa.uint8()))
    return np.where(is_valid, data, math.nan)


def array_of(values: NDArray[Any]) -> pa.Array[Any]:
    """Returns numbers as an Arrow array of their type."""
    data: Any = np.ascontiguousarray(values)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(data)]
    )


def text_array_of(texts: Sequence[str]) -> pa.Array[Any]:
    """Returns texts as an Arrow array."""
    encoded = [text.encode() for text in texts]
    ends: Any = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def rows_of(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yields the values of some columns, row by row; None for null."""
    return zip(*(table[name].to_pylist() for name in names), strict=True)


def records(table: pa.Table) -> list[dict[str, Any]]:
    """Returns the rows of a table; numbers that are null are NaN, as in a data frame."""
    columns = [_values(table.column(index)) for index in range(table.num_columns)]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.ChunkedArray[Any]) -> list[Any]:
    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    return numbers(column).tolist() if is_number else column.to_pylist()


def connection_keys(table: pa.Table) -> NDArray[np.int64]:
    """Returns the key of each row's connection, a number made of its `run` and `flow`."""
    run, flow = (numbers(table[name]).astype(np.int64) for name in ("run", "flow"))
    return (run << 32) | flow


def values_of(
    requested_keys: NDArray[np.int64], keys: NDArray[np.int64], values: NDArray[Any], missing: float
) -> NDArray[Any]:
    """Returns the value of each requested key, or `missing`; `values` belong to the unique `keys`."""
    # The index of other keys is -1, which selects the last value.
    result: NDArray[Any] = np.append(values, missing)[indices_of(requested_keys, keys)]
    return result


def distinct(
    keys: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Returns the distinct keys in rising order, their first indices, and the index of each row's key.

    `np.unique` returns the same, but imports masked arrays, which takes longer than a small table.
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_first = np.concatenate((np.ones(min(1, len(keys)), bool), ordered[1:] != ordered[:-1]))
    group = np.empty(len(keys), np.intp)
    group[order] = np.cumsum(is_first) - 1
    return ordered[is_first], order[is_first], group


def indices_of(requested_keys: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Returns the index of each requested key in `keys`, which are unique; -1 if it is missing."""
    if not len(keys):
        return np.full(len(requested_keys), -1, np.intp)
    order = np.argsort(keys)
    indices = order[np.minimum(np.searchsorted(keys, requested_keys, sorter=order), len(keys) - 1)]
    return np.where(keys[indices] == requested_keys, indices, -1)


def group_sums(values: NDArray[Any], groups: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Returns the sum of each group, 0 without values; `groups` are indices from 0 to `count - 1`."""
    if np.isnan(values).any() or (np.diff(groups) < 0).any():
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=count))
        parts = np.split(values[order], ends[:-1])
        return np.array([_kahan_sum(part.tolist()) for part in parts], np.float64)
    sums = np.zeros(count)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    sums[groups[starts]] = np.add.reduceat(values, starts) if len(starts) else ()
    return sums


def group_means(values: NDArray[Any], groups: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Returns the mean of each group from its `group_sums`; NaN for groups without a value."""
    sums = group_sums(values, groups, count)
    value_counts = np.bincount(groups[~np.isnan(values)], minlength=count)
    means = np.full(count, math.nan)
    np.divide(sums, value_counts, out=means, where=value_counts > 0)
    return means


def sums_by(keys: Sequence[Key], values: Sequence[float]) -> dict[Key, float]:
    """Returns the sum of the values of each key, in the order of their first occurrence."""
    return _aggregate_by(group_sums, keys, values)


def means_by(keys: Sequence[Key], values: Sequence[float]) -> dict[Key, float]:
    """Returns the mean of the values of each key (NaN if none), in the order of their occurrence."""
    return _aggregate_by(group_means, keys, values)


def _aggregate_by(
    aggregate: Callable[[NDArray[Any], NDArray[Any], int], NDArray[np.float64]],
    keys: Sequence[Key],
    values: Sequence[float],
) -> dict[Key, float]:
    indices = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    groups = np.array([indices[key] for key in keys], np.intp)
    result = aggregate(np.array(values, np.float64), groups, len(indices))
    return dict(zip(indices, result.tolist(), strict=True))


def _kahan_sum(values: Iterable[float]) -> float:
    total = compensation = 0.0
    for value in values:
        if math.isnan(value):
            continue
        summand = value - compensation
        new_total = total + summand
        compensation = (new_total - total) - summand
        # An infinite total has no error to compensate.
        compensation = 0.0 if math.isnan(compensation) else compensation
        total = new_total
    return total
