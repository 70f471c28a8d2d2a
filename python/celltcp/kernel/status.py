"""Status of the cache of kernels: built kernels, whether they are outdated, and work folders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

from celltcp.kernel import cache
from celltcp.kernel.cache import Kernel
from celltcp.kernel.programs import other_builds
from celltcp.kernel.side import fingerprint, kernel_side


class KernelState(TypedDict):
    """A built kernel, and the command that builds it again."""

    version: Annotated[str, "Version of the Linux kernel."]
    ccas: list[str]
    size_bytes: Annotated[int, "Size, bytes."]
    built: str
    source: str
    up_to_date: bool
    command: str
    path: str


class WorkState(TypedDict):
    """The folder of an unfinished build, or of a build with `--keep-source`."""

    path: str
    size_bytes: Annotated[int, "Size, bytes."]


class Status(TypedDict):
    """Everything in the cache of kernels."""

    folder: str
    kernels: list[KernelState]
    other_builds: Annotated[list[str], "Programs of celltcp that are not of the build of the others."]
    work: Annotated[list[WorkState], "Folders of unfinished builds."]


def status() -> Status:
    """Returns the contents of the cache of kernels.

    Raises:
        CelltcpError: if a kernel is damaged; tells how to remove it.
    """
    kernels = cache.kernels()
    side_hash = fingerprint(kernel_side()) if kernels else ""
    return Status(
        folder=str(cache.root()),
        kernels=[_state(kernel, side_hash) for kernel in kernels],
        other_builds=other_builds(),
        work=[WorkState(path=str(work), size_bytes=_size(work)) for work in cache.work_folders()],
    )


def _state(kernel: Kernel, side_hash: str) -> KernelState:
    about = kernel.about
    source = about["source"]
    source_option = (
        f"--debian {source['name']}" if source["kind"] == "debian" else f"--source {source['file']}"
    )
    return KernelState(
        version=kernel.version,
        ccas=list(kernel.ccas),
        size_bytes=about["size_bytes"],
        built=about["built"],
        source=source["file"],
        up_to_date=about["kernel_side"] == side_hash,
        command=f"{cache.BUILD_COMMAND} {source_option}",
        path=str(kernel.binary),
    )


def _size(folder: Path) -> int:
    """Returns the size on disk, bytes."""
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*"))
