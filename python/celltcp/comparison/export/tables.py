"""Export of tables as CSV and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from celltcp.files.atomic_write import atomic_write
from celltcp.files.replacing import FileKind, check_output
from celltcp.results.columns import numbers
from celltcp.results.folder_lock import check_files
from celltcp.results.tables import TABLES, Results

#: Significant digits of numbers in CSV files: sums of measured values are not exact beyond them.
_DIGITS = 12


def write_csv(results: Results, folder: Path) -> list[Path]:
    """Writes a CSV file per table with rows, with the seed of each run and 12 significant digits."""
    files = {name: folder / f"{name}.csv" for name, table in results.tables.items() if len(table)}
    seeds = results.tables["runs"].select(["run", "seed"])
    for name, file in files.items():
        check_output(file, _kind(results.tables[name]))
    for name, file in files.items():
        with atomic_write(file) as partial:
            csv.write_csv(_without_dictionaries(_with_seed(results.tables[name], seeds)), partial)
    return list(files.values())


def write_parquet(results: Results, folder: Path) -> list[Path]:
    """Writes a Parquet file per table, with scenario, versions and seeds as metadata."""
    check_files(folder, [f"{name}.parquet" for name in TABLES], "give another folder")
    results.save(folder)
    return [folder / f"{name}.parquet" for name in results.tables]


def _kind(table: pa.Table) -> FileKind:
    """Returns the kind of the CSV files of a table, by their first columns."""
    names = table.column_names
    # Earlier versions wrote files without the seed.
    heads = [_names_with_seed(names), names]
    starts = (",".join(f'"{name}"' for name in head[:5]).encode() for head in heads)
    return FileKind("CSV of this table", tuple(starts))


def _names_with_seed(names: list[str]) -> list[str]:
    """Returns the columns of a table of runs, with the seed after the run."""
    if "seed" in names or "run" not in names:
        return names
    column_index = names.index("run") + 1
    return [*names[:column_index], "seed", *names[column_index:]]


def _with_seed(table: pa.Table, seeds: pa.Table) -> pa.Table:
    """Returns a table with the seed of each run, from a table of `run` and `seed`.

    A table without runs, or with seeds, is returned as it is.
    """
    names = _names_with_seed(table.column_names)
    if names == table.column_names:
        return table
    indices = pc.index_in(table["run"], value_set=seeds["run"].combine_chunks())
    return table.add_column(names.index("seed"), "seed", seeds["seed"].take(indices))


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """Returns a table for the CSV writer: without dictionaries, and with rounded numbers."""
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_dictionary(field.type):
            columns.append(column.cast(field.type.value_type))
        elif pa.types.is_floating(field.type):
            columns.append(_rounded(column))
        else:
            columns.append(column)
    return pa.table(columns, names=table.column_names)


def _rounded(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Returns numbers with `_DIGITS` significant digits."""
    values = numbers(column).astype(np.float64)
    is_rounded = np.isfinite(values) & (values != 0)
    powers = np.zeros_like(values)
    powers[is_rounded] = _DIGITS - 1 - np.floor(np.log10(np.abs(values[is_rounded])))
    up, down = 10.0 ** np.maximum(powers, 0), 10.0 ** np.maximum(-powers, 0)
    # Powers of ten are exact up to the 22nd. The result then is the double nearest to the decimal text.
    result = np.where(is_rounded, np.round(values * up / down) / up * down, values)
    return pa.chunked_array([pa.array(result, mask=column.is_null().to_numpy())])
