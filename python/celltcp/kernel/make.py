"""Running the kernel's own build."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from celltcp._core import CelltcpError

#: Called with each line that make prints.
Listener = Callable[[str], None]

_LINES_SHOWN = 15


def make(
    tree: Path, output: Path, targets: Sequence[str], *, jobs: int, log: Path, listener: Listener
) -> None:
    """Makes `targets` of the kernel in `tree`, with all that it prints in `log`.

    Raises:
        CelltcpError: with the last lines of the log, if it fails.
    """
    command = ["make", "-C", str(tree), "ARCH=um", f"O={output}", f"-j{jobs}", *targets]
    # Nothing of the caller's own build, if celltcp runs within one, is to reach this one.
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with log.open("a", encoding="utf-8") as out:
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env={**environment, "LC_ALL": "C"},
            start_new_session=True,
        )
        try:
            for line in child.stdout or ():
                out.write(line)
                listener(line.rstrip())
            code = child.wait()
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
    if code != 0:
        lines = log.read_text("utf-8", errors="replace").splitlines()[-_LINES_SHOWN:]
        shown = "\n  ".join(lines)
        raise CelltcpError(f"{log}: make {' '.join(targets)} has failed; the log ends with\n  {shown}")
