"""Reports as files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from celltcp.cli.load_folder import parts_of
from celltcp.files.atomic_write import atomic_write, write_text
from celltcp.files.replacing import FileKind, check_output
from celltcp.present.page import page_of

_REPORT = FileKind("report of celltcp", (b"<!doctype html>",), b'name="generator" content="celltcp')
_PDF = FileKind("PDF", (b"%PDF",))


def write_report(folders: Sequence[str | Path], out: str | Path = "report.html") -> Path:
    """Writes one page on all folders of results.

    Args:
        folders: of any command that keeps results.
        out: the file.

    Raises:
        CelltcpError: if a folder has no results, or the file cannot be written or is no report.
    """
    (file,) = write_reports(folders, out, None)
    return file


def write_reports(
    folders: Sequence[str | Path], out: str | Path | None, pdf: str | Path | None
) -> list[Path]:
    """Writes one document on all folders of results, as HTML, PDF or both.

    Args:
        folders: of any command that keeps results.
        out: the HTML file, if one is wanted.
        pdf: the PDF file, if one is wanted.

    Raises:
        CelltcpError: if a folder has no results, or a file cannot be written or is no report.
    """
    for file, kind in ((out, _REPORT), (pdf, _PDF)):
        if file is not None:
            check_output(Path(file), kind)
    parts = [part for folder in folders for part in parts_of(Path(folder))]
    title = parts[0].title if len(parts) == 1 else f"{parts[0].title} and {len(parts) - 1} more"
    command = ["celltcp", "report", *map(str, folders)]
    written = []
    if out is not None:
        file = Path(out)
        page = page_of(parts, title, shlex.join([*command, "--out", file.name]))
        written.append(write_text(file, page))
    if pdf is not None:
        from celltcp.present.pdf import pdf_of

        file = Path(pdf)
        content = pdf_of(parts, title, shlex.join([*command, "--pdf", file.name]))
        with atomic_write(file) as partial:
            partial.write_bytes(content)
        written.append(file)
    return written
