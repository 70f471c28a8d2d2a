"""Kept parts: finished parts of an evaluation, from which an interrupted one continues."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import CelltcpError
from celltcp.results import (
    UNFINISHED,
    about_in,
    claimed,
    prepare_folder,
    require_own,
    write_atomically,
)

#: Data frames of a scenario, by name.
Frames = dict[str, pd.DataFrame]


@contextmanager
def own_folder(
    out: str | Path | None, command: str, told: Mapping[str, Any], *, overwrite: bool
) -> Iterator[Path | None]:
    """Gives the folder that a command keeps things in, made if it is not there, and claimed.

    Args:
        out: the folder, or None.
        command: `"evaluate"` or `"engines"`.
        told: what the results will say of how they were made.
        overwrite: whether results of the same command with other settings may be replaced.

    Raises:
        CelltcpError: if it has other results, another command writes to it, or it cannot be made.
    """
    if out is None:
        yield None
        return
    require_own(out, command)
    with claimed(out) as folder:
        there = about_in(folder)
        if there is not None and there != _as_json(told) and not overwrite:
            planned = _as_json(told)
            fields = [name for name in {**there, **planned} if there.get(name) != planned.get(name)]
            raise CelltcpError(
                f"{folder}: holds finished results with other settings ({', '.join(fields)}), which "
                "this command would replace; give another folder, or --overwrite to replace them"
            )
        yield folder


def finished_frames(
    folder: Path | None, told: Mapping[str, Any], names: Iterable[str]
) -> Frames | None:
    """Returns the frames of those names if a folder has results of the very same settings."""
    if folder is None or about_in(folder) != _as_json(told):
        return None
    try:
        return {
            name: pq.read_table(folder / f"{name}.parquet").to_pandas()
            for name in names
            if (folder / f"{name}.parquet").is_file()
        }
    except (pa.ArrowInvalid, OSError):
        return None


def _as_json(told: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what is told as it comes back from a file."""
    return dict(json.loads(json.dumps(told)))


class Kept:
    """Folder with the data frames of each finished scenario; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder / UNFINISHED if folder else None

    def key(self, parts: Iterable[str]) -> str:
        """Returns a digest of these texts, which serves as a name."""
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def place(self, name: str) -> Path | None:
        """Returns the folder for runs of an unfinished scenario."""
        return self._folder / name if self._folder else None

    def read(self, key: str) -> Frames | None:
        """Returns the frames that were kept under the key, if they are complete."""
        if self._folder is None or not (self._folder / key).is_dir():
            return None
        try:
            files = sorted((self._folder / key).glob("*.parquet"))
            return {file.stem: pq.read_table(file).to_pandas() for file in files}
        except (pa.ArrowInvalid, OSError):
            shutil.rmtree(self._folder / key, ignore_errors=True)
            return None

    def write(self, key: str, frames: Frames) -> None:
        """Keeps the frames: all of them or none."""
        if self._folder is None:
            return
        partial = self._folder / f".{key}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, data in frames.items():
            pq.write_table(
                pa.Table.from_pandas(data, preserve_index=False), partial / f"{name}.parquet"
            )
        partial.rename(self._folder / key)

    def clear(self) -> None:
        """Removes the kept parts once the evaluation is finished and has tables of its own."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def save_frames(
    frames: Mapping[str, pd.DataFrame], about: Mapping[str, Any], folder: str | Path
) -> Path:
    """Writes each data frame, with a note of how it was made, as a Parquet file into the folder."""
    target = prepare_folder(folder)
    meta = {b"celltcp": json.dumps(about, sort_keys=True).encode()}
    for name, data in frames.items():
        table = pa.Table.from_pandas(data, preserve_index=False)
        known = table.schema.metadata or {}
        write_atomically(table.replace_schema_metadata({**known, **meta}), target, name)
    return target
