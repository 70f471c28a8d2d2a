"""PDF renderer of reports: a first page with the answers, then tables and pictures, by matplotlib."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from celltcp._core import __version__
from celltcp.present.section import Part, Section, Table
from celltcp.present.style import Picture

#: Page, margin and line height, inches (A4).
_WIDTH, _HEIGHT, _MARGIN = 8.27, 11.69, 0.8
#: Height of a line as a multiple of the size of its letters.
_LEADING = 1.45
#: Mean width of a letter as a share of its size, of proportional and of monospaced letters.
_LETTER, _MONO = 0.54, 0.602
#: Sizes of letters, points.
_TITLE, _HEADING, _TEXT, _SMALL, _SMALLEST = 17.0, 12.0, 10.0, 8.5, 5.0
#: Font size at which wide tables are split by columns, and maximum of letters per line then.
_TABLE = 6.5
_MAX_LETTERS = int((_WIDTH - 2 * _MARGIN) * 72 / (_TABLE * _MONO))
#: Minimum free share of the first page for tables to begin on it.
_FREE = 0.4
#: Lines of a scenario above which comments and unset fields are left out.
_MAX_LINES = 40
#: Texts stay texts, and the same parts give the same bytes.
_FONTS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.monospace": ["DejaVu Sans Mono"],
}


def pdf_of(parts: Sequence[Part], title: str, command: str) -> bytes:
    """Returns the PDF of a report; the same parts give the same bytes.

    Each part begins with a page that has its answer, findings and sections of the first page, and
    tables if there is room. Then come the other tables and texts, and a page for each picture.

    Args:
        parts: one for each folder of results, or more.
        title: of the document.
        command: what has made it.
    """
    stream = io.BytesIO()
    meta = {"Title": title, "Creator": f"celltcp {__version__}", "CreationDate": None}
    with mpl.rc_context(_FONTS), PdfPages(stream, metadata=meta) as pages:
        for part in parts:
            _write_part(pages, part, command)
    return stream.getvalue()


@dataclass
class _Pages:
    """Pages that are filled with lines from the top."""

    pages: PdfPages
    figure: Figure | None = field(default=None)
    #: Room that is left on the page, inches.
    room: float = 0.0

    def line(self, text: str, size: float, **look: Any) -> None:
        """Writes a line."""
        height = size * _LEADING / 72
        if self.figure is None or self.room < height:
            self.end()
            self.figure = Figure(figsize=(_WIDTH, _HEIGHT))
            self.room = _HEIGHT - 2 * _MARGIN
        self.room -= height
        place = (_MARGIN / _WIDTH, (self.room + _MARGIN) / _HEIGHT)
        self.figure.text(*place, text, size=size, parse_math=False, **look)

    def paragraph(self, text: str, size: float, **look: Any) -> None:
        """Writes a text in as many lines as it needs, followed by a gap."""
        letters = int((_WIDTH - 2 * _MARGIN) * 72 / (size * _LETTER))
        for line in textwrap.wrap(text, letters):
            self.line(line, size, **look)
        self.gap(size / 2)

    def heading(self, text: str) -> None:
        """Writes a heading, not as the last lines of a page."""
        if self.room < 5 * _HEADING * _LEADING / 72:
            self.end()
        self.gap(_HEADING / 2)
        self.paragraph(text, _HEADING, weight="bold")

    def code(self, text: str) -> None:
        """Writes lines of monospaced letters as they are; long ones are smaller."""
        lines = text.rstrip("\n").splitlines()
        longest = max(map(len, lines), default=1)
        fitting = (_WIDTH - 2 * _MARGIN) * 72 / (longest * _MONO)
        size = max(min(_SMALL, fitting), _SMALLEST)
        # Rounded, so that the size for the longest line includes its last letter.
        letters = int((_WIDTH - 2 * _MARGIN) * 72 / (size * _MONO) + 0.01)
        for line in lines:
            for piece in textwrap.wrap(line, letters, drop_whitespace=False) or [""]:
                self.line(piece, size, family="monospace")
        self.gap(size)

    def gap(self, points: float) -> None:
        """Adds a gap."""
        self.room -= points / 72

    def end(self) -> None:
        """Writes the page, if one is begun."""
        if self.figure is not None:
            self.pages.savefig(self.figure)  # type: ignore[no-untyped-call]
        self.figure, self.room = None, 0.0


def _write_part(pages: PdfPages, part: Part, command: str) -> None:
    """Writes the pages of a part."""
    text = _Pages(pages)
    text.paragraph(part.title, _TITLE, weight="bold")
    text.paragraph(part.question, _TEXT, color="#555555")
    if part.answer:
        text.paragraph(part.answer, _HEADING, weight="bold")
    for warning in part.warnings:
        text.paragraph(f"Warning: {warning}", _SMALL, color="#994400")
    for finding in part.findings:
        text.paragraph(f"{finding.question}: {finding.answer}", _TEXT, weight="bold")
        for words in (finding.effect_size, finding.confidence):
            if words:
                text.paragraph(words, _SMALL)
    front = [section for section in part.sections if section.is_front]
    for section in front:
        _write_section(text, section)
    text.paragraph(f"Made by celltcp {__version__}: {command}", _SMALL, color="#555555")
    if text.room < _FREE * _HEIGHT:
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
    """Writes title, paragraphs, table and code; not for sections with only a picture."""
    if section.figure is not None and section.table is None and not section.code:
        return
    text.heading(section.title)
    for words in section.text:
        text.paragraph(words, _SMALL)
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
    """Writes the picture of a section on a page of its own, with title and words above."""
    if section.figure is None:
        return
    picture = section.figure.draw()
    width = picture.get_size_inches()[0]
    letters = int(width * 72 / (_SMALL * _LETTER))
    words = "\n".join(line for each in section.text for line in textwrap.wrap(each, letters))
    height = picture.get_size_inches()[1]
    above = 1 + 0.15 / height
    if words:
        picture.text(0.02, above, words, size=_SMALL, va="bottom", parse_math=False)
        above += (words.count("\n") + 1) * _SMALL * _LEADING / 72 / height
    look: dict[str, Any] = {"size": _HEADING, "weight": "bold", "va": "bottom"}
    picture.text(0.02, above, section.title, parse_math=False, **look)
    with picture.anchored() if isinstance(picture, Picture) else nullcontext():
        pages.savefig(picture, bbox_inches="tight", pad_inches=0.5)  # type: ignore[no-untyped-call]


def _without_comments(code: str) -> str:
    """Returns the lines of a TOML text without comments."""
    lines = [line for line in code.splitlines() if not line.startswith("#")]
    nonblank = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
    return "\n".join(nonblank)


def _widths(table: Table) -> list[int]:
    """Returns the letters of each column; headings break between words where values are shorter."""
    most = 40 if len(table.columns) > 3 else 70
    return [
        min(most, max(map(len, (*column.title.split(), *(row[index] for row in table.rows), ""))))
        for index, column in enumerate(table.columns)
    ]


def _table_text(table: Table) -> str:
    """Returns a table in columns of monospaced letters, with long texts in several lines."""
    rows = [tuple(column.title for column in table.columns), *table.rows]
    widths = _widths(table)
    lines = []
    for index, row in enumerate(rows):
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for place in range(max(map(len, cells))):
            pieces = [cell[place] if place < len(cell) else "" for cell in cells]
            aligned = [
                piece.rjust(width) if column.is_number else piece.ljust(width)
                for piece, width, column in zip(pieces, widths, table.columns, strict=True)
            ]
            lines.append("  ".join(aligned).rstrip())
        if index == 0 or (index - 1 in table.ends and index < len(rows) - 1):
            lines.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines)
