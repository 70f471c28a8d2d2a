"""Status of kernels: those that are built, and whether a rebuild is due."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

from celltcp.kernel import cache
from celltcp.kernel.cache import Kernel
from celltcp.kernel.side import fingerprint, kernel_side


class KernelState(TypedDict):
    """A built kernel; `command` builds it again."""

    version: Annotated[str, "Version of the Linux kernel."]
    ccas: list[str]
    size_bytes: Annotated[int, "Size, bytes."]
    built: str
    source: str
    up_to_date: bool
    command: str
    path: str


class WorkState(TypedDict):
    """The folder of an unfinished build, or of one that kept its source."""

    path: str
    size_bytes: Annotated[int, "Size, bytes."]


class Status(TypedDict):
    """Everything in the cache of kernels."""

    folder: str
    kernels: list[KernelState]
    work: Annotated[list[WorkState], "Folders of unfinished builds."]


def status() -> Status:
    """Returns the kernels in the cache.

    Raises:
        CelltcpError: a kernel is damaged; says how to remove it.
    """
    kernels = cache.kernels()
    mark = fingerprint(kernel_side()) if kernels else ""
    return Status(
        folder=str(cache.root()),
        kernels=[_state(kernel, mark) for kernel in kernels],
        work=[WorkState(path=str(work), size_bytes=_size(work)) for work in cache.work_folders()],
    )


def _state(kernel: Kernel, mark: str) -> KernelState:
    about = kernel.about
    source = about["source"]
    choice = (
        f"--debian {source['name']}" if source["kind"] == "debian" else f"--source {source['file']}"
    )
    return KernelState(
        version=kernel.version,
        ccas=list(kernel.ccas),
        size_bytes=about["size_bytes"],
        built=about["built"],
        source=source["file"],
        up_to_date=about["kernel_side"] == mark,
        command=f"{cache.BUILD_COMMAND} {choice}",
        path=str(kernel.binary),
    )


def _size(folder: Path) -> int:
    """Returns the size on disk, bytes."""
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*"))
