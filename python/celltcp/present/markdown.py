"""Markdown renderer of sections, tables and pictures."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.present.section import Section, Table

#: Width of a line of text.
_WIDTH = 110


def markdown_section(section: Section, picture: str | None = None) -> str:
    """Returns a section: title, paragraphs, table, code, picture.

    Args:
        section: section to render; without a title it continues the previous one.
        picture: path from the page to the file with the figure; None to leave it out.
    """
    parts = [f"## {section.title}"] if section.title else []
    parts += [wrapped(text) for text in section.text]
    if section.table is not None:
        parts.append(markdown_table(section.table))
    if section.code:
        parts.append(_indented(section.code))
    for block in section.blocks:
        parts += [wrapped(block.caption), _indented(block.text)]
    if section.figure is not None and picture is not None:
        parts.append(markdown_picture(section.figure.alternative, picture))
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return textwrap.indent(text.rstrip("\n"), "    ")


def markdown_table(table: Table) -> str:
    """Returns a table, with pipes between its cells."""
    lines = [[column.title for column in table.columns], ["--"] * len(table.columns), *table.rows]
    rows = ([cell.replace("|", "\\|") for cell in cells] for cells in lines)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def markdown_picture(alternative: str, path: str) -> str:
    """Returns a picture with the text for readers who do not see it."""
    return f"![{alternative}]({path})"


def wrapped(text: str) -> str:
    """Returns a paragraph in lines, none of which begins with the sign of a list item."""
    lines = textwrap.fill(
        " ".join(text.split()), _WIDTH, break_long_words=False, break_on_hyphens=False
    )
    return re.sub(r"\n(?=([-+*#>]|\d+[.)]) )", " ", lines)
