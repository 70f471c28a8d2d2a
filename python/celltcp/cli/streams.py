"""Standard output and error: broken pipes, and characters that a terminal may lack.

A pipe whose reader has closed it, such as `head`, ends the command by SIGPIPE.
"""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

#: Replacements of characters that an encoding lacks.
_ASCII = {"±": "+-", "≥": ">=", "µ": "u", "\u2013": "-", "…": "...", "\u00d7": "x"}


class ReaderClosed(BaseException):
    """Broken pipe at standard output or error; a BaseException, so that libraries do not catch it."""


class _CheckedFile(io.FileIO):
    """A stream that fails once: later output is discarded."""

    def __init__(self, descriptor: int, title: str) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._title = title
        self.has_failed = False
        self.is_broken_pipe = False

    def write(self, data: Any) -> int:
        if self.has_failed:
            return len(memoryview(data).cast("B"))
        try:
            return super().write(data)
        except BrokenPipeError:
            self.has_failed = self.is_broken_pipe = True
            raise ReaderClosed from None
        except OSError as error:
            self.has_failed = True
            raise OSError(error.errno, error.strerror, self._title) from None


@contextmanager
def checked_streams() -> Iterator[None]:
    """Names the stream in write errors, and ends the process by SIGPIPE at a broken pipe.

    Python ignores SIGPIPE, and click turns a broken pipe into exit code 1.
    The stack is unwound first, so that no file is left incomplete.
    """
    files = []
    for name, title in (("stdout", "standard output"), ("stderr", "standard error")):
        stream = getattr(sys, name)
        descriptor = _descriptor(stream)
        if descriptor is not None and not stream.isatty():
            file = _CheckedFile(descriptor, title)
            files.append(file)
            setattr(sys, name, _reopen(file, stream))
    try:
        yield
    except ReaderClosed:
        _end_by_sigpipe()
    finally:
        with suppress(ReaderClosed, OSError):
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        if any(file.is_broken_pipe for file in files):
            _end_by_sigpipe()


def _descriptor(stream: TextIO) -> int | None:
    """Returns the file descriptor of a text stream; None for a stream that is no file."""
    try:
        return stream.fileno() if isinstance(stream, io.TextIOWrapper) else None
    except io.UnsupportedOperation:
        return None


def _reopen(file: _CheckedFile, stream: io.TextIOWrapper) -> TextIO:
    """Returns a copy of a text stream with its own file object."""
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _end_by_sigpipe() -> None:
    """Ends the process as SIGPIPE does, so that shells see status 141."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    # Reached if the signal is blocked, or in the first process of a container (PID 1).
    os._exit(128 + signal.SIGPIPE)


def ascii_fallback() -> None:
    """Replaces characters that a stream cannot encode, which would be an error after all runs."""

    def replace(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        characters = error.object[error.start : error.end]
        return "".join(_ASCII.get(character, "?") for character in characters), error.end

    codecs.register_error("celltcp-ascii", replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="celltcp-ascii")
