"""LaTeX renderer of tables: a `table` or `longtable` of booktabs, alone or in a document."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from celltcp.present.field_words import field_words, is_field

if TYPE_CHECKING:
    from celltcp.present.section import Column, Table

#: Maximum number of rows of a table on one page; a longer one is a `longtable`.
_MAX_ROWS = 40

#: Maximum width of a table on a landscape page, pt.
_PAGE_WIDTH = 735.0
#: Mean width of a character in `footnotesize`, rounded up, and space between columns, pt.
_CHARACTER_WIDTH, _COLUMN_SPACE = 4.7, 8.0
#: Minimum number of characters in a line of a wrapped heading.
_MIN_HEADING = 12

#: Pattern of a number, which may have an interval, and a mark that a footnote explains.
_NUMBER = re.compile(r"([+-]?\d[\d.]*)( ± (\d[\d.]*))?(\*?)")
#: Patterns of a power of ten, and of an amount with a unit, as scenarios have them.
_POWER = re.compile(r"([+-]?[\d.]+)[eE]([+-]?\d+)")
_AMOUNT = re.compile(r"([+-]?\d[\d.]*)(ns|us|ms|s|min|[kMG]?bit/s|[kMG]i?B|B|[kMG]?Hz|packets|bdp|dB)")

#: Unit at the end of a heading, or before a part that says more.
_UNIT = re.compile(r" (Mbit/s|kbit/s|segments|ms|s|%)(?=$|,| \()")

#: Begin of the footnotes of a table, as wide as the text.
_LIST = r"\begin{list}{}{\leftmargin=0pt\itemsep=0pt\raggedright}"

#: Special characters of LaTeX.
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "±": r"$\pm$",
    "∞": r"$\infty$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "µ": r"$\mu$",
    "Δ": r"$\Delta$",
    "√": r"$\surd$",
    "·": r"$\cdot$",
    "\N{EN DASH}": "--",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def latex_text(text: str) -> str:
    """Returns a text with its special characters escaped."""
    # Two hyphens would be a dash.
    parts = text.split("--")
    return "-{}-".join("".join(_ESCAPES.get(letter, letter) for letter in part) for part in parts)


def latex_tables(tables: Sequence[Table], *, is_document: bool = True) -> str:
    """Returns tables as a document that compiles, or as fragments for another document.

    Args:
        tables: tables, whose titles become captions. Those that are too wide for a landscape page of
            A4 have headings of several lines, and are split by columns.
        is_document: whether to add a preamble and the document environment.
    """
    tables = [part for table in tables for part in _parts(table)]
    packages = ["booktabs", *(["longtable"] if any(map(_is_long, tables)) else [])]
    package_line = "% " + " ".join(f"\\usepackage{{{package}}}" for package in packages)
    body = "\n\n".join(map(_table, tables))
    if not is_document:
        return f"{package_line}\n{body}\n"
    lines = [
        r"\documentclass{article}",
        r"\usepackage[a4paper,landscape,margin=15mm]{geometry}",
        *(f"\\usepackage{{{package}}}" for package in packages),
        r"\begin{document}",
        body,
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _parts(table: Table) -> Iterator[Table]:
    """Yields a table, or its parts that fit on a page; each part has all columns of texts."""
    titled = (replace(column, heading=_title(column.title)) for column in table.columns)
    table = replace(table, columns=tuple(titled))
    if sum(_widths(table)) <= _PAGE_WIDTH:
        yield table
        return
    wrapped = tuple(
        replace(column, heading=_wrapped_heading(column, [cells[index] for cells in table.rows]))
        for index, column in enumerate(table.columns)
    )
    table = replace(table, columns=wrapped)
    parts = table.parts(_widths(table), _PAGE_WIDTH)
    for number, part in enumerate(parts, 1):
        title = f"{table.title} (part {number} of {len(parts)})" if len(parts) > 1 else table.title
        yield replace(part, title=title)


def _title(heading: str) -> str:
    """Returns a heading with its unit in parentheses, and a field of scenarios in words."""
    return field_words(heading) if is_field(heading) else _UNIT.sub(r" (\1)", heading)


def _widths(table: Table) -> list[float]:
    """Returns the widths of the columns, pt."""
    return [
        _CHARACTER_WIDTH
        * max(*map(len, column.heading.split("\n")), *(len(cells[index]) for cells in table.rows), 0)
        + _COLUMN_SPACE
        for index, column in enumerate(table.columns)
    ]


def _wrapped_heading(column: Column, cells: Sequence[str]) -> str:
    """Returns a heading in lines that are no wider than the cells below it."""
    width = max(_MIN_HEADING, *map(len, cells), 0)
    return "\n".join(textwrap.wrap(_title(column.title), width, break_long_words=False))


def _heading(column: Column) -> str:
    """Returns a heading as LaTeX; several lines are aligned like the column."""
    lines = [" ".join(map(_amount, part.split(" "))) for part in column.heading.split("\n")]
    if len(lines) == 1:
        return lines[0]
    side, text = "r" if column.is_number else "l", r" \\ ".join(lines)
    return rf"\shortstack[{side}]{{{text}}}"


def _is_long(table: Table) -> bool:
    return len(table.rows) > _MAX_ROWS


def _table(table: Table) -> str:
    """Returns the environment of a table."""
    columns = "".join("r" if column.is_number else "l" for column in table.columns)
    head = [_row([_heading(column) for column in table.columns]), r"\midrule"]
    rows = []
    for index, cells in enumerate(table.rows):
        texts = [_cell(cell) for cell in cells]
        if index in table.bold:
            texts = [rf"\textbf{{{cell}}}" for cell in texts]
        rows.append(_row(texts))
        if index in table.group_ends and index + 1 < len(table.rows):
            rows.append(r"\addlinespace")
    caption = rf"\caption{{{latex_text(table.title)}}}"
    layout = [r"\centering", r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"]
    if _is_long(table):
        lines = [
            *(r"\begingroup", *layout[1:], rf"\begin{{longtable}}{{{columns}}}"),
            *(rf"{caption}\\", r"\toprule", *head, r"\endhead", *rows),
            *(r"\bottomrule", r"\end{longtable}", *_notes(table), r"\endgroup"),
        ]
    else:
        lines = [
            *(r"\begin{table}", *layout, caption, rf"\begin{{tabular}}{{{columns}}}"),
            *(r"\toprule", *head, *rows, r"\bottomrule", r"\end{tabular}", *_notes(table)),
            r"\end{table}",
        ]
    return "\n".join(lines)


def _notes(table: Table) -> list[str]:
    """Returns the footnotes of a table as paragraphs below it."""
    lines = [rf"\item[] {latex_text(note)}" for note in table.notes]
    return [_LIST, *lines, r"\end{list}"] if lines else []


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(text: str) -> str:
    """Returns a cell as LaTeX; numbers are in math mode."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return _amount(text)
    mean, _, half_width, mark = number.groups()
    exponent = "^{*}" if mark else ""
    return rf"${mean} \pm {half_width}{exponent}$" if half_width else f"${mean}{exponent}$"


def _amount(text: str) -> str:
    """Returns a text as LaTeX: powers of ten in math mode, and amounts with a space before the unit."""
    if power := _POWER.fullmatch(text):
        factor = "" if float(power[1]) == 1 else rf"{power[1]} \cdot "
        return f"${factor}10^{{{int(power[2])}}}$"
    if amount := _AMOUNT.fullmatch(text):
        return f"{amount[1]}~{amount[2].replace('us', 'µs').replace('bdp', 'BDP')}".replace(
            "µ", _ESCAPES["µ"]
        )
    return latex_text(text)
