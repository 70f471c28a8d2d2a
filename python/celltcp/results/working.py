"""Working folders: folders that celltcp makes, recognises as its own, and removes.

A working folder (`parts`, `finished`) holds a manifest that marks it. Folders within it are working
folders, too, or have *checked names*: names that end in a digest of their begin, which nobody else
gives to a folder. Before anything is removed, all of it is looked through without following links; one
entry of another origin is an error.
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

#: Folder for finished scenarios of an evaluation of policies or engines.
UNFINISHED = "finished"

#: Folder for finished runs of a campaign.
PARTS = "parts"

#: Working folders in a folder of results.
WORKING = (PARTS, UNFINISHED)

#: Kind of the manifest that marks a working folder.
_KIND = "working"

#: Index of a folder with a checked name.
INDEX = "index.json"

#: Prefix of the names of folders for unfinished files.
_STAGING = ".celltcp"

#: Endings of pictures.
PICTURES = (".png", ".svg", ".pdf", ".pgf")

#: Files that celltcp writes into folders with checked names.
_FILES = re.compile(
    rf"{re.escape(MANIFEST)}|{re.escape(INDEX)}|[a-z][a-z_]*\.parquet|.+({'|'.join(PICTURES)})",
    re.IGNORECASE | re.DOTALL,
)


def checked_name(text: str) -> str:
    """Returns a name that ends in its own digest, by which it is recognised."""
    return f"{text}-{sha256(text.encode()).hexdigest()[:8]}"


def is_checked(name: str) -> bool:
    """Returns whether `checked_name` made a name."""
    text, _, _ = name.rpartition("-")
    return bool(text) and name == checked_name(text)


def working_folder(place: Path) -> Path:
    """Makes a working folder with its mark, unless it exists.

    Raises:
        CelltcpError: if the place holds something of another origin.
    """
    if os.path.lexists(place):
        check_working(place)
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with staging(place.parent) as made:
        (made / MANIFEST).write_bytes(Manifest(_KIND, about={"name": place.name}).to_bytes())
        made.rename(place)
    return place


def mark_working(place: Path, about: Mapping[str, Any]) -> None:
    """Writes further facts into the mark of a working folder."""
    with staging(place) as made:
        mark = Manifest(_KIND, about={"name": place.name, **about})
        (made / MANIFEST).write_bytes(mark.to_bytes())
        (made / MANIFEST).replace(place / MANIFEST)


def check_folder(folder: Path) -> None:
    """Checks that the working folders in a folder of results are celltcp's.

    Raises:
        CelltcpError: names the first entry of another origin.
    """
    for name in WORKING:
        if os.path.lexists(folder / name):
            check_working(folder / name)


def check_working(place: Path) -> None:
    """Checks that everything in a working folder is celltcp's.

    Raises:
        CelltcpError: names the first entry of another origin.
    """
    if place.is_symlink() or not place.is_dir():
        raise _foreign(place)
    if not _is_marked(place):
        first = next(iter(sorted(place.iterdir())), place)
        raise _foreign(first)
    for content in _contents(place):
        if not _is_own(content):
            raise _foreign(content)


def remove_working(place: Path) -> None:
    """Removes a working folder, if it exists.

    Raises:
        CelltcpError: names the first entry of another origin; nothing is removed then.
    """
    if not os.path.lexists(place):
        return
    check_working(place)
    # Under a checked name it is recognised even when its mark is gone.
    going = place.with_name(_staging_name())
    place.rename(going)
    remove_checked(going)


def remove_checked(place: Path) -> None:
    """Removes a folder with a checked name and the files of celltcp in it.

    Raises:
        CelltcpError: names the first entry of another origin; nothing is removed then.
    """
    entries = [place, *_contents(place)]
    for entry in entries:
        if not _is_own(entry):
            raise _foreign(entry)
    # Folders come before what is in them.
    for entry in reversed(entries):
        with suppress(FileNotFoundError):
            entry.rmdir() if entry.is_dir() else entry.unlink()


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """Yields a new folder for unfinished files; it is removed unless it was renamed.

    Its lock shows other processes that it is in use.
    """
    place = folder / _staging_name()
    place.mkdir()
    held = os.open(place, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield place
    finally:
        try:
            if place.is_dir():
                remove_checked(place)
        finally:
            os.close(held)


def leftovers(folder: Path) -> list[Path]:
    """Returns the folders for unfinished results that killed processes have left in a folder."""
    if not folder.is_dir():
        return []
    left = []
    for place in sorted(folder.glob(f"{_STAGING}-*")):
        if place.is_symlink() or not place.is_dir() or not is_checked(place.name):
            continue
        held = os.open(place, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.append(place)
        except OSError:
            continue
        finally:
            os.close(held)
    return left


def _staging_name() -> str:
    return checked_name(f"{_STAGING}-{secrets.token_hex(8)}")


def _contents(place: Path) -> list[Path]:
    """Returns everything in a folder, without following links; folders come before what is in them."""
    result = []
    for path in sorted(place.iterdir()):
        result.append(path)
        if path.is_dir() and not path.is_symlink():
            result += _contents(path)
    return result


def _is_own(entry: Path) -> bool:
    """Returns whether an entry of a working folder or a folder with a checked name is celltcp's."""
    if entry.is_symlink():
        return False
    if entry.is_dir():
        # A removal that was killed leaves empty folders.
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
    except CelltcpError as damage:
        raise CelltcpError(f"{damage}; remove {folder}, whose runs are then done again") from None
    return mark is not None and mark.kind == _KIND


def _foreign(entry: Path) -> CelltcpError:
    kind = "a link" if entry.is_symlink() else "not written by celltcp"
    return CelltcpError(
        f"{entry}: is {kind}, where celltcp keeps and removes what is unfinished; move it away, or "
        "give another folder"
    )
