"""Work folder of the build of a kernel, with its log and its programs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.kernel.process import run

#: Progress callback: gets the step, its finished share (None: unknown) and the current item.
Report = Callable[[str, float | None, str], None]

#: Size of an unpacked source and of the compiled files, bytes (Linux 7.3: 1.8 GB and 0.12 GB).
_UNPACKED_BYTES = 2_000_000_000
_COMPILED_BYTES = 250_000_000


@dataclass(frozen=True)
class Work:
    """A build in its folder. Programs inherit `keep_open`, the descriptor of the cache lock."""

    folder: Path
    environment: Mapping[str, str]
    report: Report
    keep_open: tuple[int, ...]

    @property
    def log(self) -> Path:
        """File with the output of all programs."""
        return self.folder / "build.log"

    @property
    def apt(self) -> Path:
        """Folder of the private apt with the packages that it fetched."""
        return self.folder / "apt"

    @property
    def source(self) -> Path:
        """Folder of the unpacked source; it exists only if it is complete."""
        return self.folder / "source"

    @property
    def out(self) -> Path:
        """Folder of kbuild's output (`O=`)."""
        return self.folder / "out"

    def call(
        self,
        what: str,
        command: list[str],
        folder: Path,
        on_line: Callable[[str], None] = lambda _: None,
    ) -> list[str]:
        """Runs a program of this build as `process.run` does, and returns its last lines."""
        return run(
            command,
            what=what,
            log=self.log,
            environment=self.environment,
            on_line=on_line,
            folder=folder,
            keep_open=self.keep_open,
        )

    def check_space(self, packed_bytes: int) -> None:
        """Checks that the disk has space for the remainder of the build.

        Raises:
            CelltcpError: if it has not.
        """
        needed = _COMPILED_BYTES
        if not self.source.is_dir():
            needed += _UNPACKED_BYTES + packed_bytes
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise CelltcpError(
                f"{self.folder}: the build needs {needed / 1e9:.1f} GB of disk, of which "
                f"{free / 1e9:.1f} GB are free; XDG_CACHE_HOME moves the cache to another disk"
            )
