"""Files of pictures: their endings."""

from __future__ import annotations

from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.written import must_be_writable

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
