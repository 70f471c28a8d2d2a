"""Tables in the width of the console: wrapped between words, without minor columns, or in parts."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table as RichTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Column

    from celltcp.present.section import Table


#: Maximum characters of a label on a line, before it is broken at plus signs.
_MAX_LABEL = 30


def fit_table(
    console: Console, table: Table, *, keeps_all: bool = False
) -> tuple[list[RichTable], list[str]]:
    """Returns a table in the width of the console, and the headings of the columns left out for that.

    No word and no number is cut. First, headings and texts are wrapped. If that is not enough, columns
    without a number and then droppable ones are left out; with `keeps_all` a table of their own has the
    droppable ones. Then numbers are wrapped before their intervals. At last the columns are spread over
    several tables, each with the first columns of texts.
    """
    # By default rich measures nothing as wider than the console.
    options = console.options.update(max_width=10_000)
    names = [column.name or column.title for column in table.columns]
    left_out: list[str] = []
    rest = table
    empty = _empty_columns(table)
    # Of columns without a number, all are left out or none.
    for group in (empty, *([name] for name in table.droppable if name not in empty)):
        if _min_width(console, options, _rich_table(rest)) <= console.width:
            break
        shown = [name for name in group if name in names]
        left_out += shown
        rest = rest.without(shown)
    tables = [rest]
    if keeps_all and not set(left_out) <= set(empty):
        texts = _leading_texts(rest)
        kept = [rest.columns[index].name or rest.columns[index].title for index in texts]
        kept += [name for name in left_out if name not in empty]
        tables.append(replace(table.without(set(names) - set(kept)), title=""))
        left_out = [name for name in left_out if name not in kept]
    parts = [part for each in tables for part in _parts(console, options, each)]
    for part in parts:
        _set_widths(console, options, part)
    headings = dict(zip(names, (column.title for column in table.columns), strict=True))
    return parts, [headings[name] for name in left_out]


def _empty_columns(table: Table) -> list[str]:
    """Returns the names of the columns of numbers without a number in any row."""
    return [
        column.name or column.title
        for index, column in enumerate(table.columns)
        if column.is_number and table.rows and all(row[index] == "-" for row in table.rows)
    ]


def _leading_texts(table: Table) -> range:
    """Returns the indices of the columns of texts at the start of the rows."""
    return range(len(list(takewhile(lambda column: not column.is_number, table.columns))))


def _parts(console: Console, options: ConsoleOptions, table: Table) -> list[RichTable]:
    """Returns the table, or tables that together have all columns; each fits, or has one column.

    Each also has the columns of texts at the start of the rows.
    """
    whole = _rich_table(table)
    words = sum(_longest(console, options, column).minimum for column in whole.columns)
    if _frame_width(console, options, whole) + words <= console.width:
        return [whole]
    texts = _leading_texts(table)
    parts: list[list[int]] = [[]]
    for index in range(len(texts), len(table.columns)):
        wider = _rich_table(table.select([*texts, *parts[-1], index]))
        if parts[-1] and _min_width(console, options, wider) > console.width:
            parts.append([])
        parts[-1].append(index)
    first, *others = (table.select([*texts, *part]) for part in parts)
    return [_rich_table(first), *(_rich_table(replace(other, title="")) for other in others)]


def _rich_table(table: Table) -> RichTable:
    """Returns a table of rich, with columns of their full width."""
    if table.frame == "box":
        rich_table = RichTable(title=table.title, box=HEAVY_HEAD)
    elif table.frame == "head":
        rich_table = RichTable(title=table.title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    elif table.frame == "dense":
        rich_table = RichTable(title=table.title, box=SIMPLE_HEAD, padding=0, show_edge=False)
    else:
        rich_table = RichTable(title=table.title, box=None, pad_edge=False)
    for column in table.columns:
        rich_table.add_column(
            column.heading,
            justify="right" if column.is_number else "left",
            overflow="fold" if column.folds else "ellipsis",
            no_wrap=column.no_wrap,
        )
    for index, row in enumerate(table.rows):
        style = "bold" if index in table.bold else ""
        cells = [
            _with_breaks(cell) if column.folds else cell
            for column, cell in zip(table.columns, row, strict=True)
        ]
        rich_table.add_row(*cells, style=style, end_section=index in table.group_ends)
    return rich_table


def _with_breaks(text: str) -> str:
    """Returns a long text of parts that plus signs join, such as a line-up, on several lines."""
    if len(text) <= _MAX_LABEL or "+" not in text:
        return text
    lines = [""]
    for part in re.split(r"(?<=[+])(?=[^+])", text):
        if lines[-1] and len(lines[-1]) + len(part) > _MAX_LABEL:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _min_width(console: Console, options: ConsoleOptions, table: RichTable) -> int:
    """Returns the minimum width of a table whose words and numbers are not cut or wrapped."""
    columns = sum(_range(console, options, column).minimum for column in table.columns)
    return _frame_width(console, options, table) + columns


def _frame_width(console: Console, options: ConsoleOptions, table: RichTable) -> int:
    """Returns the width of all that is not text: lines and spaces between columns."""
    texts = sum(_longest(console, options, column).maximum for column in table.columns)
    return console.measure(table, options=options).maximum - texts


def _longest(
    console: Console, options: ConsoleOptions, column: Column, *, with_heading: bool = True
) -> Measurement:
    """Returns the width of the longest word and of the longest line in a column."""
    cells = [*([column.header] if with_heading else []), *column.cells]
    parts = [Measurement.get(console, options, cell) for cell in cells] or [Measurement(0, 0)]
    return Measurement(max(part.minimum for part in parts), max(part.maximum for part in parts))


def _range(console: Console, options: ConsoleOptions, column: Column) -> Measurement:
    """Returns the minimum width of a column without a cut, and its width without a wrapped line."""
    longest = _longest(console, options, column)
    if column.no_wrap:
        return Measurement(longest.maximum, longest.maximum)
    if column.justify != "right":
        return longest
    cells = _longest(console, options, column, with_heading=False).maximum
    return Measurement(max(longest.minimum, cells), longest.maximum)


def _set_widths(console: Console, options: ConsoleOptions, table: RichTable) -> None:
    """Sets the width of each column; free space goes to texts, then to headings."""
    if not table.columns:
        return
    ranges = [_range(console, options, column) for column in table.columns]
    frame = _frame_width(console, options, table)
    if frame + sum(each.minimum for each in ranges) > console.width:
        # Numbers are wrapped before their intervals, rather than words cut.
        ranges = [_longest(console, options, column) for column in table.columns]
    if frame + sum(each.minimum for each in ranges) > console.width:
        for column in table.columns:
            column.no_wrap = column.no_wrap and column.overflow != "fold"
        return
    cells = [_longest(console, options, column, with_heading=False).maximum for column in table.columns]
    widths = [each.minimum for each in ranges]
    for _ in range(console.width - frame - sum(widths)):
        narrow = [index for index, each in enumerate(ranges) if widths[index] < each.maximum]
        if not narrow:
            break
        widths[min(narrow, key=lambda index: (widths[index] >= cells[index], widths[index]))] += 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
        column.no_wrap = False
