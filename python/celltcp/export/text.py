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


#: Endings of pictures.
PICTURES = (".png", ".svg", ".pdf", ".eps", ".jpg")


def must_be_picture(file: Path) -> None:
    """Makes sure, before anything is drawn, that the ending is one of a picture, and the file writable.

    Raises:
        CelltcpError: says which endings are allowed.
    """
    if file.suffix.lower() not in PICTURES:
        raise CelltcpError(f"{file}: is no picture by its ending; allowed: {', '.join(PICTURES)}")
    must_be_writable(file)


def must_be_writable(file: Path) -> None:
    """Finds out before the work whether its result could be written."""
    try:
        probe = file.with_name(f".{file.name}.partial")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CelltcpError(f"{file}: cannot be written: {error.strerror}") from None
