"""Merged tables: those of different runs as one, with new numbers of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celltcp.results.columns import array_of, numbers, text_array_of
from celltcp.results.tables import TABLES


def renumbered(table: pa.Table, new_numbers: Mapping[int, int]) -> pa.Table:
    """Returns the rows of some runs of a table with their new numbers."""
    lookup = np.full(max(new_numbers) + 1, -1, np.int64)
    lookup[list(new_numbers)] = list(new_numbers.values())
    old = numbers(table["run"])
    is_in_range = old < len(lookup)
    new = np.where(is_in_range, lookup[np.where(is_in_range, old, 0)], -1)
    selected = table.take(array_of(np.flatnonzero(new >= 0)))
    runs = array_of(new[new >= 0].astype(np.uint32))
    return selected.set_column(0, selected.schema.field(0), runs)


def merged(parts: Sequence[Mapping[str, pa.Table]], labels: list[str]) -> dict[str, pa.Table]:
    """Joins tables of different runs, in the order of the runs' numbers."""
    label_array = text_array_of(labels)
    joined = {}
    for name in TABLES:
        # Finished results lack optional tables without rows.
        selected = [part[name] for part in parts if name in part]
        if not selected:
            continue
        first = selected[0]
        table = pa.concat_tables(map(_without_dictionaries, selected))
        table = table.take(pc.sort_indices(table["run"]))
        for index in _label_columns(first):
            texts = table.column(index).combine_chunks()
            indices = pc.index_in(texts, value_set=label_array)
            encoded = pa.DictionaryArray.from_arrays(indices, label_array)
            table = table.set_column(index, first.schema.field(index), encoded)
        joined[name] = table
    return joined


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """Returns the table with labels as texts."""
    for index in _label_columns(table):
        name = table.schema.field(index).name
        table = table.set_column(index, name, table.column(index).cast(pa.string()))
    return table


def _label_columns(table: pa.Table) -> list[int]:
    """Returns the indices of columns whose values are labels of runs."""
    return [index for index, field in enumerate(table.schema) if pa.types.is_dictionary(field.type)]
