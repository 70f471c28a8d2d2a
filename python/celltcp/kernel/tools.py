"""The programs that a build needs."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from celltcp._core import CelltcpError

#: Programs and Debian's packages that have them.
_PROGRAMS = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "m4": "m4",
    "bc": "bc",
    "cpio": "cpio",
    "xz": "xz-utils",
}

#: Those that fetch a Debian package.
_DEBIAN = {"apt-get": "apt", "dpkg-deb": "dpkg"}


def require(debian: bool) -> None:
    """Makes sure that everything is there, before anything is begun.

    Raises:
        CelltcpError: names what is missing and the packages that have it.
    """
    if debian:
        missing = [program for program in _DEBIAN if shutil.which(program) is None]
        if missing:
            raise CelltcpError(
                f"kernel: {', '.join(missing)} not found: this is no Debian; give --source with a "
                "tarball from kernel.org"
            )
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    packages = sorted({_PROGRAMS[program] for program in missing})
    if "gcc" not in missing and not _has_c_library():
        missing.append("the C library's headers")
        packages.append("libc6-dev")
    if missing:
        raise CelltcpError(
            f"kernel: {', '.join(missing)} not found; on Debian: sudo apt-get install "
            f"{' '.join(packages)}"
        )


def _has_c_library() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.c"
        program.write_text("#include <stdio.h>\nint main(void) { return 0; }\n", "utf-8")
        command = ["gcc", str(program), "-o", str(Path(folder) / "program")]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
