"""Checks of the machine, programs and headers that the build of a kernel needs."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Mapping

from celltcp._core import CelltcpError

#: Programs that the build calls, with their Debian packages.
BUILD_TOOLS = {
    "gcc": "gcc",
    "make": "make",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "m4": "m4",
    "bc": "bc",
    "find": "findutils",
    "cmp": "diffutils",
}
#: Programs that fetch and unpack a Debian package, with their Debian packages.
DEBIAN_TOOLS = {"apt-get": "apt", "apt-cache": "apt", "apt-config": "apt", "dpkg-deb": "dpkg"}
#: Headers of the host that a user-mode kernel is compiled against, with their Debian packages.
_HEADERS = {"stdlib.h": "libc6-dev", "asm/ptrace.h": "linux-libc-dev"}


def check_machine() -> None:
    """Checks that the machine can run a user-mode kernel.

    Raises:
        CelltcpError: if it is another than Linux on x86_64.
    """
    machine = f"{platform.system()} on {platform.machine()}"
    if machine != "Linux on x86_64":
        raise CelltcpError(f"kernel build: needs Linux on x86_64; this machine is {machine}")


def check_tools(environment: Mapping[str, str], *, needs_debian: bool) -> None:
    """Checks that all tools of a build are installed, and the Debian ones if `needs_debian`.

    Raises:
        CelltcpError: if something is missing; names all of it with the packages.
    """
    path = environment.get("PATH")
    if needs_debian and any(shutil.which(tool, path=path) is None for tool in DEBIAN_TOOLS):
        raise CelltcpError(
            "kernel build: there is no apt of Debian here to fetch the source with; pass --source "
            "FILE with a tarball of the kernel from kernel.org"
        )
    missing = {
        tool: package for tool, package in BUILD_TOOLS.items() if shutil.which(tool, path=path) is None
    }
    if "gcc" not in missing:
        missing |= {
            header: package
            for header, package in _HEADERS.items()
            if not _has_header(header, environment)
        }
    if missing:
        packages = " ".join(sorted(set(missing.values())))
        raise CelltcpError(
            f"kernel build: missing: {', '.join(missing)}; on Debian and Ubuntu: apt install {packages}"
        )


def _has_header(header: str, environment: Mapping[str, str]) -> bool:
    done = subprocess.run(
        ["gcc", "-E", "-x", "c", "-"],
        input=f"#include <{header}>\n".encode(),
        env=environment,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0
