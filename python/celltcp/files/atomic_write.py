"""Atomic writes: a file is complete or absent; errors name the file.

A regular file is replaced in one step by a complete one; of a link, the file that it leads to. Pipes
and devices are written through, as the shell's `>` does, and stay what they are.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from celltcp._core import CelltcpError


class ClosedPipeError(CelltcpError):
    """A named pipe whose reader closed it before all was written."""

    #: Exit code of the command: that of a program that SIGPIPE ends.
    exit_code = 128 + signal.SIGPIPE


@contextmanager
def atomic_write(file: Path, *, is_streamed: bool = False) -> Iterator[Path]:
    """Yields the path of a temporary file, whose content becomes that of `file` in the end.

    The temporary file is in the folder of `file`, so that a rename replaces it, with the mode that
    `file` has, or else that of the umask. Content for a pipe or device is copied there in the end.

    Args:
        file: the file, or a link to it, a named pipe, or a character device.
        is_streamed: whether pipes and devices receive the content while it is written. The yielded path
            is then that of the pipe or device.

    Raises:
        CelltcpError: if the file cannot be written.
    """
    partial = None
    try:
        target = _regular(file)
        if target is not None:
            partial = _create_beside(target)
            yield partial
            _copy_mode(target, partial)
            partial.replace(target)
        elif is_streamed and not stat.S_ISREG(file.stat().st_mode):
            partial = file
            yield file
        else:
            with tempfile.TemporaryDirectory(prefix="celltcp-") as folder:
                partial = Path(folder) / "content"
                yield partial
                with partial.open("rb") as content, _open_stream(file) as stream:
                    shutil.copyfileobj(content, stream)
    except OSError as error:
        raise _write_error(file, error) from None
    except CelltcpError as error:
        # Errors of the native module name the path that it was given.
        text = str(error).replace(str(partial), str(file)) if partial else str(error)
        if partial == file and os.strerror(errno.EPIPE) in text:
            raise ClosedPipeError(text) from None
        if text == str(error):
            raise
        raise CelltcpError(text) from None
    finally:
        if partial is not None and partial != file:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


@contextmanager
def name_in_errors(folder: Path) -> Iterator[None]:
    """Names a folder in errors without the name of a file, such as those of a full disk.

    Raises:
        CelltcpError: if something in the folder cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise _write_error(folder, error) from None


def write_text(file: Path, text: str) -> Path:
    """Writes a file of text.

    Raises:
        CelltcpError: if it cannot be written.
    """
    with atomic_write(file) as partial:
        partial.write_text(text, "utf-8")
    return file


def check_writable(file: Path) -> None:
    """Checks that a file can be written; does not open pipes and devices.

    Raises:
        CelltcpError: if the file cannot be written.
    """
    try:
        if not file.name or file.is_dir():
            raise CelltcpError(f"{file}: is a folder; allowed: a file")
        target = _regular(file)
        if target is not None:
            _create_beside(target).unlink()
    except OSError as error:
        raise _write_error(file, error) from None


def regular_file(file: Path) -> Path | None:
    """Returns the existing regular file that a name or link leads to; None for anything else."""
    try:
        target = _regular(file)
    except (OSError, CelltcpError):
        return None
    return target if target is not None and target.is_file() else None


def _regular(file: Path) -> Path | None:
    """Returns the regular file that a name or link leads to, even if it is missing; None for a stream.

    Raises:
        CelltcpError: if it is neither a regular file nor a pipe nor a character device.
        OSError: if it may not be written.
    """
    target = Path(os.path.realpath(file))
    try:
        status = file.stat()
    except FileNotFoundError:
        return target
    if _own_stream(status) is not None:
        return None
    if not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if stat.S_ISREG(status.st_mode):
        # The links of /proc/PID/fd lead to files that their text does not name.
        return target if target.exists() and target.samefile(file) else None
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode):
        return None
    kind = "a block device" if stat.S_ISBLK(status.st_mode) else "a socket"
    kind = "a folder" if stat.S_ISDIR(status.st_mode) else kind
    raise CelltcpError(f"{file}: is {kind}; allowed: a file, a pipe or a character device")


def _own_stream(status: os.stat_result) -> int | None:
    """Returns the descriptor of standard output or error if that is the file, as with /dev/stdout."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), status):
                return descriptor
    return None


def _create_beside(target: Path) -> Path:
    """Creates an empty file of a random name in the folder of `target`, with the mode of the umask."""
    partial = target.with_name(f".celltcp-{secrets.token_hex(8)}.partial")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    return partial


def _copy_mode(target: Path, partial: Path) -> None:
    """Gives the file that will replace `target` the owner and mode of that."""
    with suppress(FileNotFoundError):
        status = target.stat()
        # Only root may change the owner of a file.
        with suppress(PermissionError):
            os.chown(partial, status.st_uid, status.st_gid)
        partial.chmod(stat.S_IMODE(status.st_mode))


def _open_stream(file: Path) -> BinaryIO:
    """Opens a pipe or device; standard output and error continue at their position."""
    own = _own_stream(file.stat())
    if own is None:
        return os.fdopen(os.open(file, os.O_WRONLY | os.O_TRUNC | os.O_NOCTTY | os.O_CLOEXEC), "wb")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return os.fdopen(os.dup(own), "wb")


def _write_error(path: Path, error: OSError) -> CelltcpError:
    # Errors of Arrow have no number, but the reason in their message.
    reason = os.strerror(error.errno) if error.errno else error
    kind = ClosedPipeError if isinstance(error, BrokenPipeError) else CelltcpError
    return kind(f"{path}: cannot be written: {reason}")
