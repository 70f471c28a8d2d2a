"""Sample writer: writes the samples of a long run while it continues."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.results.columns import array_of, text_array_of
from celltcp.results.parquet_writer import GrowingTable

#: Approximate number of rows of each batch that stay in memory, for pictures.
_ROWS_IN_MEMORY = 80


class SampleWriter:
    """Parquet file with the samples of one run, in a staging folder."""

    def __init__(self, folder: Path, cca: str, about: Mapping[str, Any]) -> None:
        """Opens the file for the samples of a run with this origin and congestion control."""
        self._file = folder / "samples.parquet"
        self._cca = cca
        self._meta = {b"celltcp": json.dumps(about, sort_keys=True).encode()}
        self._table: GrowingTable | None = None
        self._in_memory: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Appends the rows; a regular subset of them stays in memory, too."""
        step = max(1, len(batch) // _ROWS_IN_MEMORY)
        indices = np.union1d(np.arange(0, len(batch), step), _largest_windows(batch))
        self._in_memory.append(batch.take(array_of(indices)))
        numbered = number_rows(pa.Table.from_batches([batch]), 0, self._cca)
        if self._table is None:
            self._table = GrowingTable(self._file, numbered.schema.with_metadata(self._meta))
        self._table.write(numbered.replace_schema_metadata(self._meta))

    def close(self) -> pa.Table:
        """Completes the file; returns the rows in memory."""
        if self._table is not None:
            self._table.close()
        return pa.Table.from_batches(self._in_memory)

    def abandon(self) -> None:
        """Closes the file, whose folder is about to be removed."""
        if self._table is not None:
            self._table.abandon()


def _largest_windows(batch: pa.RecordBatch) -> NDArray[np.int64]:
    """Returns the indices of the rows with the largest window of each connection."""
    flow, cwnd = (np.from_dlpack(batch[name]) for name in ("flow", "cwnd"))
    order = np.lexsort((cwnd, flow))
    is_last = np.append(flow[order][1:] != flow[order][:-1], bool(len(order)))
    last: NDArray[np.int64] = order[is_last[: len(order)]]
    return last


def number_rows(table: pa.Table, run: int, cca: str) -> pa.Table:
    """Returns the table with columns for the run and its congestion control in front."""
    numbered = table.add_column(
        0, pa.field("run", pa.uint32()), array_of(np.full(len(table), run, np.uint32))
    )
    if "cca" not in table.column_names:
        names = pa.DictionaryArray.from_arrays(
            array_of(np.zeros(len(table), np.int32)), text_array_of([cca])
        )
        numbered = numbered.add_column(1, pa.field("cca", names.type), names)
    return numbered
