"""Working folders: folders that celltcp creates, recognises as its own, and removes.

A working folder (`parts`, `finished`) is marked by a manifest. Folders within it are working folders,
too, or have *checked names*: names that end in a digest of their first part, so that nobody else uses
them. Before a folder is removed, all entries are checked without following links; an entry of another
origin is an error.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError
from celltcp.results.manifest import Manifest, read_manifest
from celltcp.scenarios.stored import MANIFEST

#: Folder for the finished scenarios of an unfinished evaluation of policies or engines.
UNFINISHED = "finished"

#: Folder for the finished runs of an unfinished campaign.
PARTS = "parts"

#: Working folders in a folder of results.
WORKING = (PARTS, UNFINISHED)

#: Kind of the manifest that marks a working folder.
_KIND = "working"

#: Index of a folder with a checked name.
INDEX = "index.json"

#: Prefix of the names of folders for unfinished files.
_STAGING = ".celltcp"

#: Suffixes of pictures.
PICTURE_SUFFIXES = (".png", ".svg", ".pdf", ".pgf")

#: Files that celltcp writes into folders with checked names.
_FILES = re.compile(
    rf"{re.escape(MANIFEST)}|{re.escape(INDEX)}|[a-z][a-z_]*\.parquet|.+({'|'.join(PICTURE_SUFFIXES)})",
    re.IGNORECASE | re.DOTALL,
)


def checked_name(text: str) -> str:
    """Returns a name that ends in its own digest, by which it is recognised."""
    return f"{text}-{sha256(text.encode()).hexdigest()[:8]}"


def is_checked(name: str) -> bool:
    """Returns whether a name is a checked name."""
    text, _, _ = name.rpartition("-")
    return bool(text) and name == checked_name(text)


def working_folder(folder: Path) -> Path:
    """Creates a working folder with its mark, unless it exists.

    Raises:
        CelltcpError: if the folder, or an entry of it, has another origin.
    """
    if os.path.lexists(folder):
        check_working(folder)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with staging(folder.parent) as staged:
        (staged / MANIFEST).write_bytes(Manifest(_KIND, about={"name": folder.name}).to_bytes())
        staged.rename(folder)
    return folder


def mark_working(folder: Path, about: Mapping[str, Any]) -> None:
    """Writes data to the mark of a working folder."""
    with staging(folder) as staged:
        mark = Manifest(_KIND, about={"name": folder.name, **about})
        (staged / MANIFEST).write_bytes(mark.to_bytes())
        (staged / MANIFEST).replace(folder / MANIFEST)


def check_folder(folder: Path) -> None:
    """Checks that the working folders in a folder of results are celltcp's.

    Raises:
        CelltcpError: names the first entry of another origin.
    """
    for name in WORKING:
        if os.path.lexists(folder / name):
            check_working(folder / name)


def check_working(folder: Path) -> None:
    """Checks that everything in a working folder is celltcp's.

    Raises:
        CelltcpError: names the first entry of another origin.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise _foreign_error(folder)
    if not _is_marked(folder):
        raise _foreign_error(min(folder.iterdir(), default=folder))
    for entry in _entries(folder):
        if not _is_own(entry):
            raise _foreign_error(entry)


def remove_working(folder: Path) -> None:
    """Removes a working folder, if it exists.

    Raises:
        CelltcpError: names the first entry of another origin; nothing is removed then.
    """
    if not os.path.lexists(folder):
        return
    check_working(folder)
    # With a checked name it is recognised even after its mark is removed.
    renamed = folder.with_name(_staging_name())
    folder.rename(renamed)
    remove_checked(renamed)


def remove_checked(folder: Path) -> None:
    """Removes a folder with a checked name and its files, which must be celltcp's.

    Raises:
        CelltcpError: names the first entry of another origin; nothing is removed then.
    """
    entries = [folder, *_entries(folder)]
    for entry in entries:
        if not _is_own(entry):
            raise _foreign_error(entry)
    # A folder is removed after its entries, which follow it.
    for entry in reversed(entries):
        with suppress(FileNotFoundError):
            entry.rmdir() if entry.is_dir() else entry.unlink()


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """Yields a new folder for unfinished files, which is removed at the end unless it was renamed.

    Its lock shows other processes that it is in use.
    """
    staged = folder / _staging_name()
    staged.mkdir()
    descriptor = os.open(staged, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield staged
    finally:
        try:
            if staged.is_dir():
                remove_checked(staged)
        finally:
            os.close(descriptor)


def leftovers(folder: Path) -> list[Path]:
    """Returns the staging folders that killed processes left in a folder."""
    unlocked = []
    for staged in sorted(folder.glob(f"{_STAGING}-*")):
        if staged.is_symlink() or not staged.is_dir() or not is_checked(staged.name):
            continue
        descriptor = os.open(staged, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            unlocked.append(staged)
        except OSError:
            continue
        finally:
            os.close(descriptor)
    return unlocked


def _staging_name() -> str:
    return checked_name(f"{_STAGING}-{secrets.token_hex(8)}")


def _entries(folder: Path) -> list[Path]:
    """Returns all entries below a folder, without following links; a folder precedes its entries."""
    entries = []
    for path in sorted(folder.iterdir()):
        entries.append(path)
        if path.is_dir() and not path.is_symlink():
            entries += _entries(path)
    return entries


def _is_own(entry: Path) -> bool:
    """Returns whether an entry of a working folder or a folder with a checked name is celltcp's."""
    if entry.is_symlink():
        return False
    if entry.is_dir():
        # A killed removal leaves empty folders.
        return is_checked(entry.name) or _is_marked(entry) or not any(entry.iterdir())
    if not entry.is_file():
        return False
    if is_checked(entry.parent.name):
        return _FILES.fullmatch(entry.name) is not None
    return entry.name == MANIFEST


def _is_marked(folder: Path) -> bool:
    """Returns whether a folder is a working folder by its mark.

    Raises:
        CelltcpError: if the mark is damaged.
    """
    try:
        mark = read_manifest(folder / MANIFEST)
    except CelltcpError as error:
        raise CelltcpError(f"{error}; remove {folder}, whose runs are then done again") from None
    return mark is not None and mark.kind == _KIND


def _foreign_error(entry: Path) -> CelltcpError:
    reason = "a link" if entry.is_symlink() else "not written by celltcp"
    return CelltcpError(
        f"{entry}: is {reason}, where celltcp keeps and removes what is unfinished; move it away, or "
        "give another folder"
    )
