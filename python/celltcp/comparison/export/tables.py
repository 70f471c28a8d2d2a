"""Tables as CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc

from celltcp.files.atomic_write import atomic_write
from celltcp.files.replacing import FileKind, check_output
from celltcp.results.folder_lock import check_files
from celltcp.results.tables import TABLES, Results


def write_csv(results: Results, folder: Path) -> list[Path]:
    """One CSV file per table."""
    files = {name: folder / f"{name}.csv" for name in results.tables}
    for name, file in files.items():
        check_output(file, _kind(results.tables[name]))
    for name, file in files.items():
        with atomic_write(file) as partial:
            pc.write_csv(_plain(results.tables[name]), partial)
    return list(files.values())


def write_parquet(results: Results, folder: Path) -> list[Path]:
    """One Parquet file per table, with scenario, versions and seeds inside."""
    check_files(folder, [f"{name}.parquet" for name in TABLES], "give another folder")
    results.save(folder)
    return [folder / f"{name}.parquet" for name in results.tables]


def _kind(table: pa.Table) -> FileKind:
    """Returns the kind of a CSV file with the columns of a table, which go by their first ones."""
    return FileKind(
        "CSV of this table", (",".join(f'"{name}"' for name in table.column_names[:5]).encode(),)
    )


def _plain(table: pa.Table) -> pa.Table:
    """The table without dictionaries, which the CSV writer does not take."""
    columns = [
        column.cast(field.type.value_type) if pa.types.is_dictionary(field.type) else column
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)
