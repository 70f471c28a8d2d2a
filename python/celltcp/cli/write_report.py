"""Reports on results, written as HTML, PDF or Markdown."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import escape

from celltcp._core import CelltcpError
from celltcp.cli.load_folder import parts_of
from celltcp.files.atomic_write import atomic_write, write_text
from celltcp.files.replacing import FileKind, check_output
from celltcp.present.page import page_of
from celltcp.present.picture_files import must_be_picture
from celltcp.present.section import Part
from celltcp.results.folder import prepare_folder

if TYPE_CHECKING:
    from celltcp.present.markdown_page import PictureNames

_REPORT = FileKind("report of celltcp", (b"<!doctype html>",), b'name="generator" content="celltcp')
_PDF = FileKind("PDF report of celltcp", (b"%PDF",), end=b"/Creator (celltcp ")
_PAGE = FileKind("page of celltcp", (b"# ",), b"Made by celltcp ")


def write_reports(
    folders: Sequence[str | Path],
    out: str | Path | None,
    pdf: str | Path | None = None,
    page: str | Path | None = None,
    *,
    overwrite: bool = False,
) -> list[Path]:
    """Writes a document on some folders of results, as HTML (`out`), PDF or Markdown (`page`).

    Raises:
        CelltcpError: if a folder has no results, or a file cannot be written, or is no report on these
            folders and `overwrite` is not set.
    """
    # A folder is the same with a slash at its end.
    command = ["celltcp", "report", *(str(Path(folder)) for folder in folders)]
    for option, name, kind in (("--out", out, _REPORT), ("--pdf", pdf, _PDF), ("--page", page, _PAGE)):
        if name is not None:
            file = Path(name)
            check_output(file, kind, overwrite=overwrite)
            if not overwrite:
                _check_same_results(file, shlex.join([*command, option, file.name]))
    parts = [part for folder in folders for part in parts_of(Path(folder))]
    title = parts[0].title if len(parts) == 1 else f"{parts[0].title} and {len(parts) - 1} more"
    written: list[Path] = []
    if out is not None:
        file = Path(out)
        document = page_of(parts, title, shlex.join([*command, "--out", file.name]))
        written.append(write_text(file, document))
    if pdf is not None:
        from celltcp.present.pdf import pdf_of

        file = Path(pdf)
        content = pdf_of(parts, title, shlex.join([*command, "--pdf", file.name]))
        with atomic_write(file) as partial:
            partial.write_bytes(content)
        written.append(file)
    if page is not None:
        file = Path(page)
        written.append(_write_page(parts, title, file, shlex.join([*command, "--page", file.name])))
    return written


def _check_same_results(file: Path, command: str) -> None:
    """Checks that an existing report was made by a command.

    Raises:
        CelltcpError: if it was made by another command, so that it is on other results.
    """
    content = file.read_bytes() if file.is_file() else b""
    if not content:
        return
    texts = [command.encode(), str(escape(command)).encode()]
    if content.startswith(_PDF.starts):
        from celltcp.present.pdf import subject_bytes

        texts = [subject_bytes(command)]
    if not any(text in content for text in texts):
        raise CelltcpError(
            f"{file}: exists, and is a report on other results; give another name, or --overwrite"
        )


def _write_page(parts: Sequence[Part], title: str, file: Path, command: str) -> Path:
    """Writes a page as Markdown, and its pictures."""
    from celltcp.present.markdown_page import PictureNames, markdown_page

    pictures = PictureNames(f"images/{file.stem}")
    text = markdown_page(parts, title, command, pictures)
    save_pictures(pictures, file.parent)
    return write_text(file, text)


def save_pictures(pictures: PictureNames, base: Path) -> None:
    """Draws the pictures of a page.

    Raises:
        CelltcpError: if a file cannot be written, or is no picture and would be lost.
    """
    from celltcp.present.style import save

    if not pictures.figures:
        return
    folder = prepare_folder(base / pictures.folder)
    for name in pictures.figures:
        must_be_picture(folder / name)
    for name, figure in pictures.figures.items():
        save(figure.draw(), folder / name)
