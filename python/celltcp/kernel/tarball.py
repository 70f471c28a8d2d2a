"""Unpacking of a kernel's source: a tarball, by itself or within a Debian package."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO

from celltcp._core import CelltcpError

#: Path of the tarball within a package linux-source-X.Y of Debian and Ubuntu.
_IN_PACKAGE = re.compile(r"\.?/?usr/src/(?:[^/]+/)?linux-source-[^/]+\.tar\.(?:xz|bz2|gz)")
#: Number of members between two reports of progress.
_REPORT_EVERY = 500
#: Errors about damaged archives.
_DAMAGE_ERRORS = (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError)

#: Called with the finished share of a step.
Progress = Callable[[float], None]


def unpack_tarball(tarball: Path, into: Path, progress: Progress) -> Path:
    """Unpacks a tarball of a kernel.

    Args:
        tarball: uncompressed, or compressed in a way that Python reads.
        into: the folder to create; an existing one is removed first.
        progress: called with the finished share.

    Returns:
        The top folder of the source.

    Raises:
        CelltcpError: if the file is no tarball, is damaged, or is not the packed folder of a source.
    """
    with tarball.open("rb") as packed:
        return _unpack(packed, tarball.stat().st_size, into, str(tarball), progress)


def unpack_package(package: Path, into: Path, progress: Progress) -> Path:
    """Unpacks the tarball within a Debian package, as `unpack_tarball` does."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as reader:
        assert reader.stdout is not None
        try:
            with tarfile.open(fileobj=reader.stdout, mode="r|") as members:
                for member in members:
                    if not (member.isfile() and _IN_PACKAGE.fullmatch(member.name)):
                        continue
                    packed = members.extractfile(member)
                    assert packed is not None
                    return _unpack(packed, member.size, into, member.name, progress)
        except _DAMAGE_ERRORS as error:
            raise CelltcpError(f"{package}: not a Debian package, or damaged: {error}") from None
        finally:
            reader.kill()
    raise CelltcpError(f"{package}: holds no tarball of a kernel in usr/src")


def _unpack(packed: IO[bytes], size: int, into: Path, name: str, progress: Progress) -> Path:
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    top = None
    try:
        with tarfile.open(fileobj=packed, mode="r|*") as members:
            for count, member in enumerate(members):
                parts = PurePosixPath(member.name).parts
                if not parts:  # "./", an entry for the packed folder itself
                    continue
                top = top or parts[0]
                if parts[0] != top or ".." in parts:
                    raise CelltcpError(
                        f"{name}: not the source of a kernel: {member.name} lies beside {top}"
                    )
                _extract(members, member, into)
                if count % _REPORT_EVERY == 0:
                    progress(packed.tell() / size)
    except _DAMAGE_ERRORS as error:
        raise CelltcpError(f"{name}: not a tarball, or cut short: {error}") from None
    if top is None or not (into / top).is_dir():
        raise CelltcpError(f"{name}: not the source of a kernel: no folder in it")
    return into / top


def _extract(members: tarfile.TarFile, member: tarfile.TarInfo, into: Path) -> None:
    """Extracts a member; rejects one that is outside of the folder or links out of it."""
    if hasattr(tarfile, "data_filter"):
        members.extract(member, into, filter="data")
        return
    # Python 3.11.2 of Debian 12 has no filters.
    paths = [into / member.name]
    if member.issym():
        paths.append(paths[0].parent / member.linkname)
    elif member.islnk():
        paths.append(into / member.linkname)
    elif not (member.isreg() or member.isdir()):
        raise tarfile.ExtractError(f"{member.name} is neither a file nor a folder nor a link")
    if not all(path.resolve().is_relative_to(into.resolve()) for path in paths):
        raise tarfile.ExtractError(f"{member.name} leads out of it")
    members.extract(member, into)
