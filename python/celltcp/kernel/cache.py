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
_WORK = ".work-"


class Origin(TypedDict):
    """Requested source of a kernel: a Debian package or a tarball."""

    kind: str
    name: str
    file: str
    sha256: str


class About(TypedDict):
    """Description of a built kernel in `about.json`."""

    version: str
    source: Origin
    built: str
    ccas: list[str]
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
    return root() / f"{_WORK}{name}"


def work_folders() -> list[Path]:
    """Returns the folders of unfinished builds and kept sources."""
    return sorted(root().glob(f"{_WORK}*"))


def versions() -> list[str]:
    """Returns the versions of the kernels in the cache, oldest first."""
    if not root().is_dir():
        return []
    names = [entry.name for entry in root().iterdir() if entry.is_dir() and entry.name[0] != "."]
    return sorted(names, key=age)


def age(version: str) -> tuple[tuple[int, ...], bool, tuple[int, ...]]:
    """Returns a key that sorts versions by age: a release candidate comes before its release."""
    release, _, candidate = version.partition("-")
    numbers = [
        tuple(int(number) for number in re.findall(r"\d+", part)) for part in (release, candidate)
    ]
    return numbers[0], not candidate.startswith("rc"), numbers[1]


def kernels() -> list[Kernel]:
    """Returns all kernels that were built, oldest version first.

    Raises:
        CelltcpError: names one that is damaged, and how to remove it.
    """
    return [_read(version) for version in versions()]


def find(version: str | None = None) -> Kernel:
    """Returns the kernel of a version: `7.3` finds 7.3.4, None finds the newest.

    Raises:
        CelltcpError: there is none; says which there are, and the command that builds one.
    """
    releases = versions()
    result = [name for name in releases if version is None or matches(name, version)]
    if result:
        return _read(result[-1])
    have = f"there are {', '.join(releases)}" if releases else "none is built"
    wanted = f"kernel {version!r}: " if version is not None else "kernel: "
    raise CelltcpError(f"{wanted}{have} in {root()}; `{BUILD_COMMAND}` builds one")


def matches(name: str, version: str) -> bool:
    """Returns whether `version` matches the kernel `name`; it may lack the last numbers."""
    return name == version or name.startswith((f"{version}.", f"{version}-"))


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
        CelltcpError: there is no such version, or a build is running.
    """
    if version is None and not root().is_dir():
        return []
    going = removable(version)
    with lock():
        for folder in going:
            shutil.rmtree(folder)
    return going


def removable(version: str | None) -> list[Path]:
    """Returns the folders that `clean` removes.

    Raises:
        CelltcpError: there is no such version.
    """
    if version is None:
        return [*(root() / name for name in versions()), *work_folders()]
    result = [name for name in versions() if matches(name, version)]
    works = [work for work in work_folders() if _work_is_of(work, version)]
    if not result and not works:
        have = ", ".join(versions()) or "none"
        raise CelltcpError(f"kernel {version!r}: not in {root()}; there are: {have}")
    return [*(root() / name for name in result), *works]


def _work_is_of(work: Path, version: str) -> bool:
    """Returns whether a work folder, such as linux-7.3.4-0f3a9c1e, belongs to a version."""
    match = re.match(r"\D*(\d+(?:\.\d+)*)", work.name.removeprefix(_WORK))
    return match is not None and (matches(match[1], version) or matches(version, match[1]))


@contextmanager
def lock() -> Iterator[int]:
    """Locks the cache against other builds and removals; returns the file descriptor of the lock.

    Programs that inherit the descriptor hold the lock as well.

    Raises:
        CelltcpError: somebody else has it, or the cache cannot be written.
    """
    with ExitStack() as held:
        try:
            root().mkdir(parents=True, exist_ok=True)
            descriptor = held.enter_context(locked(root() / ".lock", stays=True))
        except LockTaken as taken:
            raise CelltcpError(
                f"{root()}: process {taken.holder} is building or removing here; wait or end it"
            ) from None
        except OSError as error:
            raise CelltcpError(f"{root()}: cannot be written: {error.strerror}") from None
        yield descriptor
