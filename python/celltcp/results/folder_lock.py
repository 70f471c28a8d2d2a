"""Folder locks: one writer at a time, which replaces no results that it does not continue."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError
from celltcp.files.atomic_write import name_in_errors
from celltcp.files.locks import LockTaken, locked
from celltcp.results.checked import require_intact
from celltcp.results.folder import about_in, prepare_folder
from celltcp.results.keys import Keys
from celltcp.results.manifest import Manifest, manifest_of, read_manifest
from celltcp.results.publishing import finish_interrupted
from celltcp.results.working import INDEX, PARTS, check_folder
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.stored import MANIFEST

#: Pictures that commands draw in folders of results, as patterns of names without suffixes.
_PICTURES = (
    *(
        "overview",
        "throughput-delay",
        "ecdf",
        "ecdf-grid",
        "spider",
        "time-series",
        "window",
        "startup",
    ),
    *("run", "sweep", "cases", "reliability", "legs", "video", "video-ecdf", "published"),
    *("by-position", "by-mcs", "by-phase", "explain", "explain-[0-9]*"),
)
_SUFFIXES = ("png", "svg", "pdf")

#: Advice about a file of another origin.
_REMEDY = "give another folder, or --overwrite to replace it"

#: Name of the lock file.
_LOCK = ".celltcp-lock"

#: Maximum size of a lock file, which contains a process ID, bytes.
_MAX_LOCK_SIZE = 32


def is_begun(folder: Path) -> bool:
    """Returns whether a command was interrupted in a folder before it finished anything."""
    return (folder / _LOCK).is_file() and not (folder / MANIFEST).is_file()


@contextmanager
def locked_folder(folder: str | Path) -> Iterator[Path]:
    """Creates and locks the folder, and completes or undoes the writes of a killed command.

    Raises:
        CelltcpError: if another command writes to the folder, it cannot be written, or a working folder
            in it has files of another origin.
    """
    target = prepare_folder(folder)
    _check_lock(target / _LOCK)
    with ExitStack() as held:
        try:
            held.enter_context(locked(target / _LOCK))
        except LockTaken as taken:
            process = f" (process {taken.holder})" if taken.holder else ""
            raise CelltcpError(
                f"{folder}: another celltcp command{process} writes to this folder; wait for it, or "
                "give another one"
            ) from None
        held.enter_context(name_in_errors(target))
        finish_interrupted(target)
        yield target


def _check_lock(file: Path) -> None:
    """Checks that the file at the path of the lock is a lock."""
    if not os.path.lexists(file):
        return
    is_lock = file.is_file() and not file.is_symlink() and file.stat().st_size <= _MAX_LOCK_SIZE
    if not is_lock or file.read_bytes().strip(b"0123456789\n"):
        raise CelltcpError(f"{file}: is no lock of celltcp; move it away, or give another folder")


def check_replaceable(
    folder: Path, planned: Mapping[str, Any], files: Sequence[str], *, overwrite: bool
) -> None:
    """Checks that results in a folder are part of the planned ones, or may be replaced.

    Raises:
        CelltcpError: names the existing results, and the difference.
    """
    check_folder(folder)
    _check_outputs(folder, [*files, *_pictures_in(folder)], overwrite=overwrite)
    if not overwrite:
        check_runs(folder, planned)


def check_runs(folder: Path, planned: Mapping[str, Any]) -> None:
    """Checks that the runs in a folder, finished or interrupted, are among the planned ones.

    Raises:
        CelltcpError: names the existing results, and the difference.
    """
    existing = about_in(folder)
    keys = Keys.from_about(planned) or Keys(())
    existing_keys = Keys.from_about(existing) if existing is not None else None
    if existing is not None and (existing_keys is None or not keys.has(existing_keys)):
        ccas, runs = ", ".join(existing.get("cca", [])), count_text(existing.get("runs", 0), "run")
        details = f"{ccas}; {runs} from seed {existing.get('seed')}, {existing.get('engine')}"
        raise CelltcpError(
            f"{folder}: holds finished results of {existing.get('name')} ({details}), which this "
            f"command would replace: {_difference(existing, planned)}; give another "
            "folder, or --overwrite to replace them"
        )
    parts = keys_of_parts(folder)
    if not all(key in keys for key in parts):
        raise CelltcpError(
            f"{folder / PARTS}: holds finished runs of another command that was interrupted; repeat "
            "that one, give another folder, or --overwrite to remove them"
        )


def check_files(folder: Path, names: Iterable[str], remedy: str = _REMEDY) -> None:
    """Checks that celltcp wrote the existing files of these names, and that they are unchanged.

    Raises:
        CelltcpError: names the first file that is damaged or of another origin.
    """
    manifest = manifest_of(folder)
    if manifest is None and about_in(folder) is not None:
        # An earlier build, without manifests, wrote them.
        return
    listed = manifest or Manifest("")
    for name in names:
        if name not in listed.files and (folder / name).exists():
            raise CelltcpError(
                f"{folder / name}: is there, and no result of celltcp that this command "
                f"continues; {remedy}"
            )
        if (folder / name).exists():
            require_intact(folder / name, listed)


def check_links(folder: Path, names: Iterable[str]) -> None:
    """Checks that no output file is a link, which could lead out of the folder.

    Raises:
        CelltcpError: names the link.
    """
    for name in (MANIFEST, *names):
        if (folder / name).is_symlink():
            raise CelltcpError(
                f"{folder / name}: is a link, through which no results are written; remove it, or give "
                "another folder"
            )


def check_pictures(folder: Path, *, overwrite: bool) -> None:
    """Checks that celltcp drew the existing pictures with names that commands use.

    Raises:
        CelltcpError: names the first one that it did not draw, or that is a link.
    """
    _check_outputs(folder, _pictures_in(folder), overwrite=overwrite)


def check_results(folder: Path, *, overwrite: bool) -> None:
    """Checks that celltcp wrote the existing tables, and the pictures with names that commands use.

    Raises:
        CelltcpError: names the first one that it did not write, or that is a link.
    """
    tables = [file.name for file in sorted(folder.glob("*.parquet"))]
    _check_outputs(folder, [*tables, *_pictures_in(folder)], overwrite=overwrite)


def _check_outputs(folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    check_links(folder, names)
    if not overwrite:
        check_files(folder, names)


def _difference(existing: Mapping[str, Any], planned: Mapping[str, Any]) -> str:
    """Returns why the planned results do not contain the existing ones."""
    missing = [cca for cca in existing.get("cca", []) if cca not in planned["cca"]]
    existing_end, planned_end = (
        about.get("seed", 0) + about.get("runs", 0) for about in (existing, planned)
    )
    if existing.get("name") != planned["name"]:
        return f"it is about {planned['name']}"
    if existing.get("hash") != planned["hash"]:
        return "the scenario has other values"
    if existing.get("engine") != planned["engine"]:
        return f"its engine is {planned['engine']}"
    if existing.get("build") != planned["build"]:
        return "they are of another build of celltcp"
    if missing:
        return f"it is without {', '.join(missing)}"
    if existing.get("seed", 0) < planned["seed"] or existing_end > planned_end:
        return f"it has {count_text(planned['runs'], 'run')} from seed {planned['seed']}"
    return "it has other runs"


def keys_of_parts(folder: Path) -> set[str]:
    """Returns the keys of the runs that an interrupted command has left in a folder."""
    keys: set[str] = set()
    for file in (folder / PARTS).glob(f"*/{INDEX}"):
        try:
            index = read_manifest(file)
        except CelltcpError:
            # Damaged shards are not used.
            continue
        keys |= set(index.about.get("runs", {})) if index else set()
    return keys


def _pictures_in(folder: Path) -> list[str]:
    """Returns the names of the files in a folder that have names of pictures of commands."""
    return [
        file.name
        for stem in _PICTURES
        for suffix in _SUFFIXES
        for file in sorted(folder.glob(f"{stem}.{suffix}"))
    ]
