"""Publishing: files of results appear in their folder together with the manifest that lists them.

All files are written into a folder for unfinished results first. Once its manifest is there, they are
moved one by one, the manifest last. A command that finds such a folder of a killed one ends the moves,
or removes it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import CelltcpError
from celltcp.files.atomic_write import atomic_write, name_in_errors
from celltcp.results.folder import KINDS, META
from celltcp.results.layout import Layout
from celltcp.results.manifest import Manifest, manifest_of
from celltcp.results.working import PICTURES, leftovers, remove_checked, staging
from celltcp.scenarios.stored import MANIFEST

#: Kind of a folder that has no tables, but files such as pictures.
FILES = "files"


def publish(
    staged: Path, folder: Path, kind: str, about: Mapping[str, Any], names: Iterable[str] = ()
) -> None:
    """Moves all files of a staging folder into a folder of results, in place of those of its manifest.

    Args:
        staged: folder with the new files.
        folder: where they appear.
        kind: of the results.
        about: how they were made.
        names: of tables without which the new results may be; they go if celltcp wrote them.

    Raises:
        CelltcpError: if the folder has results of another kind.
    """
    files = sorted(file.name for file in staged.iterdir())
    manifest = Manifest.of_files(kind, staged, files, about)
    old = _previous_manifest(folder)
    if old is not None and old.kind not in (kind, FILES):
        raise CelltcpError(f"{folder}: holds {KINDS.get(old.kind, old.kind)}; give another folder")
    for name in names:
        file = folder / name
        if name not in files and file.is_file() and old is None and _is_by_celltcp(file):
            file.unlink()
    (staged / MANIFEST).write_bytes(manifest.to_bytes())
    _move(staged, folder, manifest, old)


def finish_interrupted(folder: Path) -> None:
    """Completes what a killed process began to publish in a folder, and removes partial files.

    Raises:
        CelltcpError: if something of another origin is in what it has left.
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
    known = old.files if old else {}
    return any(
        Path(name).suffix == ".parquet" and known.get(name) != digest
        for leftover in leftovers(folder)
        if (unfinished := _previous_manifest(leftover)) is not None
        for name, digest in unfinished.files.items()
    )


def list_files(folder: Path, layout: Layout | None = None) -> None:
    """Writes an empty manifest into a folder without one, for `listed_file`.

    Args:
        folder: where the manifest is.
        layout: of the results within the folder, which the manifest keeps with those of earlier
            commands.

    Raises:
        CelltcpError: if there is a damaged one.
    """
    old = manifest_of(folder)
    if old is None or (layout is not None and old.kind == FILES):
        known = old or Manifest(FILES)
        about = known.about
        if layout is not None:
            about = layout.with_earlier(Layout.from_about(about)).to_about()
        if old is None or about != known.about:
            _replace(folder, Manifest(FILES, known.files, about))


@contextmanager
def listed_file(file: Path) -> Iterator[Path]:
    """Yields the path of a temporary file that takes the place of a picture in the end.

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
            fresh = Manifest.of_files(old.kind, staged, [file.name]).files
            manifest = Manifest(old.kind, {**old.files, **fresh}, old.about)
            (staged / MANIFEST).write_bytes(manifest.to_bytes())
            _move(staged, folder, manifest, old)


def remove_pictures(folder: Path) -> None:
    """Removes the pictures of earlier results, which new ones would contradict."""
    old = _previous_manifest(folder)
    if old is None:
        return
    pictures = [name for name in old.files if Path(name).suffix.lower() in PICTURES]
    for name in pictures:
        if old.has(folder / name):
            (folder / name).unlink()
    rest = {name: digest for name, digest in old.files.items() if name not in pictures}
    if pictures:
        _replace(folder, Manifest(old.kind, rest, old.about))


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Waits until no other process changes the manifest of a folder to which it adds a picture."""
    held = os.open(folder, os.O_RDONLY)
    try:
        # A file system without locks: other processes cannot be detected.
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _previous_manifest(folder: Path) -> Manifest | None:
    """Returns the manifest of a folder; None without an intact one."""
    try:
        return manifest_of(folder)
    except CelltcpError:
        return None


def _replace(folder: Path, manifest: Manifest) -> None:
    with staging(folder) as made:
        (made / MANIFEST).write_bytes(manifest.to_bytes())
        (made / MANIFEST).replace(folder / MANIFEST)


def _can_move(staged: Path, folder: Path, manifest: Manifest, old: Manifest | None) -> bool:
    """Returns whether each file is still in the staging folder, in its place, or listed before."""
    known = old.files if old else {}
    return all(
        manifest.has(staged / name)
        or (not (staged / name).exists() and (known.get(name) == digest or manifest.has(folder / name)))
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
