"""Files of pictures: endings, kinds and checks."""

from __future__ import annotations

import shutil
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.files.replacing import FileKind, check_output

#: Programs of LaTeX; the first that is installed is used.
_LATEX = ("pdflatex", "xelatex", "lualatex")

#: Comment that marks JPEG files as celltcp's.
JPEG_COMMENT = "picture of celltcp"
#: Kinds of pictures by their ending. A PDF has its creator near its end.
_KINDS = {
    ".png": FileKind("PNG of matplotlib", (b"\x89PNG",), b"Matplotlib"),
    ".svg": FileKind("SVG of matplotlib", (b"<?xml", b"<svg"), b"Matplotlib"),
    ".pdf": FileKind("PDF of matplotlib", (b"%PDF",), end=b"Matplotlib"),
    ".pgf": FileKind("PGF of matplotlib", (b"%%",), b"Matplotlib"),
    ".eps": FileKind("EPS of matplotlib", (b"%!PS",), b"Matplotlib"),
    ".jpg": FileKind("JPEG of celltcp", (b"\xff\xd8",), JPEG_COMMENT.encode()),
}


def must_be_picture(file: Path) -> None:
    """Checks that a file has the ending of a picture, and that it can be written.

    Raises:
        CelltcpError: if not, or if another file would be replaced.
    """
    ending = picture_ending(file)
    if ending == ".pgf":
        latex_for(file)
    check_output(file, _KINDS[ending])


def picture_ending(file: Path) -> str:
    """Returns the ending of a picture, in lower case.

    Raises:
        CelltcpError: if the file has none.
    """
    ending = file.suffix.lower()
    if ending not in _KINDS:
        raise CelltcpError(f"{file}: is no picture by its ending; allowed: {', '.join(_KINDS)}")
    return ending


def latex_for(file: Path) -> str:
    """Returns the LaTeX program that measures the texts of a picture for LaTeX.

    Raises:
        CelltcpError: if none is installed.
    """
    program = next(filter(shutil.which, _LATEX), None)
    if program is None:
        raise CelltcpError(
            f"{file}: needs LaTeX, which measures its texts: apt install texlive-latex-recommended "
            "texlive-pictures; allowed without it: a picture that ends in .pdf or .svg"
        )
    return program
