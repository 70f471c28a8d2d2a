"""Folders of results: checks of their origin and of write access, and writing of complete files."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import CelltcpError
from celltcp.written import whole_file

#: Key of the metadata of a table that say how it was made.
META = b"celltcp"

#: Longest text that goes into the name of a file as it is.
_LONGEST = 100

#: Folder for what is finished while an evaluation of policies or engines goes on.
UNFINISHED = "finished"

#: Folder for finished runs while a campaign goes on.
PARTS = "parts"

#: Results of commands that keep runs.
RUNS = "runs"

#: Kinds of results in a folder; their tables partly have the same names.
KINDS = {
    "evaluate": "an evaluation of policies (celltcp select evaluate)",
    "engines": "a comparison of engines (celltcp select engines)",
    UNFINISHED: "what celltcp select evaluate or engines has begun",
    RUNS: "results of celltcp compare or run",
}

#: Key of the origin by which a kind is told from the others.
_SIGNS = {"evaluate": "policies", "engines": "requirements"}


def require_own(folder: str | Path, command: str) -> None:
    """Makes sure that a command's tables will not replace those of another that have the same names.

    Args:
        folder: where the tables are to go; it need not be there.
        command: `"evaluate"`, `"engines"`, or one of those that keep runs.

    Raises:
        CelltcpError: if the folder holds what the others keep.
    """
    there = kind_in(Path(folder))
    mine = command if command in KINDS else RUNS
    begun = there == UNFINISHED and mine != RUNS
    if there is not None and there != mine and not begun:
        raise CelltcpError(
            f"{folder}: holds {KINDS[there]}, which the tables of {command} would replace; "
            "allowed: a folder of their own"
        )


def kind_in(folder: Path) -> str | None:
    """Returns the kind of results in a folder, a key of `KINDS`; None without any."""
    told = about_in(folder)
    if told is None:
        return UNFINISHED if (folder / UNFINISHED).is_dir() else None
    # Only evaluations have policies; of the others only comparisons of engines are for requirements.
    return next((kind for kind, key in _SIGNS.items() if key in told), RUNS)


def about_in(folder: Path) -> dict[str, Any] | None:
    """Returns what results in a folder say of how they were made; None without results of celltcp."""
    try:
        meta = pq.read_schema(folder / "runs.parquet").metadata or {}
    except (pa.ArrowInvalid, OSError):
        return None
    return dict(json.loads(meta[META])) if META in meta else None


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
    with whole_file(folder / f"{name}.parquet") as partial:
        pq.write_table(table, partial, compression="zstd")
