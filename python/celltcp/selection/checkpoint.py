"""Checkpoints of an evaluation, from which it is resumed, and the folder of its results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pandas as pd
import pyarrow as pa

from celltcp._core import CelltcpError
from celltcp.campaign.run_settings import RunSettings
from celltcp.files.atomic_write import name_in_errors
from celltcp.results.checked import read_checked
from celltcp.results.folder import LOG, META, about_in, prepare_folder, require_own
from celltcp.results.folder_lock import check_results, locked_folder
from celltcp.results.manifest import Manifest, manifest_of, read_manifest
from celltcp.results.parquet_writer import write_table
from celltcp.results.publishing import publish
from celltcp.results.working import (
    INDEX,
    UNFINISHED,
    checked_name,
    leftovers,
    remove_checked,
    remove_working,
    staging,
    working_folder,
)

#: Columns that identify a group of runs, which differ in their seeds.
_GROUP_COLUMNS = ("engine", "scenario", "label", "policy", "requirement")

#: Data frames of a scenario, by name.
Frames = dict[str, pd.DataFrame]


@contextmanager
def own_folder(
    out: str | Path | None, command: str, origin: Mapping[str, Any], *, overwrite: bool
) -> Iterator[Path | None]:
    """Locks the folder for the results and checkpoints of a command; yields None without a folder.

    `overwrite` permits to replace results of the same command with other settings.

    Raises:
        CelltcpError: if it has other results, is locked, or cannot be created.
    """
    if out is None:
        yield None
        return
    require_own(out, command)
    with locked_folder(out) as folder:
        check_results(folder, overwrite=overwrite)
        existing = about_in(folder)
        can_extend = saved_run_count(folder, origin) > 0
        if existing is not None and not can_extend and not overwrite:
            planned = _as_json(origin)
            fields = [
                name for name in {**existing, **planned} if existing.get(name) != planned.get(name)
            ]
            raise CelltcpError(
                f"{folder}: holds finished results with other settings ({', '.join(fields)}), which "
                "this command would replace; give another folder, or --overwrite to replace them"
            )
        yield folder


def saved_run_count(folder: Path | None, origin: Mapping[str, Any]) -> int:
    """Returns the number of runs per CCA in a folder with the same settings; 0 if more than planned."""
    existing = about_in(folder) if folder is not None else None
    if existing is None:
        return 0
    planned = _as_json(origin)
    runs = int(existing.get("runs", 0))
    has_same_settings = {**existing, "runs": 0} == {**planned, "runs": 0}
    return runs if has_same_settings and runs <= planned["runs"] else 0


def finished_frames(
    folder: Path | None, origin: Mapping[str, Any], names: Iterable[str]
) -> Frames | None:
    """Returns the named frames of results with the same settings; None if the folder has none.

    Raises:
        CelltcpError: if a file is damaged.
    """
    if folder is None or not saved_run_count(folder, origin):
        return None
    manifest = manifest_of(folder)
    return {
        name: read_checked(folder / f"{name}.parquet", manifest).to_pandas()
        for name in names
        if (folder / f"{name}.parquet").is_file()
        or (manifest is not None and f"{name}.parquet" in manifest.files)
    }


def join_frames(earlier: Frames, later: Frames) -> Frames:
    """Returns the frames of earlier and later runs, in the order that a single command gives."""
    groups = [column for column in _GROUP_COLUMNS if column in earlier["runs"]]
    keys = earlier["runs"][groups].drop_duplicates()
    frames: Frames = {}
    for name, earlier_rows in earlier.items():
        parts = [earlier_rows, later.get(name, earlier_rows[:0])]
        parts = [part for part in parts if not part.empty]
        if not parts or "seed" not in parts[0]:
            # The memory of policies does not depend on the number of runs.
            frames[name] = earlier_rows
            continue
        rows = pd.concat(parts, ignore_index=True)
        columns = [column for column in groups if column in rows]
        ranks = keys[columns].drop_duplicates().reset_index(drop=True)
        ranks["rank"] = ranks.index
        order = rows[[*columns, "seed"]].merge(ranks, on=columns, how="left")
        order = order.sort_values(["rank", "seed"], kind="stable")
        frames[name] = rows.loc[order.index].reset_index(drop=True)
    return frames


def _as_json(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an origin as it is read from a file, with lists instead of tuples."""
    return dict(json.loads(json.dumps(origin)))


class Checkpoint:
    """Folder with the data frames of each finished scenario; without a folder nothing is stored."""

    def __init__(self, folder: Path | None) -> None:
        """Creates a working folder in the folder of the results."""
        self._folder = working_folder(folder / UNFINISHED) if folder else None
        for leftover in leftovers(self._folder) if self._folder else ():
            remove_checked(leftover)

    def runs_folder(self, name: str) -> Path | None:
        """Returns the folder for runs of an unfinished scenario."""
        return working_folder(self._folder / name) if self._folder else None

    def read(self, key: str) -> Frames | None:
        """Returns the stored frames of a key, if they are complete and undamaged."""
        if self._folder is None:
            return None
        folder = self._folder / checked_name(key)
        try:
            index = read_manifest(folder / INDEX)
            if index is None:
                return None
            return {
                Path(name).stem: read_checked(folder / name, index).to_pandas() for name in index.files
            }
        except CelltcpError as damage:
            LOG.warning("warning: %s; its runs are done again", damage)
            remove_checked(folder)
            return None

    def write(self, key: str, frames: Frames) -> None:
        """Stores the frames: all of them or none."""
        if self._folder is None:
            return
        with staging(self._folder) as staged:
            for name, data in frames.items():
                table = pa.Table.from_pandas(data, preserve_index=False)
                write_table(table, staged / f"{name}.parquet")
            names = [f"{name}.parquet" for name in frames]
            (staged / INDEX).write_bytes(Manifest.of_files("frames", staged, names).to_bytes())
            staged.rename(self._folder / checked_name(key))

    def clear(self) -> None:
        """Removes the checkpoints of an evaluation that is finished and saved."""
        if self._folder is not None:
            remove_working(self._folder)


def save_frames(
    frames: Mapping[str, pd.DataFrame], about: Mapping[str, Any], folder: str | Path, kind: str
) -> Path:
    """Writes each data frame, with its origin, as a Parquet file; all files appear together."""
    target = prepare_folder(folder)
    meta = {META: json.dumps(about, sort_keys=True).encode()}
    with name_in_errors(target), staging(target) as staged:
        for name, data in frames.items():
            table = pa.Table.from_pandas(data, preserve_index=False)
            metadata = {**(table.schema.metadata or {}), **meta}
            write_table(table.replace_schema_metadata(metadata), staged / f"{name}.parquet")
        publish(staged, target, kind, _as_json(about))
    return target


class Outcome(Protocol):
    """Outcome of a command that can be saved in a folder."""

    def save(self, folder: str | Path) -> Path:
        """Writes its tables into the folder."""


OutcomeT = TypeVar("OutcomeT", bound=Outcome)


def run_resumed(
    settings: RunSettings,
    command: str,
    origin: Mapping[str, Any],
    names: Iterable[str],
    run: Callable[[int, Checkpoint], Frames],
    outcome: Callable[[Frames], OutcomeT],
) -> OutcomeT:
    """Does the runs that the folder of results lacks, and returns the outcome of all.

    Args:
        settings: settings of the runs, with the folder.
        command: `"evaluate"` or `"engines"`.
        origin: origin of the results.
        names: names of the stored frames.
        run: gets a number of existing runs, does the others, and returns their frames.
        outcome: returns the outcome for the frames of all runs.
    """
    with own_folder(settings.out, command, origin, overwrite=settings.overwrite) as folder:
        try:
            existing = finished_frames(folder, origin, names)
        except CelltcpError:
            if not settings.overwrite:
                raise
            existing = None
        runs = saved_run_count(folder, origin) if existing is not None else 0
        if existing is not None and runs == settings.runs:
            return outcome(existing)
        checkpoint = Checkpoint(folder)
        frames = run(runs, checkpoint)
        result = outcome(join_frames(existing, frames) if existing else frames)
        if folder is not None:
            result.save(folder)
            checkpoint.clear()
    return result
