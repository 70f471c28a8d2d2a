"""Written files: there whole or not at all; errors name what could not be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from celltcp._core import CelltcpError


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """Yields the path of another file beside `file`, which takes its place in the end.

    Raises:
        CelltcpError: if it cannot be written; names the file.
    """
    partial = file.with_name(f".{file.name}.partial")
    try:
        yield partial
        partial.replace(file)
    except OSError as error:
        raise _refusal(file, error) from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Names a folder in errors that name no file, as those of a full disk do.

    Raises:
        CelltcpError: if something in the folder cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise _refusal(folder, error) from None


def write_text(file: Path, text: str) -> Path:
    """Writes a file of text.

    Raises:
        CelltcpError: if it cannot be written.
    """
    with whole_file(file) as partial:
        partial.write_text(text, "utf-8")
    return file


def must_be_writable(file: Path) -> None:
    """Finds out before the work whether its result could be written.

    Raises:
        CelltcpError: if it could not.
    """
    if not file.name or file.is_dir():
        raise CelltcpError(f"{file}: is a folder; allowed: a file")
    try:
        probe = file.with_name(f".{file.name}.partial")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise _refusal(file, error) from None


def _refusal(place: Path, error: OSError) -> CelltcpError:
    # Arrow puts the reason into a sentence of its own.
    reason = os.strerror(error.errno) if error.errno else error
    return CelltcpError(f"{place}: cannot be written: {reason}")
