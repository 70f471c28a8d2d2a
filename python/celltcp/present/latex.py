"""LaTeX renderer of tables: a `table` or `longtable` of booktabs, alone or in a document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.present.section import Table

#: Most rows of a table on one page; a longer one is a `longtable`.
_PAGE_ROWS = 40

#: Number, which may have an interval.
_NUMBER = re.compile(r"([+-]?\d[\d.]*)( ± (\d[\d.]*))?")

#: Characters that mean something else in LaTeX.
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
    "→": r"$\rightarrow$",
    "µ": r"$\mu$",
    "Δ": r"$\Delta$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def latex_text(text: str) -> str:
    """Returns a text with its special characters escaped."""
    escaped = "".join(_ESCAPES.get(each, each) for each in text)
    # Two hyphens would be a dash.
    return escaped.replace("--", "-{}-")


def latex_tables(tables: Sequence[Table], *, is_document: bool = True) -> str:
    """Returns tables as a document that compiles, or as fragments for another document.

    Args:
        tables: with their titles, which become captions.
        is_document: whether a preamble and the document environment surround them.
    """
    packages = ["booktabs", *(["longtable"] if any(map(_is_long, tables)) else [])]
    named = "% " + " ".join(f"\\usepackage{{{each}}}" for each in packages)
    body = "\n\n".join(map(_table, tables))
    if not is_document:
        return f"{named}\n{body}\n"
    lines = [
        r"\documentclass{article}",
        r"\usepackage[a4paper,landscape,margin=15mm]{geometry}",
        *(f"\\usepackage{{{each}}}" for each in packages),
        r"\begin{document}",
        body,
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def _is_long(table: Table) -> bool:
    return len(table.rows) > _PAGE_ROWS


def _table(table: Table) -> str:
    """Returns the environment of a table."""
    columns = "".join("r" if column.is_number else "l" for column in table.columns)
    head = [_row([latex_text(column.title) for column in table.columns]), r"\midrule"]
    rows = []
    for number, cells in enumerate(table.rows):
        shown = [_cell(cell) for cell in cells]
        if number in table.bold:
            shown = [rf"\textbf{{{cell}}}" for cell in shown]
        rows.append(_row(shown))
        if number in table.ends and number + 1 < len(table.rows):
            rows.append(r"\addlinespace")
    caption = rf"\caption{{{latex_text(table.title)}}}"
    sized = [r"\centering", r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"]
    if _is_long(table):
        lines = [
            *(r"\begingroup", *sized[1:], rf"\begin{{longtable}}{{{columns}}}"),
            *(rf"{caption}\\", r"\toprule", *head, r"\endhead", *rows),
            *(r"\bottomrule", r"\end{longtable}", r"\endgroup"),
        ]
    else:
        lines = [
            *(r"\begin{table}", *sized, caption, rf"\begin{{tabular}}{{{columns}}}"),
            *(r"\toprule", *head, *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}"),
        ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(text: str) -> str:
    """Returns a cell, a number in math mode."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return latex_text(text)
    mean, _, half = number.groups()
    return rf"${mean} \pm {half}$" if half else f"${mean}$"
