"""Tables as CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc

from celltcp.results import Results
from celltcp.written import whole_file


def write_csv(results: Results, folder: Path) -> list[Path]:
    """One CSV file per table."""
    files = []
    for name, table in results.tables.items():
        file = folder / f"{name}.csv"
        with whole_file(file) as partial:
            pc.write_csv(_plain(table), partial)
        files.append(file)
    return files


def write_parquet(results: Results, folder: Path) -> list[Path]:
    """One Parquet file per table, with scenario, versions and seeds inside."""
    results.save(folder)
    return [folder / f"{name}.parquet" for name in results.tables]


def _plain(table: pa.Table) -> pa.Table:
    """The table without dictionaries, which the CSV writer does not take."""
    columns = [
        column.cast(field.type.value_type) if pa.types.is_dictionary(field.type) else column
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)
