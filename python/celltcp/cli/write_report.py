"""Reports as files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from celltcp.cli.load_folder import parts_of
from celltcp.files.atomic_write import write_text
from celltcp.files.replacing import FileKind, check_output
from celltcp.present.page import page_of

_REPORT = FileKind("report of celltcp", (b"<!doctype html>",), b'name="generator" content="celltcp')


def write_report(folders: Sequence[str | Path], out: str | Path = "report.html") -> Path:
    """Writes one page on all folders of results.

    Args:
        folders: of any command that keeps results.
        out: the file.

    Raises:
        CelltcpError: if a folder has no results, or the file cannot be written or is no report.
    """
    file = Path(out)
    check_output(file, _REPORT)
    parts = [part for folder in folders for part in parts_of(Path(folder))]
    title = parts[0].title if len(parts) == 1 else f"{parts[0].title} and {len(parts) - 1} more"
    command = shlex.join(["celltcp", "report", *map(str, folders), "--out", file.name])
    return write_text(file, page_of(parts, title, command))
