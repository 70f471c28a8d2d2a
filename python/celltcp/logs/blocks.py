"""Blocks of rows: long columns in parts that fit into a processor's cache, on all cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from celltcp._core import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

T = TypeVar("T")
Number = TypeVar("Number", np.int64, np.float64)

#: Rows of a block: several arrays of doubles with this length fit into a cache of 2 MB.
_ROWS = 1 << 15
#: Minimum number of blocks for which threads are worth their start.
_MIN_THREADED_BLOCKS = 64
#: Number of rows in a sample of a longer column, and number of its blocks.
_SAMPLE_ROWS = 1 << 20
_SAMPLE_BLOCKS = 256


def map_blocks(count: int, work: Callable[[slice], T]) -> list[T]:
    """Returns the results of `work` for each block of `count` rows, in their order."""
    blocks = [slice(start, min(start + _ROWS, count)) for start in range(0, count, _ROWS)]
    if len(blocks) < _MIN_THREADED_BLOCKS:
        return [work(block) for block in blocks]
    # NumPy works without Python's lock. A thread has many blocks, as its start takes as long as one.
    length = -(-len(blocks) // available_threads())
    parts = [blocks[start : start + length] for start in range(0, len(blocks), length)]
    with ThreadPoolExecutor(len(parts)) as threads:
        return list(chain.from_iterable(threads.map(lambda part: [*map(work, part)], parts)))


def all_rows(count: int, condition: Callable[[slice], NDArray[np.bool_]]) -> bool:
    """Returns whether a condition holds in all of `count` rows."""
    return all(map_blocks(count, lambda rows: bool(condition(rows).all())))


def steps_of(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the differences between neighbours."""
    after, before = values[1:], values[:-1]
    result = np.empty_like(before)
    map_blocks(len(result), lambda rows: np.subtract(after[rows], before[rows], out=result[rows]))
    return result


def sample(values: NDArray[Number]) -> NDArray[Number]:
    """Returns a column, or a sample of its rows with nearly the same quantiles.

    They are blocks of neighbours: single rows at equal distances would have one phase of a periodic
    column.
    """
    if len(values) <= _SAMPLE_ROWS:
        return values
    length = _SAMPLE_ROWS // _SAMPLE_BLOCKS
    starts = np.linspace(0, len(values) - length, _SAMPLE_BLOCKS, dtype=np.int64)
    return np.concatenate([values[start : start + length] for start in starts.tolist()])


def concatenate(arrays: list[NDArray[Number]]) -> NDArray[Number]:
    """Returns arrays one after another; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
