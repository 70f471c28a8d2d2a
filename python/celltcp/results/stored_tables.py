"""Tables of a campaign in a folder: saved, and read at once or lazily."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from celltcp._core import CelltcpError
from celltcp.files.atomic_write import name_in_errors
from celltcp.results.checked import read_checked
from celltcp.results.folder import KINDS, LOG, META, RUNS, kind_in, prepare_folder
from celltcp.results.manifest import Manifest, manifest_of
from celltcp.results.parquet_writer import write_table
from celltcp.results.publishing import is_interrupted, publish
from celltcp.results.tables import OPTIONAL, TABLES
from celltcp.results.working import staging

#: Tables that a folder of results may lack; those of earlier versions lack `limits`.
_DISPENSABLE = ("samples", "limits", *OPTIONAL)
#: Files of the dispensable tables.
DISPENSABLE_FILES = tuple(f"{name}.parquet" for name in _DISPENSABLE)


class StoredTables(Mapping[str, pa.Table]):
    """Tables in a folder; each is read on demand, and not cached."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self._names = tuple(names)

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        return read_checked(self.folder / f"{name}.parquet", manifest_of(self.folder))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def save_tables(tables: Mapping[str, pa.Table], about: Mapping[str, Any], folder: str | Path) -> Path:
    """Writes one Parquet file per table; the metadata of each has the origin.

    Raises:
        CelltcpError: if the folder cannot be written.
    """
    target = prepare_folder(folder)
    if isinstance(tables, StoredTables) and tables.folder.samefile(target):
        return target
    with name_in_errors(target), staging(target) as staged:
        publish_tables(tables, about, staged, target)
    return target


def publish_tables(
    tables: Mapping[str, pa.Table], about: Mapping[str, Any], staged: Path, folder: Path
) -> None:
    """Writes tables, unless they are there, to a staging folder, and publishes all files in it."""
    meta = {META: json.dumps(about, sort_keys=True).encode()}
    for name, table in tables.items():
        file = staged / f"{name}.parquet"
        if not file.exists():
            metadata = table.schema.metadata or {}
            write_table(table.replace_schema_metadata({**metadata, **meta}), file)
    publish(staged, folder, RUNS, about, DISPENSABLE_FILES)


def read_tables(folder: str | Path) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Reads the tables that `save_tables` wrote, and their origin.

    Raises:
        CelltcpError: names the file that is missing or damaged.
    """
    source = Path(folder)
    if not source.is_dir():
        raise CelltcpError(f"{source}: there is no such folder")
    kind = kind_in(source)
    if kind not in (None, RUNS):
        raise CelltcpError(
            f"{source}: holds {KINDS[kind]}, whose tables are Parquet files, such as cases.parquet; "
            f"allowed here: {KINDS[RUNS]}; celltcp report {source} shows what it has"
        )
    if is_interrupted(source):
        raise CelltcpError(
            f"{source}: a command was killed while it wrote these results; the same command ends that"
        )
    manifest = manifest_of(source)
    if manifest is None:
        LOG.warning("warning: %s: has no celltcp.json, so its tables are read unchecked", source)
    elif "runs.parquet" not in manifest.files:
        manifest = None
    tables = _read_tables(source, manifest)
    meta = tables["runs"].schema.metadata or {}
    if META not in meta:
        raise CelltcpError(f"{source / 'runs.parquet'}: was not written by celltcp")
    return tables, json.loads(meta[META])


def _read_tables(folder: Path, manifest: Manifest | None) -> dict[str, pa.Table]:
    tables = {}
    for name in TABLES:
        file = folder / f"{name}.parquet"
        if manifest is not None and file.name not in manifest.files:
            continue
        if manifest is None and not file.is_file():
            if name in _DISPENSABLE:
                continue
            raise CelltcpError(f"{file}: missing; {folder} holds no finished results")
        tables[name] = read_checked(file, manifest)
    return tables
