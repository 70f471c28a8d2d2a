"""Markdown renderer of reports: a page with answers, tables and texts, and its picture files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from celltcp._core import __version__
from celltcp.present.markdown import markdown_section, wrapped
from celltcp.present.section import Figure, Part, Section, Table

#: Characters with a meaning in Markdown.
_MARKUP = re.compile(r"([\\`*\[\]])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")

#: Maximum number of parts that a page has whole; of more, those after the first have no pictures.
_MAX_WHOLE = 6
#: Maximum number of lines of code in a part that is not whole: commands, but no files.
_MAX_CODE_LINES = 20
_WITHOUT = (
    "Pictures, scenarios as files, and versions of the parts after the first are in a report of each "
    "folder alone, and as HTML (--out)."
)
#: Titles of sections on how results are made again, which need the scenario as a file.
_PROVENANCE = "Versions and seeds", "Command that reproduces the results"


@dataclass
class PictureNames:
    """Pictures of a page, by the names of their files.

    Attributes:
        folder: folder of the pictures, as a path from the page.
        figures: figures by the names of their files, in the order of the page.
    """

    folder: str
    figures: dict[str, Figure] = field(default_factory=dict)

    def add(self, title: str, figure: Figure) -> str:
        """Adds a figure, and returns the path of its picture, named by the title of its section."""
        stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "picture"
        name, number = f"{stem}.png", 1
        while name in self.figures:
            number += 1
            name = f"{stem}-{number}.png"
        self.figures[name] = figure
        return f"{self.folder}/{name}"


def markdown_page(parts: Sequence[Part], title: str, command: str, pictures: PictureNames) -> str:
    """Returns the page of a report; the same parts give the same text.

    The figures of the page are added to `pictures`. Of many parts, those after the first have neither
    pictures nor files.
    """
    note = ""
    if len(parts) > _MAX_WHOLE:
        note = f"\n{wrapped(_WITHOUT)}\n"
        parts = [parts[0], *map(_without_pictures, parts[1:])]
    head = f"# {escaped(title)}\n\n{wrapped(f'Made by celltcp {__version__}:')}\n\n    {command}\n"
    head += note
    bodies = (markdown_part(part, pictures, part.title if len(parts) > 1 else "") for part in parts)
    return "\n".join([head, *bodies])


def markdown_part(part: Part, pictures: PictureNames, title: str = "") -> str:
    """Returns the part of a page about one folder of results.

    Its figures are added to `pictures`. Without a title it has no heading.
    """
    headings = [f"## {escaped(title)}"] if title else []
    blocks = [*headings, *(wrapped(escaped(text)) for text in (part.question, part.answer) if text)]
    blocks += [wrapped(f"**Warning**: {escaped(warning)}") for warning in part.warnings]
    findings = "\n".join(_findings(part))
    blocks += [findings] if findings else []
    sections = [_section(section, pictures) for section in part.sections]
    return "\n\n".join([*blocks, *(section.rstrip("\n") for section in sections)]) + "\n"


def escaped(text: str) -> str:
    r"""Returns a text with escaped markup: `a*b` becomes `a\*b`."""
    return _MARKUP.sub(lambda match: f"\\{match[0]}", text.replace("&", "&amp;").replace("<", "&lt;"))


def _without_pictures(part: Part) -> Part:
    """Returns a part without pictures, files and versions."""
    sections = tuple(
        section
        for section in part.sections
        if section.figure is None
        and section.title not in _PROVENANCE
        and (section.code or "").count("\n") <= _MAX_CODE_LINES
    )
    return replace(part, sections=sections)


def _findings(part: Part) -> Iterator[str]:
    for finding in part.findings:
        details = "; ".join(filter(None, (finding.effect_size, finding.confidence)))
        period = "" if finding.answer.endswith(("?", ".")) or not details else "."
        yield wrapped(
            f"- **{escaped(finding.question)}**: {escaped(f'{finding.answer}{period} {details}')}"
        )


def _section(section: Section, pictures: PictureNames) -> str:
    """Returns a section, with the markup in its texts and cells escaped."""
    path = pictures.add(section.title, section.figure) if section.figure is not None else None
    title = section.table.title if section.table is not None else ""
    texts = (*section.text, *([title] if title and title != section.title else []))
    plain = replace(
        section,
        title=escaped(section.title),
        text=tuple(map(escaped, texts)),
        table=plain_table(section.table) if section.table is not None else None,
    )
    return markdown_section(plain, path)


def plain_table(table: Table) -> Table:
    """Returns a table with the markup in its headings and cells escaped."""
    columns = tuple(replace(column, heading=escaped(column.title)) for column in table.columns)
    return replace(table, columns=columns, rows=tuple(tuple(map(escaped, row)) for row in table.rows))
