"""Tables of a campaign, in memory or in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import CelltcpError, result_tables
from celltcp.results.folder import KINDS, META, RUNS, kind_in, prepare_folder, write_atomically

#: Tables of a campaign, each a Parquet file.
TABLES = tuple(table.name for table in result_tables())
#: Tables that exist only if something wrote rows to them.
OPTIONAL = tuple(table.name for table in result_tables() if table.optional)
#: Tables that a folder of results may lack.
_DISPENSABLE = ("samples", *OPTIONAL)


class StoredTables(Mapping[str, pa.Table]):
    """Tables in a folder; each is read when it is asked for, and not kept."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self._names = tuple(names)

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        return _read(self.folder / f"{name}.parquet")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(repr=False)
class Results:
    """All tables of a campaign and how it was made."""

    tables: Mapping[str, pa.Table]
    about: dict[str, Any] = field(default_factory=dict)
    #: Tables that are complete on disk already; in memory is a thinned copy.
    written: frozenset[str] = frozenset()
    #: Whether the folder had all of it already, and nothing was run.
    is_repeat: bool = False

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {len(table)}" for name, table in self.tables.items())
        return f"<Results {self.about.get('name', 'of no known origin')}; rows: {rows}>"

    def save(self, folder: str | Path) -> Path:
        """Writes one Parquet file per table; each holds the scenario, versions and seeds."""
        target = prepare_folder(folder)
        if isinstance(self.tables, StoredTables) and self.tables.folder.samefile(target):
            return target
        meta = {META: json.dumps(self.about, sort_keys=True).encode()}
        for name, table in self.tables.items():
            if name in self.written:
                continue
            known = table.schema.metadata or {}
            write_atomically(table.replace_schema_metadata({**known, **meta}), target, name)
        for name in _DISPENSABLE:
            if name not in self.tables:
                (target / f"{name}.parquet").unlink(missing_ok=True)
        return target

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
    tables = {}
    for name in TABLES:
        file = source / f"{name}.parquet"
        if not file.is_file():
            if name in _DISPENSABLE:
                continue
            raise CelltcpError(f"{file}: missing; {source} holds no finished results")
        tables[name] = _read(file)
    meta = tables["runs"].schema.metadata or {}
    if META not in meta:
        raise CelltcpError(f"{source / 'runs.parquet'}: was not written by celltcp")
    return Results(tables, json.loads(meta[META]))


def _read(file: Path) -> pa.Table:
    try:
        return pq.read_table(file)
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise CelltcpError(f"{file}: damaged or cut short: {reason}") from None
