"""Environment and output of kbuild, the kernel's build system."""

from __future__ import annotations

import os
import re

#: Environment variables that change what kbuild builds.
_BUILD_VARIABLES = re.compile(
    r"K(BUILD|CONFIG)_.*|K?[AC]FLAGS|KCPPFLAGS|KRUSTFLAGS|LDFLAGS|(SUB)?ARCH|CROSS_COMPILE|LLVM(_IAS)?"
    r"|(GNU)?MAKEFLAGS|MFLAGS|MAKELEVEL|MAKEFILES|LOCALVERSION|INSTALL_.*|[CMOVW]"
)
#: Line of kbuild's output about a compiled, archived or linked file.
_BUILT_LINE = re.compile(r"\s*(?:HOST)?(?:CC|AS|AR|LD)\s+(\S+)")


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
