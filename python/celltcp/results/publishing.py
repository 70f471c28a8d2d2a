"""Publishing: files of results appear in their folder together with the manifest that lists them.

All files are first written to a staging folder. Once its manifest is written, they are moved one by
one, the manifest last. If a command is killed, the next one completes the moves or removes the folder.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import CelltcpError
from celltcp.files.atomic_write import atomic_write, name_in_errors
from celltcp.results.folder import KINDS, META
from celltcp.results.layout import Layout
from celltcp.results.manifest import Manifest, manifest_of
from celltcp.results.working import PICTURE_SUFFIXES, leftovers, remove_checked, staging
from celltcp.scenarios.stored import MANIFEST

#: Kind of a folder without tables, but with files such as pictures.
FILES = "files"


def publish(
    staged: Path, folder: Path, kind: str, about: Mapping[str, Any], optional_files: Iterable[str] = ()
) -> None:
    """Moves all files of a staging folder to a folder of results; they replace those of its manifest.

    Args:
        staged: folder with the new files.
        folder: folder of the results.
        kind: kind of the results.
        about: origin of the results.
        optional_files: files that the results may lack. If an old build, without manifests, wrote them,
            they are removed.

    Raises:
        CelltcpError: if the folder has results of another kind.
    """
    files = sorted(file.name for file in staged.iterdir())
    manifest = Manifest.of_files(kind, staged, files, about)
    old = _previous_manifest(folder)
    if old is not None and old.kind not in (kind, FILES):
        raise CelltcpError(f"{folder}: holds {KINDS.get(old.kind, old.kind)}; give another folder")
    for name in optional_files:
        file = folder / name
        if name not in files and file.is_file() and old is None and _is_by_celltcp(file):
            file.unlink()
    (staged / MANIFEST).write_bytes(manifest.to_bytes())
    _move(staged, folder, manifest, old)


def finish_interrupted(folder: Path) -> None:
    """Completes the publishing that a killed process began in a folder, and removes partial files.

    Raises:
        CelltcpError: if one of its staging folders contains a file of another origin.
    """
    for staged in leftovers(folder):
        try:
            manifest = manifest_of(staged)
        except CelltcpError:
            manifest = None
        old = _previous_manifest(folder)
        if manifest is not None and manifest.files and _can_move(staged, folder, manifest, old):
            _move(staged, folder, manifest, old)
        remove_checked(staged)


def is_interrupted(folder: Path) -> bool:
    """Returns whether a killed process has begun to replace the tables in a folder."""
    old = _previous_manifest(folder)
    listed = old.files if old else {}
    return any(
        Path(name).suffix == ".parquet" and listed.get(name) != digest
        for leftover in leftovers(folder)
        if (unfinished := _previous_manifest(leftover)) is not None
        for name, digest in unfinished.files.items()
    )


def list_files(folder: Path, layout: Layout | None = None) -> None:
    """Writes a manifest without files to a folder that has none, or merges `layout` with its layout.

    Raises:
        CelltcpError: if the manifest is damaged.
    """
    old = manifest_of(folder)
    if old is None or (layout is not None and old.kind == FILES):
        current = old or Manifest(FILES)
        about = current.about
        if layout is not None:
            about = layout.with_earlier(Layout.from_about(about)).to_about()
        if old is None or about != current.about:
            _write_manifest(folder, replace(current, about=about))


def remember_metrics(folder: Path, by: Sequence[str]) -> None:
    """Stores the metrics by which results rank in the manifest of their folder, for `celltcp show`.

    Raises:
        CelltcpError: if the manifest is damaged.
    """
    with _exclusive(folder):
        old = manifest_of(folder)
        if old is not None and old.by != tuple(by):
            _write_manifest(folder, replace(old, by=tuple(by)))


def remembered_metrics(folder: Path) -> tuple[str, ...]:
    """Returns the metrics by which the command that made the results ranked; none if unknown."""
    manifest = _previous_manifest(folder)
    return () if manifest is None else manifest.by


@contextmanager
def listed_file(file: Path) -> Iterator[Path]:
    """Yields the path of a temporary file, which then replaces a picture.

    If the folder has a manifest, the picture is added to it at the same time.

    Raises:
        CelltcpError: if it cannot be written.
    """
    folder = file.parent
    if manifest_of(folder) is None:
        with atomic_write(file) as partial:
            yield partial
        return
    if file.is_symlink():
        raise CelltcpError(
            f"{file}: is a link, through which no results are written; remove it, or give another file"
        )
    with name_in_errors(folder), staging(folder) as staged:
        yield staged / file.name
        with _exclusive(folder):
            old = manifest_of(folder) or Manifest(FILES)
            new = Manifest.of_files(old.kind, staged, [file.name])
            manifest = replace(old, files={**old.files, **new.files})
            (staged / MANIFEST).write_bytes(manifest.to_bytes())
            _move(staged, folder, manifest, old)


def remove_pictures(folder: Path) -> None:
    """Removes the pictures of earlier results, which new ones would contradict."""
    old = _previous_manifest(folder)
    if old is None:
        return
    pictures = [name for name in old.files if Path(name).suffix.lower() in PICTURE_SUFFIXES]
    for name in pictures:
        if old.has(folder / name):
            (folder / name).unlink()
    other_files = {name: digest for name, digest in old.files.items() if name not in pictures}
    if pictures:
        _write_manifest(folder, replace(old, files=other_files))


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Waits until no other process adds a picture to the manifest of a folder, and locks it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # On a file system without locks, other processes cannot be detected.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _previous_manifest(folder: Path) -> Manifest | None:
    """Returns the manifest of a folder; None without an intact one."""
    try:
        return manifest_of(folder)
    except CelltcpError:
        return None


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    with staging(folder) as staged:
        (staged / MANIFEST).write_bytes(manifest.to_bytes())
        (staged / MANIFEST).replace(folder / MANIFEST)


def _can_move(staged: Path, folder: Path, manifest: Manifest, old: Manifest | None) -> bool:
    """Returns whether each file is still in the staging folder, or unchanged in the final one."""
    listed = old.files if old else {}
    return all(
        manifest.has(staged / name)
        or (
            not (staged / name).exists() and (listed.get(name) == digest or manifest.has(folder / name))
        )
        for name, digest in manifest.files.items()
    )


def _move(staged: Path, folder: Path, manifest: Manifest, old: Manifest | None) -> None:
    for name in manifest.files:
        with suppress(FileNotFoundError):
            (staged / name).replace(folder / name)
    for name in old.files if old else ():
        if name not in manifest.files and old is not None and old.has(folder / name):
            (folder / name).unlink()
    (staged / MANIFEST).replace(folder / MANIFEST)


def _is_by_celltcp(file: Path) -> bool:
    """Returns whether the metadata of a table say that celltcp made it."""
    try:
        return META in (pq.read_schema(file).metadata or {})
    except (pa.ArrowInvalid, OSError):
        return False
