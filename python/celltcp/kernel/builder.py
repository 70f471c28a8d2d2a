"""Build of a kernel from its source into the cache. An interrupted build is resumed."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from celltcp._core import CelltcpError, available_threads
from celltcp.kernel import cache
from celltcp.kernel.cache import About, Kernel, Origin
from celltcp.kernel.origin import DebianPackage, NewestPackage, Tarball
from celltcp.kernel.process import exit_on_signals
from celltcp.kernel.side import fingerprint, kernel_side
from celltcp.kernel.tools import check_machine, check_tools
from celltcp.kernel.tree import apply_side, built_in_ccas, check_tree
from celltcp.kernel.work import Report, Work

#: Major version of kernels whose newest Debian source is the default.
DEFAULT_SERIES = 7
_VERSION = re.compile(r"\d+\.\d+(\.\d+)?(-rc\d+)?")
#: Environment variables that change what kbuild builds.
_BUILD_VARIABLES = re.compile(
    r"K(BUILD|CONFIG)_.*|K?[AC]FLAGS|KCPPFLAGS|KRUSTFLAGS|LDFLAGS|(SUB)?ARCH|CROSS_COMPILE|LLVM(_IAS)?"
    r"|(GNU)?MAKEFLAGS|MFLAGS|MAKELEVEL|MAKEFILES|LOCALVERSION|INSTALL_.*|[CMOVW]"
)
#: Line of kbuild's output about a compiled, archived or linked file.
_BUILT_LINE = re.compile(r"\s*(?:HOST)?(?:CC|AS|AR|LD)\s+(\S+)")


def build(
    *,
    source: str | Path | None = None,
    debian: str | None = None,
    jobs: int | None = None,
    keep_source: bool = False,
    force: bool = False,
    report: Report = lambda _step, _done, _detail: None,
) -> Kernel:
    """Builds a user-mode kernel into the cache, or returns the cached one if it is up to date.

    Steps that an interrupted build has finished are not repeated.

    Args:
        source: a tarball of a kernel.
        debian: without `source`, the Debian package to fetch; by default the newest linux-source-7.x of
            all suites.
        jobs: number of parallel compilers; by default one for each processor that the process may use.
        keep_source: whether to keep the source and the object files, for quick rebuilds.
        force: whether to fetch and build again although the kernel is up to date.
        report: called with the step, its finished share (None: unknown) and the current item.

    Raises:
        CelltcpError: if something is missing or fails, with the path of the log.
    """
    if source is not None and debian is not None:
        raise CelltcpError("kernel build: --source and --debian exclude each other")
    check_machine()
    origin: DebianPackage | Tarball
    if source is not None:
        origin = Tarball(Path(source))
    else:
        origin = DebianPackage(debian) if debian else NewestPackage(DEFAULT_SERIES)
    variables = environment()
    check_tools(variables, needs_debian=source is None)
    side = kernel_side()
    with exit_on_signals(), cache.lock() as lock:
        if not force and (existing := up_to_date(origin, side)):
            return existing
        work = Work(cache.work_folder(origin.name), variables, report, (lock,))
        with _explained_disk_errors(work.folder):
            if force:
                shutil.rmtree(work.folder, ignore_errors=True)
            work.folder.mkdir(parents=True, exist_ok=True)
            work.check_space(origin.packed_bytes)
            tree, source_origin = _unpack(origin, work)
            # Computed before the copy: a change of the driver from now on makes the kernel outdated.
            side_hash = fingerprint(side)
            _compile(work, side, tree, jobs)
            version = _install(work, side_hash, tree, source_origin)
            if not keep_source:
                report("clean", None, str(work.folder))
                shutil.rmtree(work.folder)
    return cache.find(version)


def up_to_date(origin: DebianPackage | Tarball, side: Path) -> Kernel | None:
    """Returns the newest kernel from this source with the current kernel side, or None."""
    side_hash = fingerprint(side)
    for kernel in reversed(cache.kernels()):
        if origin.matches(kernel.about["source"]) and kernel.about["kernel_side"] == side_hash:
            return kernel
    return None


def _unpack(origin: DebianPackage | Tarball, work: Work) -> tuple[Path, Origin]:
    """Unpacks the source unless that is done; returns its top folder and its origin."""
    if not work.source.is_dir():
        partial = work.folder / "source.partial"
        try:
            tree, source_origin = origin.unpack(work, partial)
            check_tree(tree, source_origin["file"])
        except CelltcpError:
            shutil.rmtree(partial, ignore_errors=True)
            with suppress(OSError):  # the folder stays if it has a log
                work.folder.rmdir()
            raise
        (partial / "origin.json").write_text(json.dumps(source_origin), "utf-8")
        shutil.rmtree(work.out, ignore_errors=True)
        partial.rename(work.source)
    shutil.rmtree(work.apt, ignore_errors=True)
    source_origin = json.loads((work.source / "origin.json").read_text("utf-8"))
    (tree,) = (entry for entry in work.source.iterdir() if entry.is_dir())
    return tree, source_origin


def _compile(work: Work, side: Path, tree: Path, jobs: int | None) -> None:
    """Adds the kernel side to the source, configures it and compiles it."""
    work.report("configure", None, str(side))
    apply_side(side, tree)
    work.out.mkdir(exist_ok=True)
    make = ["make", "ARCH=um", f"O={work.out}"]
    work.call("configure", [*make, f"KCONFIG_ALLCONFIG={side / 'config'}", "allnoconfig"], tree)
    files = 0

    def on_line(line: str) -> None:
        nonlocal files
        if file := built_file(line):
            files += 1
            work.report("compile", None, f"{files} files, {file}")

    work.report("compile", None, "starts")
    work.call("compile", [*make, f"-j{jobs or available_threads()}", "linux"], tree, on_line)


def _install(work: Work, side_hash: str, tree: Path, origin: Origin) -> str:
    """Moves the kernel into the cache, where it replaces the same version; returns the version."""
    work.report("install", None, "")
    output = work.call("version", ["make", "-s", "ARCH=um", f"O={work.out}", "kernelversion"], tree)
    version = next((line for line in reversed(output) if _VERSION.fullmatch(line)), None)
    if version is None:
        raise CelltcpError(f"{tree}: `make kernelversion` says no version: {output}")
    ready = work.folder / "ready"
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir()
    binary = ready / "linux"
    work.call("install", ["strip", "-o", str(binary), str(work.out / "linux")], work.folder)
    shutil.copyfile(work.out / ".config", ready / "config")
    shutil.copyfile(work.log, ready / "build.log")
    about = About(
        version=version,
        source=origin,
        built=datetime.now(UTC).isoformat(timespec="seconds"),
        ccas=built_in_ccas(tree, ready / "config"),
        kernel_side=side_hash,
        size_bytes=binary.stat().st_size,
    )
    (ready / "about.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    target, replaced = cache.root() / version, work.folder / "replaced"
    shutil.rmtree(replaced, ignore_errors=True)
    if target.exists():
        target.rename(replaced)
    ready.rename(target)
    shutil.rmtree(replaced, ignore_errors=True)
    return version


@contextmanager
def _explained_disk_errors(folder: Path) -> Iterator[None]:
    """Replaces an OSError by an error with its reason: a full disk, or no write access."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = "no space is left on this disk" if is_full else error.strerror or str(error)
        raise CelltcpError(
            f"{error.filename or folder}: {reason}; fix this and rerun the command to continue"
        ) from None


def environment() -> dict[str, str]:
    """Returns the user's environment for a reproducible build, without variables that change it.

    Builder and time are fixed (Documentation/kbuild/reproducible-builds.rst): they are in the kernel's
    banner, which is an input of its random numbers.
    """
    variables = {
        name: value for name, value in os.environ.items() if not _BUILD_VARIABLES.fullmatch(name)
    }
    return variables | {
        "LC_ALL": "C",
        "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
        "KBUILD_BUILD_USER": "celltcp",
        "KBUILD_BUILD_HOST": "celltcp",
        "KBUILD_BUILD_VERSION": "1",
    }


def built_file(line: str) -> str | None:
    """Returns the file that a line of kbuild's output names as built; None for other lines."""
    match = _BUILT_LINE.match(line)
    return match[1] if match else None
