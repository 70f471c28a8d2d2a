"""The tables of a campaign, and the folder that holds them."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import CelltcpError, result_tables

#: Tables of a campaign, each a Parquet file.
TABLES = tuple(table.name for table in result_tables())
#: Those that are there only if something wrote rows.
OPTIONAL = tuple(table.name for table in result_tables() if table.optional)
#: Those that a folder of results need not have.
_DISPENSABLE = ("samples", *OPTIONAL)
_META = b"celltcp"

#: Longest text that goes into the name of a file as it is.
_LONGEST = 100

#: Folder for what is finished while an evaluation of policies or engines goes on.
UNFINISHED = "finished"

#: Results of commands that keep runs.
_RUNS = "runs"

#: What the tables in a folder are, of which some have the same names.
_KINDS = {
    "evaluate": "an evaluation of policies (celltcp select evaluate)",
    "engines": "a comparison of engines (celltcp select engines)",
    UNFINISHED: "what celltcp select evaluate or engines has begun",
    _RUNS: "results of celltcp compare or run",
}

#: What kinds of tables say of how they were made and others do not.
_SIGNS = {"evaluate": "policies", "engines": "requirements"}


@dataclass
class Results:
    """All tables of a campaign and how it was made."""

    tables: dict[str, pa.Table]
    about: dict[str, Any] = field(default_factory=dict)
    #: Tables that are complete on disk already; in memory is a thinned copy.
    written: frozenset[str] = frozenset()

    def save(self, folder: str | Path) -> Path:
        """Writes one Parquet file per table; each holds the scenario, versions and seeds."""
        target = prepare_folder(folder)
        meta = {_META: json.dumps(self.about, sort_keys=True).encode()}
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
        """What selectors chose.

        Raises:
            CelltcpError: if nothing was selected.
        """
        return self._selected("decisions")

    @property
    def estimates(self) -> pa.Table:
        """What selectors saw.

        Raises:
            CelltcpError: if nothing was selected.
        """
        return self._selected("estimates")

    def _selected(self, table: str) -> pa.Table:
        if table not in self.tables:
            raise CelltcpError(
                f"{self.about['name']}: these results hold no {table}, since no congestion control was "
                "selected; --cca auto:policy=rules selects, auto:policy=fixed,cca=cubic only watches"
            )
        return self.tables[table]


def require_own(folder: str | Path, command: str) -> None:
    """Makes sure that a command's tables will not replace those of another that have the same names.

    Args:
        folder: where the tables are to go; it need not be there.
        command: `"evaluate"`, `"engines"`, or one of those that keep runs.

    Raises:
        CelltcpError: if the folder holds what the others keep.
    """
    there = _holds(Path(folder))
    mine = command if command in _KINDS else _RUNS
    begun = there == UNFINISHED and mine != _RUNS
    if there is not None and there != mine and not begun:
        raise CelltcpError(
            f"{folder}: holds {_KINDS[there]}, which the tables of {command} would replace; "
            "allowed: a folder of their own"
        )


def _holds(folder: Path) -> str | None:
    """What a folder has, as `_KINDS` has it; None if nothing."""
    try:
        meta = pq.read_schema(folder / "runs.parquet").metadata or {}
    except (pa.ArrowInvalid, OSError):
        return UNFINISHED if (folder / UNFINISHED).is_dir() else None
    told = json.loads(meta.get(_META, b"{}"))
    # Only evaluations have policies; of the others only comparisons of engines are for requirements.
    return next((kind for kind, key in _SIGNS.items() if key in told), _RUNS)


def prepare_folder(folder: str | Path) -> Path:
    """Makes the folder, or says why it cannot be written."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        probe = target / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CelltcpError(f"{target}: cannot be written: {error.strerror}") from None
    return target


def part_of_file_name(text: str) -> str:
    """A text as part of the name of a file or folder, which have at most 255 bytes.

    A long one goes by its begin and a digest of all of it.
    """
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[: _LONGEST - len(digest) - 1]}-{digest}"


def write_atomically(table: pa.Table, folder: Path, name: str) -> None:
    """Writes a table so that it is there whole or not at all."""
    partial = folder / f".{name}.parquet.partial"
    pq.write_table(table, partial, compression="zstd")
    partial.replace(folder / f"{name}.parquet")


def read_results(folder: str | Path) -> Results:
    """Reads what `Results.save` wrote.

    Raises:
        CelltcpError: names the file that is missing or damaged.
    """
    source = Path(folder)
    if not source.is_dir():
        raise CelltcpError(f"{source}: there is no such folder")
    kind = _holds(source)
    if kind not in (None, _RUNS):
        raise CelltcpError(
            f"{source}: holds {_KINDS[kind]}, whose tables are Parquet files, such as cases.parquet; "
            f"allowed here: {_KINDS[_RUNS]}"
        )
    tables = {}
    for name in TABLES:
        file = source / f"{name}.parquet"
        if not file.is_file():
            if name in _DISPENSABLE:
                continue
            raise CelltcpError(f"{file}: missing; {source} holds no finished results")
        try:
            tables[name] = pq.read_table(file)
        except (pa.ArrowInvalid, OSError) as error:
            reason = str(error).splitlines()[0]
            raise CelltcpError(f"{file}: damaged or cut short: {reason}") from None
    meta = tables["runs"].schema.metadata or {}
    if _META not in meta:
        raise CelltcpError(f"{source / 'runs.parquet'}: was not written by celltcp")
    return Results(tables, json.loads(meta[_META]))
