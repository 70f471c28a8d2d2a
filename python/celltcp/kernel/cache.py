"""Kernels that are built, in the user's cache."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError
from celltcp.kernel.kernel_side import fingerprint

#: Folders in which a build goes on begin so.
WORK = ".work-"


@dataclass(frozen=True)
class Kernel:
    """A kernel that is built."""

    version: str
    folder: Path
    binary: Path
    ccas: tuple[str, ...]
    about: dict[str, Any]

    @property
    def size(self) -> int:
        """Bytes that it takes in the cache."""
        return sum(entry.stat().st_size for entry in self.folder.iterdir())

    @property
    def up_to_date(self) -> bool:
        """Whether it was built with the driver and configuration that are here now."""
        return bool(self.about.get("kernel_side") == fingerprint())


def cache_folder() -> Path:
    """Where kernels are kept (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "celltcp" / "kernels"


def kernels() -> list[Kernel]:
    """All kernels that are built, the newest version first."""
    found = []
    folder = cache_folder()
    for entry in sorted(folder.iterdir()) if folder.is_dir() else []:
        if entry.name.startswith("."):
            continue
        try:
            about = json.loads((entry / "about.json").read_text("utf-8"))
            ccas = tuple(about["ccas"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if (entry / "linux").is_file():
            found.append(Kernel(entry.name, entry, entry / "linux", ccas, about))
    return sorted(found, key=lambda kernel: _numbers(kernel.version), reverse=True)


def find(version: str | None = None) -> Kernel:
    """The newest kernel, or the newest of a version: `"7.3"` finds 7.3.4.

    Raises:
        CelltcpError: if there is none; it says what is there and how to build one.
    """
    there = kernels()
    for kernel in there:
        if version in (None, kernel.version) or kernel.version.startswith(f"{version}."):
            return kernel
    if not there:
        raise CelltcpError("kernel: none is built; celltcp kernel build makes one, see docs/kernel.md")
    raise CelltcpError(
        f"kernel: {version!r} is not built; allowed: "
        f"{', '.join(kernel.version for kernel in there)}; celltcp kernel build makes others"
    )


def clean(version: str | None = None) -> list[Path]:
    """Removes one kernel or, without a version, all of them and what is left of unfinished builds.

    Raises:
        CelltcpError: if there is no such kernel.
    """
    folder = cache_folder()
    if version is not None:
        gone = [find(version).folder]
    else:
        gone = sorted(folder.iterdir()) if folder.is_dir() else []
    for entry in gone:
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    return gone


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.replace("-", ".").split(".")
    return tuple(int(part) if part.isdigit() else 0 for part in parts)
