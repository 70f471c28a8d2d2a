"""Kernel side of celltcp: the driver and the configuration that are added to the kernel's source."""

from __future__ import annotations

import hashlib
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.kernel.edits import EDITS


def kernel_side() -> Path:
    """Returns the folder with `driver/` and `config`: in the installed package, else in the checkout.

    Raises:
        CelltcpError: if neither has it.
    """
    package = Path(__file__).resolve().parents[1]
    folders = (package / "engine" / "kernel", package.parents[1] / "kernel")
    for folder in folders:
        if (folder / "driver" / "Makefile").is_file() and (folder / "config").is_file():
            return folder
    raise CelltcpError(
        f"kernel side: there is no driver/Makefile with a config in {' or '.join(map(str, folders))}"
    )


def fingerprint(side: Path) -> str:
    """Returns a hash of the kernel side and the edits; a kernel with another one is outdated."""
    digest = hashlib.sha256()
    for file in [side / "config", *driver_files(side)]:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(side)} {len(content)}\n".encode())
        digest.update(content)
    for edit in EDITS:
        digest.update(repr(edit).encode())
    return digest.hexdigest()


def driver_files(side: Path) -> list[Path]:
    """Returns the files of the driver, sorted."""
    return sorted(file for file in (side / "driver").rglob("*") if file.is_file())
