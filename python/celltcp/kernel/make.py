"""Calls of the kernel's build system."""

from __future__ import annotations

import os
import re

#: Environment variables that would change the output of kbuild.
_FOREIGN = re.compile(
    r"K(BUILD|CONFIG)_.*|K?[AC]FLAGS|KCPPFLAGS|KRUSTFLAGS|LDFLAGS|(SUB)?ARCH|CROSS_COMPILE|LLVM(_IAS)?"
    r"|(GNU)?MAKEFLAGS|MFLAGS|MAKELEVEL|MAKEFILES|LOCALVERSION|INSTALL_.*|[CMOVW]"
)
#: Line of kbuild's output on a compiled file, or on an archive of object files.
_MADE = re.compile(r"\s*(?:HOST)?(?:CC|AS|AR|LD)\s+(\S+)")


def environment() -> dict[str, str]:
    """Returns the user's environment without variables that would change the outcome.

    Builder and time are fixed, since the kernel mixes its own banner into its random numbers: the same
    source gives the same kernel (Documentation/kbuild/reproducible-builds.rst).
    """
    environment = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
    return environment | {
        "LC_ALL": "C",
        "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
        "KBUILD_BUILD_USER": "celltcp",
        "KBUILD_BUILD_HOST": "celltcp",
        "KBUILD_BUILD_VERSION": "1",
    }


def made_file(line: str) -> str | None:
    """Returns the file that kbuild makes according to this line of its output; None for other lines."""
    match = _MADE.match(line)
    return match[1] if match else None
