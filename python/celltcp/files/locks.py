"""Lock files, each held by one process at a time. A lock ends with its process."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class LockTaken(Exception):  # noqa: N818 - callers catch it and raise an error of their own
    """Another process holds a lock."""

    def __init__(self, holder: str) -> None:
        """Creates the exception with the process id as text; empty if the file does not have it."""
        super().__init__(holder)
        self.holder = holder


@contextmanager
def locked(file: Path, *, stays: bool = False) -> Iterator[int]:
    """Holds the lock of a file, and writes the number of this process into it.

    Programs that inherit the file descriptor hold the lock as well. On file systems without locks
    nothing is held.

    Args:
        file: is made if it is not there.
        stays: whether the file stays after the release of the lock.

    Yields:
        The file descriptor that holds the lock.

    Raises:
        LockTaken: if another process holds it.
        OSError: if the file cannot be opened.
    """
    held = _held(file)
    try:
        yield held.fileno()
    finally:
        try:
            if not stays:
                file.unlink(missing_ok=True)
        finally:
            held.close()


def _held(file: Path) -> IO[str]:
    """Opens and locks a file."""
    while True:
        held = file.open("a+", encoding="utf-8")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                # A file system without locks: other processes cannot be detected.
                return held
            with held:
                held.seek(0)
                raise LockTaken(held.read().strip()) from None
        try:
            is_there = os.path.samestat(os.fstat(held.fileno()), file.stat())
        except FileNotFoundError:
            is_there = False
        if is_there:
            held.truncate(0)
            held.write(f"{os.getpid()}\n")
            held.flush()
            return held
        # The process that held it has removed the file in between.
        held.close()
