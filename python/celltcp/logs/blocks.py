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
#: Maximum rows of a column that is its own sample, and the number of blocks in samples of longer ones.
_MAX_UNSAMPLED_ROWS = 1 << 20
_SAMPLE_BLOCKS = 256


def map_blocks(count: int, work: Callable[[slice], T]) -> list[T]:
    """Returns the results of `work` for each block of `count` rows, in their order."""
    blocks = [slice(begin, min(begin + _ROWS, count)) for begin in range(0, count, _ROWS)]
    if len(blocks) < _MIN_THREADED_BLOCKS:
        return [work(block) for block in blocks]
    # NumPy works without Python's lock. A thread has many blocks, as its start takes as long as one.
    share = -(-len(blocks) // available_threads())
    shares = [blocks[begin : begin + share] for begin in range(0, len(blocks), share)]
    with ThreadPoolExecutor(len(shares)) as threads:
        return list(chain.from_iterable(threads.map(lambda share: [*map(work, share)], shares)))


def holds(count: int, condition: Callable[[slice], NDArray[np.bool_]]) -> bool:
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

    They are blocks of neighbours, as single rows at equal distances would see one phase of what is
    periodic.
    """
    if len(values) <= _MAX_UNSAMPLED_ROWS:
        return values
    begins = np.linspace(
        0, len(values) - _MAX_UNSAMPLED_ROWS // _SAMPLE_BLOCKS, _SAMPLE_BLOCKS, dtype=np.int64
    )
    return np.concatenate(
        [values[begin : begin + _MAX_UNSAMPLED_ROWS // _SAMPLE_BLOCKS] for begin in begins.tolist()]
    )


def joined(arrays: list[NDArray[Number]]) -> NDArray[Number]:
    """Returns arrays one after another; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
