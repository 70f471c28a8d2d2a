"""Folder collector: writes the tables of a campaign to files as rows arrive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from celltcp.results.folder import META, RUNS, prepare_folder
from celltcp.results.parquet_writer import GrowingTable
from celltcp.results.publishing import publish
from celltcp.results.stored_tables import DISPENSABLE_FILES, StoredTables
from celltcp.results.tables import OPTIONAL, TABLES
from celltcp.results.working import staging


class FolderCollector:
    """Tables written to Parquet files as rows arrive; the files appear once all are complete."""

    def __init__(self, folder: Path, origin: Mapping[str, Any]) -> None:
        """Opens a staging folder for results with this origin."""
        self._folder = prepare_folder(folder)
        self._origin = origin
        self._meta = {META: json.dumps(origin, sort_keys=True).encode()}
        self._tables: dict[str, GrowingTable] = {}
        self._held = ExitStack()
        self._staged = self._held.enter_context(staging(self._folder))

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Appends the rows of some runs."""
        for name in TABLES:
            if name not in tables or (name in OPTIONAL and not len(tables[name])):
                continue
            table = tables[name]
            metadata = table.schema.metadata or {}
            table = table.replace_schema_metadata({**metadata, **self._meta})
            if name not in self._tables:
                self._tables[name] = GrowingTable(self._staged / f"{name}.parquet", table.schema)
            self._tables[name].write(table)

    def finish(self) -> StoredTables:
        """Replaces the files of earlier results by the new ones."""
        for table in self._tables.values():
            table.close()
        publish(self._staged, self._folder, RUNS, self._origin, DISPENSABLE_FILES)
        self._held.close()
        return StoredTables(self._folder, [name for name in TABLES if name in self._tables])

    def abandon(self) -> None:
        """Removes unfinished files."""
        for table in self._tables.values():
            table.abandon()
        self._held.close()
