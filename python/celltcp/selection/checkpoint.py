"""Checkpoint: finished parts of an evaluation, from which an interrupted one continues."""

from __future__ import annotations

import hashlib
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

#: Columns by which the runs of an evaluation are grouped.
_GROUPS = ("engine", "scenario", "label", "policy", "requirement")

#: Data frames of a scenario, by name.
Frames = dict[str, pd.DataFrame]


@contextmanager
def own_folder(
    out: str | Path | None, command: str, origin: Mapping[str, Any], *, overwrite: bool
) -> Iterator[Path | None]:
    """Yields the folder that a command keeps its checkpoints in, made unless it exists, and claimed.

    Args:
        out: the folder, or None.
        command: `"evaluate"` or `"engines"`.
        origin: origin of the results.
        overwrite: whether results of the same command with other settings may be replaced.

    Raises:
        CelltcpError: if it has other results, another command writes to it, or it cannot be made.
    """
    if out is None:
        yield None
        return
    require_own(out, command)
    with locked_folder(out) as folder:
        check_results(folder, overwrite=overwrite)
        existing = about_in(folder)
        goes_on = saved_run_count(folder, origin) > 0
        if existing is not None and not goes_on and not overwrite:
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
    """Returns how many runs a folder has of the same settings; 0 if it has more than planned."""
    existing = about_in(folder) if folder is not None else None
    if existing is None:
        return 0
    planned = _as_json(origin)
    runs = int(existing.get("runs", 0))
    same = {**existing, "runs": 0} == {**planned, "runs": 0}
    return runs if same and runs <= planned["runs"] else 0


def finished_frames(
    folder: Path | None, origin: Mapping[str, Any], names: Iterable[str]
) -> Frames | None:
    """Returns the frames of those names if a folder has results of the same settings.

    Raises:
        CelltcpError: if one is damaged; names the file.
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


def joined(earlier: Frames, later: Frames) -> Frames:
    """Returns the frames of earlier runs with those of later ones, in the order of one command."""
    groups = [group for group in _GROUPS if group in earlier["runs"]]
    keys = earlier["runs"][groups].drop_duplicates().reset_index(drop=True)
    frames: Frames = {}
    for name, before in earlier.items():
        parts = [each for each in (before, later.get(name, before[:0])) if not each.empty]
        if not parts or "seed" not in parts[0]:
            # The memory of policies does not depend on the number of runs.
            frames[name] = before
            continue
        result = pd.concat(parts, ignore_index=True)
        selected = [group for group in groups if group in result]
        places = keys.drop_duplicates(selected)[selected].assign(
            place=range(len(keys.drop_duplicates(selected)))
        )
        order = result[[*selected, "seed"]].merge(places, on=selected, how="left")
        order = order.sort_values(["place", "seed"], kind="stable")
        frames[name] = result.loc[order.index].reset_index(drop=True)
    return frames


def _as_json(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a value after a round trip through JSON."""
    return dict(json.loads(json.dumps(origin)))


class Checkpoint:
    """Folder with the data frames of each finished scenario; without a folder nothing is stored."""

    def __init__(self, folder: Path | None) -> None:
        """Makes a working folder in the folder of the results."""
        self._folder = working_folder(folder / UNFINISHED) if folder else None
        for left in leftovers(self._folder) if self._folder else ():
            remove_checked(left)

    def key(self, parts: Iterable[str]) -> str:
        """Returns a digest of these texts as a file name."""
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def place(self, name: str) -> Path | None:
        """Returns the folder for runs of an unfinished scenario."""
        return working_folder(self._folder / name) if self._folder else None

    def read(self, key: str) -> Frames | None:
        """Returns the stored frames of a key, if they are complete and undamaged."""
        if self._folder is None:
            return None
        place = self._folder / checked_name(key)
        try:
            index = read_manifest(place / INDEX)
            if index is None:
                return None
            return {
                Path(name).stem: read_checked(place / name, index).to_pandas() for name in index.files
            }
        except CelltcpError as damage:
            LOG.warning("warning: %s; its runs are done again", damage)
            remove_checked(place)
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
        """Removes the checkpoints once the evaluation is finished and has tables of its own."""
        if self._folder is not None:
            remove_working(self._folder)


def save_frames(
    frames: Mapping[str, pd.DataFrame], about: Mapping[str, Any], folder: str | Path, kind: str
) -> Path:
    """Writes each data frame, with a note of how it was made, as a Parquet file into the folder.

    Args:
        frames: data frames by name.
        about: how they were made.
        folder: where the files appear, together with the manifest that lists them.
        kind: of the results, `"evaluate"` or `"engines"`.
    """
    target = prepare_folder(folder)
    meta = {META: json.dumps(about, sort_keys=True).encode()}
    with name_in_errors(target), staging(target) as staged:
        for name, data in frames.items():
            table = pa.Table.from_pandas(data, preserve_index=False)
            known = table.schema.metadata or {}
            write_table(table.replace_schema_metadata({**known, **meta}), staged / f"{name}.parquet")
        publish(staged, target, kind, _as_json(about))
    return target


class Outcome(Protocol):
    """Result of an evaluation that can be saved in a folder."""

    def save(self, folder: str | Path) -> Path:
        """Writes its tables into the folder."""


Result = TypeVar("Result", bound=Outcome)


def continued(
    settings: RunSettings,
    command: str,
    origin: Mapping[str, Any],
    names: Iterable[str],
    run: Callable[[int, Checkpoint], Frames],
    outcome: Callable[[Frames], Result],
) -> Result:
    """Returns the outcome of a command; runs that its folder has already are not done again.

    Args:
        settings: of the runs, with the folder.
        command: `"evaluate"` or `"engines"`.
        origin: what the results say of how they were made.
        names: of the frames that the folder keeps.
        run: does the runs beyond those that are there, whose number it is given.
        outcome: makes the outcome from the frames of all runs.
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
        result = outcome(joined(existing, frames) if existing else frames)
        if folder is not None:
            result.save(folder)
            checkpoint.clear()
    return result
