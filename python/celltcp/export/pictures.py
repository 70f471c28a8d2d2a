"""Files of pictures: their endings."""

from __future__ import annotations

import shutil
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.written import must_be_writable

#: Programs of LaTeX, the first of which is taken.
_LATEX = ("pdflatex", "xelatex", "lualatex")

#: Endings of pictures.
PICTURES = (".png", ".svg", ".pdf", ".pgf", ".eps", ".jpg")


def must_be_picture(file: Path) -> None:
    """Makes sure, before anything is drawn, that the ending is one of a picture, and the file writable.

    Raises:
        CelltcpError: says which endings are allowed.
    """
    if file.suffix.lower() not in PICTURES:
        raise CelltcpError(f"{file}: is no picture by its ending; allowed: {', '.join(PICTURES)}")
    if file.suffix.lower() == ".pgf":
        latex_for(file)
    must_be_writable(file)


def latex_for(file: Path) -> str:
    """Returns the LaTeX program that measures the texts of a picture for LaTeX.

    Raises:
        CelltcpError: if none is installed.
    """
    found = next(filter(shutil.which, _LATEX), None)
    if found is None:
        raise CelltcpError(
            f"{file}: needs LaTeX, which measures its texts: apt install texlive-latex-recommended "
            "texlive-pictures; allowed without it: a picture that ends in .pdf or .svg"
        )
    return found
