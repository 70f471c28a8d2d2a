"""PDF renderer of reports, by matplotlib: a first page with the answers, then tables and pictures."""

from __future__ import annotations

import io
import itertools
import textwrap
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_pdf import PdfPages, pdfRepr
from matplotlib.figure import Figure

from celltcp._core import __version__
from celltcp.present.section import Part, Section, Table
from celltcp.present.style import Picture

#: Page (A4) and margin, inches.
_WIDTH, _HEIGHT, _MARGIN = 8.27, 11.69, 0.8
#: Height of a line as a multiple of the font size.
_LEADING = 1.45
#: Mean width of a letter as a share of the font size, for proportional, bold and monospaced fonts.
_LETTER, _BOLD_LETTER, _MONO = 0.54, 0.65, 0.602
#: Font sizes, points.
_TITLE, _HEADING, _TEXT, _SMALL, _SMALLEST = 17.0, 12.0, 10.0, 8.5, 5.0
#: Minimum font size of a table, points; tables with longer lines than that allows are split.
_MIN_TABLE = 6.5
_MAX_LETTERS = int((_WIDTH - 2 * _MARGIN) * 72 / (_MIN_TABLE * _MONO))
#: Minimum free share of the first page for tables to begin there.
_MIN_FREE_SHARE = 0.4
#: Maximum number of lines of a scenario with comments and unset fields.
_MAX_LINES = 40
#: Fonts, which keep texts as texts.
_FONTS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.monospace": ["DejaVu Sans Mono"],
}


def pdf_of(parts: Sequence[Part], title: str, command: str) -> bytes:
    """Returns the PDF of a report; the same parts give the same bytes.

    Each part begins with a page that has its answer, findings and sections of the first page, and
    tables if there is room. Then come the other tables and texts, and a page for each picture.
    """
    stream = io.BytesIO()
    meta = {
        "Title": title,
        "Subject": command,
        "Creator": f"celltcp {__version__}",
        "CreationDate": None,
    }
    with mpl.rc_context(_FONTS), PdfPages(stream, metadata=meta) as pages:
        for part in parts:
            _write_part(pages, part, command)
    return stream.getvalue()


@dataclass
class _Pages:
    """Pages that are filled with lines from the top."""

    pages: PdfPages
    figure: Figure | None = field(default=None)
    #: Free height of the page, inches.
    room: float = 0.0

    def line(self, text: str, size: float, **style: Any) -> None:
        """Writes a line, on a new page if the page is full."""
        height = size * _LEADING / 72
        if self.figure is None or self.room < height:
            self.end()
            self.figure = Figure(figsize=(_WIDTH, _HEIGHT))
            self.room = _HEIGHT - 2 * _MARGIN
        self.room -= height
        x, y = _MARGIN / _WIDTH, (self.room + _MARGIN) / _HEIGHT
        self.figure.text(x, y, text, size=size, parse_math=False, **style)

    def paragraph(self, text: str, size: float, **style: Any) -> None:
        """Writes a text in as many lines as it needs, and a gap."""
        letter = _BOLD_LETTER if style.get("weight") == "bold" else _LETTER
        letters = int((_WIDTH - 2 * _MARGIN) * 72 / (size * letter))
        for line in textwrap.wrap(text, letters):
            self.line(line, size, **style)
        self.gap(size / 2)

    def heading(self, text: str) -> None:
        """Writes a heading, which begins a new page near the end of a page."""
        if self.room < 5 * _HEADING * _LEADING / 72:
            self.end()
        self.gap(_HEADING / 2)
        self.paragraph(text, _HEADING, weight="bold")

    def code(self, text: str) -> None:
        """Writes lines in a monospaced font, which is so small that the longest fits if possible."""
        lines = text.rstrip("\n").splitlines()
        longest = max(map(len, lines), default=1)
        fitting_size = (_WIDTH - 2 * _MARGIN) * 72 / (longest * _MONO)
        size = max(min(_SMALL, fitting_size), _SMALLEST)
        # Rounding must not leave out the last letter of the longest line.
        letters = int((_WIDTH - 2 * _MARGIN) * 72 / (size * _MONO) + 0.01)
        for line in lines:
            for piece in textwrap.wrap(line, letters, drop_whitespace=False) or [""]:
                self.line(piece, size, family="monospace")
        self.gap(size)

    def gap(self, points: float) -> None:
        """Adds a gap."""
        self.room -= points / 72

    def end(self) -> None:
        """Writes the page to the file, if there is one."""
        if self.figure is not None:
            self.pages.savefig(self.figure)  # type: ignore[no-untyped-call]
        self.figure, self.room = None, 0.0


def subject_bytes(command: str) -> bytes:
    """Returns the command that makes a PDF as it stands in the file."""
    return bytes(pdfRepr(command))  # type: ignore[no-untyped-call]


def _write_part(pages: PdfPages, part: Part, command: str) -> None:
    """Writes the pages of a part."""
    text = _Pages(pages)
    text.paragraph(part.title, _TITLE, weight="bold")
    text.paragraph(part.question, _TEXT, color="#555555")
    if part.answer:
        text.paragraph(part.answer, _HEADING, weight="bold")
    for warning in part.warnings:
        text.paragraph(f"Warning: {warning}", _SMALL, color="#994400")
    # The lines to set are on the page of the answer, however many findings there are.
    front = [each for each in part.sections if each.is_front]
    for section in front[:1]:
        _write_section(text, section)
    for finding in part.findings:
        text.paragraph(f"{finding.question}: {finding.answer}", _TEXT, weight="bold")
        for detail in filter(None, (finding.effect_size, finding.confidence)):
            text.paragraph(detail, _SMALL)
    for section in front[1:]:
        _write_section(text, section)
    text.paragraph(f"Made by celltcp {__version__}: {command}", _SMALL, color="#555555")
    if text.room < _MIN_FREE_SHARE * _HEIGHT:
        text.end()
    for section in part.sections:
        if section.is_front:
            continue
        _write_section(text, section)
        if section.figure is not None:
            text.end()
            _write_picture(pages, section)
    text.end()


def _write_section(text: _Pages, section: Section) -> None:
    """Writes title, paragraphs, table and code of a section; nothing if it only has a picture."""
    if section.figure is not None and section.table is None and not section.code:
        return
    text.heading(section.title)
    for paragraph in section.text:
        text.paragraph(paragraph, _SMALL)
    if section.table is not None:
        if section.table.title:
            text.paragraph(section.table.title, _SMALL)
        widths = [letters + 2 for letters in _widths(section.table)]
        for part in section.table.parts(widths, _MAX_LETTERS):
            text.code(_table_text(part))
    if section.code:
        code = section.code
        if code.count("\n") > _MAX_LINES:
            code = _without_comments(code)
            text.paragraph("Comments and unset fields are in the report as HTML.", _SMALL)
        text.code(code)
    for block in section.blocks:
        text.paragraph(block.caption, _SMALL)
        text.code(block.text)


def _write_picture(pages: PdfPages, section: Section) -> None:
    """Writes the picture of a section on a page of its own, with title and texts above."""
    assert section.figure is not None
    picture = section.figure.draw()
    width, height = picture.get_size_inches()
    letters = int(width * 72 / (_SMALL * _LETTER))
    lines = [line for paragraph in section.text for line in textwrap.wrap(paragraph, letters)]
    y = 1 + 0.15 / height
    if lines:
        picture.text(0.02, y, "\n".join(lines), size=_SMALL, va="bottom", parse_math=False)
        y += len(lines) * _SMALL * _LEADING / 72 / height
    style: dict[str, Any] = {"size": _HEADING, "weight": "bold", "va": "bottom"}
    picture.text(0.02, y, section.title, parse_math=False, **style)
    with picture.anchored() if isinstance(picture, Picture) else nullcontext():
        pages.savefig(picture, bbox_inches="tight", pad_inches=0.5)  # type: ignore[no-untyped-call]


def _without_comments(code: str) -> str:
    """Returns the lines of a TOML text without comments."""
    lines = [line for line in code.splitlines() if not line.startswith("#")]
    nonblank = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
    return "\n".join(nonblank)


def _widths(table: Table) -> list[int]:
    """Returns the width of each column in letters; longer headings break between words."""
    max_width = 40 if len(table.columns) > 3 else 70
    return [
        min(max_width, max(map(len, (*column.title.split(), *(row[index] for row in table.rows), ""))))
        for index, column in enumerate(table.columns)
    ]


def _table_text(table: Table) -> str:
    """Returns a table in columns of monospaced letters, with long texts in several lines."""
    rows = [tuple(column.title for column in table.columns), *table.rows]
    widths = _widths(table)
    lines = []
    for index, row in enumerate(rows):
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for pieces in itertools.zip_longest(*cells, fillvalue=""):
            aligned = [
                piece.rjust(width) if column.is_number else piece.ljust(width)
                for piece, width, column in zip(pieces, widths, table.columns, strict=True)
            ]
            lines.append("  ".join(aligned).rstrip())
        if index == 0 or (index - 1 in table.group_ends and index < len(rows) - 1):
            lines.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines)
