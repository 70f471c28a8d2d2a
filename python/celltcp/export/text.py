"""Files of text that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path

from celltcp._core import CelltcpError


def write_text(file: Path, text: str) -> Path:
    """Writes a file by way of another one beside it."""
    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.write_text(text, "utf-8")
        partial.replace(file)
    except OSError as error:
        raise CelltcpError(f"{file}: cannot be written: {error.strerror}") from None
    return file


def must_be_writable(file: Path) -> None:
    """Finds out before the work whether its result could be written."""
    try:
        probe = file.with_name(f".{file.name}.partial")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CelltcpError(f"{file}: cannot be written: {error.strerror}") from None
