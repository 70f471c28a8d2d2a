"""Growing tables: Parquet files that are written batch by batch, and appear when they are whole."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


class GrowingTable:
    """A Parquet file that is being written."""

    def __init__(self, file: Path, schema: pa.Schema) -> None:
        """Takes the file, and the schema of all rows to come."""
        self._file = file
        self._partial = file.with_name(f".{file.name}.partial")
        self._writer = pq.ParquetWriter(self._partial, schema, compression="zstd")

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Appends rows."""
        self._writer.write(rows)

    def close(self) -> None:
        """Makes the file appear."""
        self._writer.close()
        self._partial.replace(self._file)

    def abandon(self) -> None:
        """Leaves nothing behind."""
        # A full disk fails again here, and is told already.
        with suppress(OSError):
            self._writer.close()
        self._partial.unlink(missing_ok=True)
