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
def locked(file: Path, *, keeps_file: bool = False) -> Iterator[int]:
    """Holds the lock of a file, and writes the id of this process into it.

    Programs that inherit the file descriptor hold the lock as well. On file systems without locks,
    nothing is locked.

    Args:
        file: lock file, which is created if it is missing.
        keeps_file: whether the file stays after the release of the lock.

    Yields:
        The file descriptor that holds the lock.

    Raises:
        LockTaken: if another process holds the lock.
        OSError: if the file cannot be opened.
    """
    lock = _open_locked(file)
    try:
        yield lock.fileno()
    finally:
        try:
            if not keeps_file:
                file.unlink(missing_ok=True)
        finally:
            lock.close()


def _open_locked(file: Path) -> IO[str]:
    """Opens and locks a file."""
    while True:
        lock = file.open("a+", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                # A file system without locks: other processes cannot be detected.
                return lock
            with lock:
                lock.seek(0)
                raise LockTaken(lock.read().strip()) from None
        try:
            is_current = os.path.samestat(os.fstat(lock.fileno()), file.stat())
        except FileNotFoundError:
            is_current = False
        if is_current:
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            return lock
        # The former holder has removed the file since it was opened.
        lock.close()
