"""Origins of a kernel's source: a Debian package, or a tarball of the user."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.kernel.apt import Apt, Package, check_name, sha256
from celltcp.kernel.cache import Origin
from celltcp.kernel.tarball import unpack_package, unpack_tarball
from celltcp.kernel.work import Work


class DebianPackage:
    """A package such as linux-source-7.3, fetched by apt."""

    #: Disk space for the package, bytes.
    packed_bytes = 200_000_000

    def __init__(self, package: str) -> None:
        check_name(package)
        self.name = package

    def matches(self, origin: Origin) -> bool:
        """Returns whether a kernel was built from a package of this name."""
        return origin["kind"] == "debian" and origin["name"] == self.name

    def unpack(self, work: Work, into: Path) -> tuple[Path, Origin]:
        """Fetches and unpacks the package; returns the top folder and the origin.

        Raises:
            CelltcpError: if the package is not found, cannot be fetched, or has no kernel source.
        """
        apt = Apt(work.apt, work.log, work.environment, work.keep_open)
        name, package = self._find(apt, lambda suite: work.report("fetch", None, f"looking in {suite}"))
        size = f"{package.file}, {package.size / 1e6:.0f} MB"
        file = apt.fetch(name, package, lambda done: work.report("fetch", done, size))
        tree = unpack_package(file, into, lambda done: work.report("unpack", done, package.file))
        return tree, Origin(kind="debian", name=name, file=package.file, sha256=package.sha256)

    def _find(self, apt: Apt, report: Callable[[str], None]) -> tuple[str, Package]:
        """Returns the name of the package to fetch, and its file."""
        return self.name, apt.find(self.name, report)


class NewestPackage(DebianPackage):
    """The newest of Debian's packages of a series, such as 7 for linux-source-7.x, fetched by apt."""

    def __init__(self, series: int) -> None:
        self._series = series
        self.name = f"linux-source-{series}"

    def matches(self, origin: Origin) -> bool:
        """Returns whether a kernel was built from a package of the series."""
        return origin["kind"] == "debian" and origin["name"].startswith(f"{self.name}.")

    def _find(self, apt: Apt, report: Callable[[str], None]) -> tuple[str, Package]:
        return apt.find_newest(self._series, report)


class Tarball:
    """A tarball of the user, as kernel.org publishes them."""

    #: No space is needed: the tarball is read where it is.
    packed_bytes = 0

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._sha256 = sha256(file)
        except OSError as error:
            raise CelltcpError(f"--source {file}: {error.strerror}") from None
        stem = re.sub(r"\.(tar(\.\w+)?|tgz)$", "", file.name)
        self.name = f"{stem}-{self._sha256[:8]}"

    def matches(self, origin: Origin) -> bool:
        """Returns whether a kernel was built from a tarball with this SHA-256."""
        return origin["sha256"] == self._sha256

    def unpack(self, work: Work, into: Path) -> tuple[Path, Origin]:
        """Unpacks the tarball; returns the top folder and the origin.

        Raises:
            CelltcpError: if the file is no tarball, or truncated.
        """
        tree = unpack_tarball(
            self._file, into, lambda done: work.report("unpack", done, self._file.name)
        )
        origin = Origin(kind="tarball", name=self.name, file=self._file.name, sha256=self._sha256)
        return tree, origin
