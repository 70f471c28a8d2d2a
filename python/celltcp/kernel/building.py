"""Building a kernel, step by step; each step that is done is not done again."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.kernel import debian, tools, tree
from celltcp.kernel.cache import WORK, Kernel, cache_folder, find, kernels
from celltcp.kernel.kernel_side import congestion_controls, fingerprint, kernel_side
from celltcp.kernel.make import make

#: The source that is taken unless another is named.
DEFAULT_PACKAGE = "linux-source-7.3"
#: Free bytes without which a build is not begun: source, its package and objects.
SPACE = 2_500_000_000

#: Called with what is being done, and with each file that is compiled.
Progress = Callable[[str, str], None]


def build(
    source: str | Path | None = None,
    *,
    debian_package: str = DEFAULT_PACKAGE,
    jobs: int | None = None,
    keep_source: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Kernel:
    """Builds a kernel into the user's cache, unless it is there already.

    Args:
        source: a tarball from kernel.org; a Debian package is fetched unless given.
        debian_package: name of the package.
        jobs: compilers at a time; all cores unless given.
        keep_source: keep the source tree and the objects, so that the next build is short.
        force: build although it is there.
        progress: called with the step and its detail.

    Raises:
        CelltcpError: names what is missing, or says where the log of a failed step is.
    """
    told = progress or _tell_nobody
    tarball = Path(source) if source is not None else None
    if tarball is not None and not tarball.is_file():
        raise CelltcpError(f"{tarball}: there is no such file")
    origin = tarball.name if tarball else debian_package
    known = _built_from(origin)
    if known and not force and tarball is None:
        return known
    tools.require(tarball is None)
    work = cache_folder() / f"{WORK}{origin}"
    _make_folder(work)
    with _alone(work), _space_told(work):
        return _build(work, tarball, debian_package, jobs, keep_source, force, told)


def _build(
    work: Path,
    tarball: Path | None,
    package: str,
    jobs: int | None,
    keep_source: bool,
    force: bool,
    told: Progress,
) -> Kernel:
    source, output, log = work / "source", work / "output", work / "build.log"
    digest = ""
    if not source.is_dir():
        _require_space(work)
        if tarball is None:
            told("fetching", package)
            deb = debian.fetch(package, work)
            digest = _sha256(deb)
            told("unpacking", deb.name)
            tree.unpack(debian.unpack(deb, work / "package"), source)
            shutil.rmtree(work / "package")
            shutil.rmtree(work / "apt")
            deb.unlink()
        else:
            told("unpacking", tarball.name)
            digest = _sha256(tarball)
            tree.unpack(tarball, source)
        (work / "digest").write_text(digest, "utf-8")
    version = tree.version(source)
    origin = tarball.name if tarball else package
    about = {
        "version": version,
        "source": origin,
        "sha256": (work / "digest").read_text("utf-8"),
        "kernel_side": fingerprint(),
    }
    for kernel in kernels():
        same = all(kernel.about.get(key) == value for key, value in about.items())
        if kernel.version == version and same and not force:
            _clear(work, keep_source)
            return kernel
    told("configuring", version)
    tree.apply_kernel_side(source)
    config = f"KCONFIG_ALLCONFIG={kernel_side() / 'config'}"
    output.mkdir(exist_ok=True)
    count = jobs or os.cpu_count() or 1
    make(source, output, [config, "allnoconfig"], jobs=count, log=log, listener=_hear_nothing)

    def compiled(line: str) -> None:
        told("compiling", line.strip())

    make(source, output, ["linux"], jobs=count, log=log, listener=compiled)
    told("installing", version)
    _install(work, version, about)
    _clear(work, keep_source)
    return find(version)


def _tell_nobody(_step: str, _detail: str) -> None:
    pass


def _hear_nothing(_line: str) -> None:
    pass


def _install(work: Path, version: str, about: dict[str, str]) -> None:
    """Puts what was built into its place: all of it, or nothing."""
    output, ready = work / "output", work / "ready"
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir()
    stripped = ["strip", "-o", str(ready / "linux"), str(output / "linux")]
    subprocess.run(stripped, check=True, capture_output=True)
    shutil.copyfile(output / ".config", ready / "config")
    shutil.copyfile(work / "build.log", ready / "build.log")
    config = (ready / "config").read_text("utf-8")
    whole = {
        **about,
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
        "ccas": congestion_controls(config),
    }
    (ready / "about.json").write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    place = cache_folder() / version
    shutil.rmtree(place, ignore_errors=True)
    ready.rename(place)


def _built_from(origin: str) -> Kernel | None:
    for kernel in kernels():
        if kernel.about.get("source") == origin and kernel.up_to_date:
            return kernel
    return None


def _clear(work: Path, keep_source: bool) -> None:
    if not keep_source:
        for entry in work.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        work.rmdir()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CelltcpError(f"{folder}: cannot be made: {error.strerror}") from None


def _require_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < SPACE:
        raise CelltcpError(
            f"{folder}: has {free / 1e9:.1f} GB free; a build needs {SPACE / 1e9:.1f} GB; set "
            "XDG_CACHE_HOME to a place with more"
        )


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    """Makes sure that nobody else builds in this folder."""
    lock = work.with_name(f"{work.name}.lock")
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CelltcpError(f"{work}: another celltcp builds this kernel now") from None
        yield
    lock.unlink(missing_ok=True)


@contextmanager
def _space_told(work: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise CelltcpError(
                f"{work}: the disk is full; make room and build again: what is done is kept"
            ) from None
        raise


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
