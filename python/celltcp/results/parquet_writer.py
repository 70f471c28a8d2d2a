"""Parquet files, written at once or batch by batch."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq


class GrowingTable:
    """A Parquet file that is being written."""

    def __init__(self, file: Path, schema: pa.Schema) -> None:
        """Opens the file for rows with this schema."""
        self._writer = pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Appends rows."""
        self._writer.write(rows)

    def close(self) -> None:
        """Completes the file."""
        self._writer.close()

    def abandon(self) -> None:
        """Closes the file, whose folder is about to be removed."""
        # After a full disk closing fails, too; the first error is raised elsewhere.
        with suppress(OSError):
            self._writer.close()


def write_table(table: pa.Table, file: Path | IO[bytes]) -> None:
    """Writes a whole table, with checksums of its pages."""
    pq.write_table(table, file, compression="zstd", write_page_checksum=True)
