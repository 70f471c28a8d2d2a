"""Tables of a campaign, in memory or in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from celltcp._core import CelltcpError, result_tables
from celltcp.files.atomic_write import name_in_errors
from celltcp.results.checked import read_checked
from celltcp.results.folder import KINDS, LOG, META, RUNS, kind_in, prepare_folder
from celltcp.results.manifest import Manifest, manifest_of
from celltcp.results.parquet_writer import write_table
from celltcp.results.publishing import is_interrupted, publish
from celltcp.results.working import staging

#: Tables of a campaign, each a Parquet file.
TABLES = tuple(table.name for table in result_tables())
#: Tables that exist only if something wrote rows to them.
OPTIONAL = tuple(table.name for table in result_tables() if table.optional)
#: Tables that a folder of results may lack.
_DISPENSABLE = ("samples", *OPTIONAL)
#: Files of these.
DISPENSABLE_FILES = tuple(f"{name}.parquet" for name in _DISPENSABLE)


class StoredTables(Mapping[str, pa.Table]):
    """Tables in a folder; each is read when it is asked for, and not kept."""

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


@dataclass(repr=False)
class Results:
    """All tables of a campaign and how it was made."""

    tables: Mapping[str, pa.Table]
    about: dict[str, Any] = field(default_factory=dict)
    #: Whether the folder had all of it already, and nothing was run.
    is_repeat: bool = False

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {len(table)}" for name, table in self.tables.items())
        return f"<Results {self.about.get('name', 'of no known origin')}; rows: {rows}>"

    def save(self, folder: str | Path) -> Path:
        """Writes one Parquet file per table; each holds the scenario, versions and seeds.

        Raises:
            CelltcpError: if the folder cannot be written.
        """
        target = prepare_folder(folder)
        if isinstance(self.tables, StoredTables) and self.tables.folder.samefile(target):
            return target
        with name_in_errors(target), staging(target) as staged:
            self.publish(staged, target)
        return target

    def publish(self, staged: Path, folder: Path) -> None:
        """Writes the tables into a staging folder, beside those that are there, and publishes all.

        Args:
            staged: staging folder; a table that is in it already is not written again.
            folder: folder of the results.
        """
        meta = {META: json.dumps(self.about, sort_keys=True).encode()}
        for name, table in self.tables.items():
            file = staged / f"{name}.parquet"
            if not file.exists():
                known = table.schema.metadata or {}
                write_table(table.replace_schema_metadata({**known, **meta}), file)
        publish(staged, folder, RUNS, self.about, DISPENSABLE_FILES)

    @property
    def radio(self) -> pa.Table:
        """The log of the radio.

        Raises:
            CelltcpError: if none was kept.
        """
        if "radio" not in self.tables:
            raise CelltcpError(
                f"{self.about['name']}: these results hold no log of the radio; the option --radio-log "
                "keeps one, as does radio.log in a scenario"
            )
        return self.tables["radio"]

    @property
    def decisions(self) -> pa.Table:
        """The decisions of selectors.

        Raises:
            CelltcpError: if nothing was selected.
        """
        return self._selected("decisions")

    @property
    def estimates(self) -> pa.Table:
        """The estimates of selectors.

        Raises:
            CelltcpError: if nothing was selected.
        """
        return self._selected("estimates")

    @property
    def legs(self) -> pa.Table:
        """The legs of split hosts.

        Raises:
            CelltcpError: if no connection was split.
        """
        if "legs" not in self.tables:
            raise CelltcpError(
                f"{self.about['name']}: these results hold no legs, since no connection was split; "
                "--middlebox of compare and path.middleboxes of a scenario place split hosts"
            )
        return self.tables["legs"]

    def _selected(self, table: str) -> pa.Table:
        if table not in self.tables:
            raise CelltcpError(
                f"{self.about['name']}: these results hold no {table}, since no congestion control was "
                "selected; --cca auto:policy=rules selects, auto:policy=fixed,cca=cubic only watches"
            )
        return self.tables[table]


def read_results(folder: str | Path) -> Results:
    """Reads what `Results.save` wrote.

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
            f"allowed here: {KINDS[RUNS]}"
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
    return Results(tables, json.loads(meta[META]))


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
