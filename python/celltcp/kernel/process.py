"""Programs that a build calls: their output goes to the log, and none outlives the build."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from celltcp._core import CelltcpError

#: Number of the last lines of output in the error about a failure.
_LAST_LINES = 12
#: Time limit for a program to end after SIGTERM, s.
_GRACE_S = 10.0


def run(
    command: Sequence[str],
    *,
    what: str,
    log: Path,
    environment: Mapping[str, str],
    on_line: Callable[[str], None] = lambda _: None,
    folder: Path | None = None,
    unlogged: str | None = None,
    keep_open: Sequence[int] = (),
) -> list[str]:
    """Runs a program in its own process group, which ends with this call in any case.

    Args:
        command: the program and its arguments.
        what: the action that an error message names.
        log: gets both kinds of output appended.
        environment: of the program.
        on_line: called with each line of output as it comes.
        folder: where the program runs.
        unlogged: beginning of lines that go to `on_line` only.
        keep_open: file descriptors that the program inherits.

    Returns:
        The last lines of output.

    Raises:
        CelltcpError: the program failed; gives its last lines and the place of the log.
        OSError: it failed since the disk is full.
    """
    last: deque[str] = deque(maxlen=_LAST_LINES)
    full = False
    with log.open("a", encoding="utf-8", buffering=1) as file:
        print(f"# {' '.join(command)}", file=file)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=dict(environment),
            pass_fds=keep_open,
            process_group=0,
            encoding="utf-8",
            errors="replace",
        )
        assert process.stdout is not None
        try:
            with process.stdout as output:
                for line in output:
                    on_line(line.rstrip())
                    if unlogged is None or not line.startswith(unlogged):
                        file.write(line)
                        last.append(line.rstrip())
                    full = full or "No space left on device" in line
            code = process.wait()
        except BaseException:
            _end_group(process)
            raise
    if code == 0:
        return list(last)
    if full:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(log.parent))
    lines = "".join(f"\n  {line}" for line in last)
    raise CelltcpError(f"{what}: {command[0]} failed with code {code}; the whole log is {log}{lines}")


def _end_group(process: subprocess.Popen[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
            return


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP unwind the build like an interrupt, with exit code 128 + number."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
