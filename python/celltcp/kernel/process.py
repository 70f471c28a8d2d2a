"""Programs that a build runs: their output is logged, and they end with the build."""

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

#: Number of lines of output in the error about a failure.
_ERROR_LINES = 12
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
    """Runs a program in its own process group. The group is killed if this call is interrupted.

    Args:
        command: the program and its arguments.
        what: name of the action in errors.
        log: file to which standard output and error are appended.
        environment: environment variables of the program.
        on_line: called with each line of output.
        folder: working directory of the program.
        unlogged: prefix of lines that are passed to `on_line` but not logged.
        keep_open: file descriptors that the program inherits.

    Returns:
        The last lines of output.

    Raises:
        CelltcpError: if the program fails, with its last lines and the path of the log.
        OSError: if it fails because the disk is full.
    """
    last_lines: deque[str] = deque(maxlen=_ERROR_LINES)
    is_full = False
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
                        last_lines.append(line.rstrip())
                    is_full = is_full or "No space left on device" in line
            code = process.wait()
        except BaseException:
            _end_group(process)
            raise
    if code == 0:
        return list(last_lines)
    if is_full:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(log.parent))
    lines = "".join(f"\n  {line}" for line in last_lines)
    raise CelltcpError(f"{what}: {command[0]} failed with code {code}; the whole log is {log}{lines}")


def _end_group(process: subprocess.Popen[str]) -> None:
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
            return


@contextlib.contextmanager
def exit_on_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise SystemExit with code 128 + signal number, so that cleanup runs."""

    def exit_process(signal_number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + signal_number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGTERM, signal.SIGHUP)
    previous = {number: signal.signal(number, exit_process) for number in signals}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
