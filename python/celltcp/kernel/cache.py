"""Cache of built kernels in the user's cache folder."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from celltcp._core import CelltcpError
from celltcp.files.cache import cache_folder
from celltcp.files.locks import LockTaken, locked

BUILD_COMMAND = "celltcp kernel build"
#: Prefix of the work folders in the folder of kernels.
_WORK_PREFIX = ".work-"


class Origin(TypedDict):
    """The source that a kernel was built from."""

    #: `"debian"` or `"tarball"`.
    kind: str
    #: Name of the package, or of the tarball with the beginning of its digest.
    name: str
    file: str
    sha256: str


class About(TypedDict):
    """Description of a built kernel in `about.json`."""

    version: str
    source: Origin
    #: Time of the build, UTC, ISO 8601.
    built: str
    ccas: list[str]
    #: Fingerprint of the kernel side, see `side.fingerprint`.
    kernel_side: str
    size_bytes: int


@dataclass(frozen=True)
class Kernel:
    """A user-mode kernel: its version as `make kernelversion` prints it, and its CCAs."""

    version: str
    binary: Path
    ccas: tuple[str, ...]
    about: About


def root() -> Path:
    """Returns the folder of kernels: `celltcp/kernels` below XDG_CACHE_HOME, by default `~/.cache`."""
    return cache_folder("kernels")


def work_folder(name: str) -> Path:
    """Returns the folder in which a kernel from the source called `name` is built."""
    return root() / f"{_WORK_PREFIX}{name}"


def work_folders() -> list[Path]:
    """Returns the work folders: of unfinished builds, and of builds with `keep_source`."""
    return sorted(root().glob(f"{_WORK_PREFIX}*"))


def versions() -> list[str]:
    """Returns the versions of the kernels in the cache, oldest first."""
    if not root().is_dir():
        return []
    names = [entry.name for entry in root().iterdir() if entry.is_dir() and entry.name[0] != "."]
    return sorted(names, key=age_key)


def age_key(version: str) -> tuple[tuple[int, ...], bool, tuple[int, ...]]:
    """Returns the sort key of a version: a release candidate comes before its release."""
    release, _, candidate = version.partition("-")
    release_numbers, candidate_numbers = (
        tuple(map(int, re.findall(r"\d+", part))) for part in (release, candidate)
    )
    return release_numbers, not candidate.startswith("rc"), candidate_numbers


def kernels() -> list[Kernel]:
    """Returns all built kernels, oldest version first.

    Raises:
        CelltcpError: if one is damaged; tells how to remove it.
    """
    return [_read(version) for version in versions()]


def find(version: str | None = None) -> Kernel:
    """Returns the newest kernel that matches a version, `7.3` as well as `7.3.4`; None matches all.

    Raises:
        CelltcpError: if there is none; names the versions there are and the command that builds one.
    """
    cached = versions()
    result = [name for name in cached if version is None or matches(name, version)]
    if result:
        return _read(result[-1])
    existing = f"there are {', '.join(cached)}" if cached else "none is built"
    subject = f"kernel {version!r}: " if version is not None else "kernel: "
    raise CelltcpError(f"{subject}{existing} in {root()}; `{BUILD_COMMAND}` builds one")


def matches(full_version: str, version: str) -> bool:
    """Returns whether `version`, which may lack the last numbers, matches a full version."""
    return full_version == version or full_version.startswith((f"{version}.", f"{version}-"))


def _read(version: str) -> Kernel:
    folder = root() / version
    try:
        about: About = json.loads((folder / "about.json").read_text("utf-8"))
        binary = folder / "linux"
        if not os.access(binary, os.X_OK):
            raise CelltcpError(f"{binary}: missing; {_remedy(version)}")
        return Kernel(about["version"], binary, tuple(about["ccas"]), about)
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, CelltcpError):
            raise
        raise CelltcpError(f"{folder / 'about.json'}: missing or damaged; {_remedy(version)}") from None


def _remedy(version: str) -> str:
    return f"`celltcp kernel clean {version}` removes this kernel"


def clean(version: str | None = None) -> list[Path]:
    """Removes the kernels of a version with their work folders, or everything.

    Returns:
        The folders that were removed.

    Raises:
        CelltcpError: if there is no such version, or a build is running.
    """
    if version is None and not root().is_dir():
        return []
    folders = removable_folders(version)
    with lock():
        for folder in folders:
            shutil.rmtree(folder)
    return folders


def removable_folders(version: str | None) -> list[Path]:
    """Returns the folders that `clean` removes.

    Raises:
        CelltcpError: if there is no such version.
    """
    if version is None:
        return [*(root() / name for name in versions()), *work_folders()]
    cached = [root() / name for name in versions() if matches(name, version)]
    works = [work for work in work_folders() if _is_work_of(work, version)]
    if not cached and not works:
        existing = ", ".join(versions()) or "none"
        raise CelltcpError(f"kernel {version!r}: not in {root()}; there are: {existing}")
    return [*cached, *works]


def _is_work_of(work: Path, version: str) -> bool:
    """Returns whether a work folder, such as linux-7.3.4-0f3a9c1e, is for a version."""
    match = re.match(r"\D*(\d+(?:\.\d+)*)", work.name.removeprefix(_WORK_PREFIX))
    return match is not None and (matches(match[1], version) or matches(version, match[1]))


@contextmanager
def lock() -> Iterator[int]:
    """Locks the cache against other builds and removals; yields the file descriptor of the lock.

    Programs that inherit the descriptor hold the lock as well.

    Raises:
        CelltcpError: if another process has the lock, or the cache cannot be written.
    """
    with ExitStack() as stack:
        try:
            root().mkdir(parents=True, exist_ok=True)
            descriptor = stack.enter_context(locked(root() / ".lock", keeps_file=True))
        except LockTaken as taken:
            raise CelltcpError(
                f"{root()}: process {taken.holder} is building or removing here; wait or end it"
            ) from None
        except OSError as error:
            raise CelltcpError(f"{root()}: cannot be written: {error.strerror}") from None
        yield descriptor
