"""The source tree: unpacking it, and putting our part into it."""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.kernel.kernel_side import kernel_side

#: Where the driver goes, and the Makefile that is to go into that folder.
_DRIVERS = Path("arch/um/drivers")
_DRIVER_LINE = "obj-y += celltcp/\n"


def unpack(tarball: Path, folder: Path) -> None:
    """Unpacks a kernel's tarball as `folder`.

    Raises:
        CelltcpError: if it is none.
    """
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with tarfile.open(tarball) as archive:
            archive.extractall(partial, filter="tar")
    except (tarfile.TarError, EOFError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise CelltcpError(f"{tarball}: is not a whole tarball: {error}") from None
    tops = list(partial.iterdir())
    if len(tops) != 1 or not (tops[0] / "arch" / "um" / "Makefile").is_file():
        shutil.rmtree(partial, ignore_errors=True)
        raise CelltcpError(
            f"{tarball}: is not the source of a Linux kernel: it has no arch/um; allowed: "
            "linux-VERSION.tar.xz from kernel.org"
        )
    shutil.rmtree(folder, ignore_errors=True)
    tops[0].rename(folder)
    partial.rmdir()


def version(tree: Path) -> str:
    """The kernel's version, from its Makefile: 7.3.4."""
    text = (tree / "Makefile").read_text("utf-8")
    words = {}
    for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL", "EXTRAVERSION"):
        found = re.search(rf"^{name}[ \t]*=[ \t]*(\S*)", text, re.MULTILINE)
        if found is None:
            raise CelltcpError(f"{tree / 'Makefile'}: says no {name}: is it a kernel's?")
        words[name] = found[1]
    return "{VERSION}.{PATCHLEVEL}.{SUBLEVEL}{EXTRAVERSION}".format(**words)


def apply_kernel_side(tree: Path) -> None:
    """Puts the driver in its place and sets what has no option of its own. May be done again."""
    driver = tree / _DRIVERS / "celltcp"
    shutil.rmtree(driver, ignore_errors=True)
    shutil.copytree(kernel_side() / "driver", driver)
    makefile = tree / _DRIVERS / "Makefile"
    text = makefile.read_text("utf-8")
    if _DRIVER_LINE not in text:
        makefile.write_text(text + "\n" + _DRIVER_LINE, "utf-8")
    _set_timer_frequency(tree / "arch" / "um" / "Kconfig")
    _enlarge_register_frame(tree / "arch")


def _set_timer_frequency(kconfig: Path) -> None:
    """A tick of a millisecond, as finely as TCP's timers go; there is no prompt for it."""
    text = kconfig.read_text("utf-8")
    changed = re.sub(r"(config HZ\n(?:[ \t]+\S.*\n)*?[ \t]+default )\d+", r"\g<1>1000", text)
    if "default 1000" not in changed:
        raise CelltcpError(f"{kconfig}: has no default of HZ: this kernel is not known to celltcp")
    kconfig.write_text(changed, "utf-8")


def _enlarge_register_frame(arch: Path) -> None:
    """Makes room for the floating-point registers of today's processors.

    Kernels before 6.16 keep so many bytes of them at most; those of AMX alone are 8 KiB.
    """
    offsets = arch / "x86" / "um" / "user-offsets.c"
    text = offsets.read_text("utf-8")
    larger = re.sub(r"DEFINE_LONGS\(HOST_FP_SIZE, \d+\)", "DEFINE_LONGS(HOST_FP_SIZE, 12288)", text)
    if larger != text:
        offsets.write_text(larger, "utf-8")
