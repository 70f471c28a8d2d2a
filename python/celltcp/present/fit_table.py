"""Tables that fit the console: columns are wrapped between words, and else left out by importance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Column


def print_table(
    console: Console, table: Table, droppable: Sequence[str] = (), *, markup: bool = True
) -> None:
    """Prints a table in the width of the console; no word and no number is cut.

    Headings and texts are wrapped. Where that is not enough, columns are left out, and said to be; then
    numbers are wrapped before their intervals.

    Args:
        console: where it goes.
        table: all of it; columns that are aligned to the right are numbers, which are wrapped last.
        droppable: headings of the columns that can be done without, the least important first.
        markup: whether square brackets in cells are markup.
    """
    options = console.options.update(max_width=10_000, markup=markup)
    left_out: list[str] = []
    known = {heading_of(column) for column in table.columns}
    for heading in droppable:
        if _least(console, options, table) <= console.width:
            break
        if heading in known:
            left_out.append(heading)
            table = _without(table, heading)
    _set_widths(console, options, table)
    console.print(table, markup=markup)
    if left_out:
        names = ", ".join(left_out)
        console.print(f"Columns omitted (terminal too narrow): {names}", style="dim", markup=False)


def heading_of(column: Column) -> str:
    """Returns the heading of a column on one line, with a word that its lines part put together."""
    return " ".join(str(column.header).split()).replace("- ", "")


def _without(table: Table, heading: str) -> Table:
    """Returns a table without the columns of that heading."""
    kept = [column for column in table.columns if heading_of(column) != heading]
    fewer = Table(
        *(column.copy() for column in kept),
        title=table.title,
        box=table.box,
        padding=table.padding,
        show_edge=table.show_edge,
    )
    cells = zip(*(column.cells for column in kept), strict=True)
    for row, texts in zip(table.rows, cells, strict=True):
        fewer.add_row(*texts, style=row.style, end_section=row.end_section)
    return fewer


def _least(console: Console, options: ConsoleOptions, table: Table) -> int:
    """Returns the width of a table whose columns are as narrow as their words let them."""
    columns = sum(_range(console, options, column).minimum for column in table.columns)
    return _frame(console, options, table) + columns


def _frame(console: Console, options: ConsoleOptions, table: Table) -> int:
    """Returns the width of all that is not text: lines and spaces between columns."""
    texts = sum(_longest(console, options, column).maximum for column in table.columns)
    return console.measure(table, options=options).maximum - texts


def _longest(
    console: Console, options: ConsoleOptions, column: Column, *, headed: bool = True
) -> Measurement:
    """Returns the width of the longest word and of the longest line in a column."""
    cells = [*([column.header] if headed else []), *column.cells]
    parts = [Measurement.get(console, options, cell) for cell in cells] or [Measurement(0, 0)]
    return Measurement(max(each.minimum for each in parts), max(each.maximum for each in parts))


def _range(console: Console, options: ConsoleOptions, column: Column) -> Measurement:
    """Returns the least width of a column without a cut, and the one without a wrapped line."""
    result = _longest(console, options, column)
    if not (column.no_wrap or column.justify == "right"):
        return result
    cells = _longest(console, options, column, headed=False).maximum
    return Measurement(max(result.minimum, cells), result.maximum)


def _set_widths(console: Console, options: ConsoleOptions, table: Table) -> None:
    """Sets the width of each column; what is left goes to texts, then to headings."""
    if not table.columns:
        return
    ranges = [_range(console, options, column) for column in table.columns]
    frame = _frame(console, options, table)
    if frame + sum(each.minimum for each in ranges) > console.width:
        # Numbers are wrapped before their intervals, rather than words cut.
        ranges = [_longest(console, options, column) for column in table.columns]
    if frame + sum(each.minimum for each in ranges) > console.width:
        return
    cells = [_longest(console, options, column, headed=False).maximum for column in table.columns]
    widths = [each.minimum for each in ranges]
    for _ in range(console.width - frame - sum(widths)):
        narrow = [place for place, each in enumerate(ranges) if widths[place] < each.maximum]
        if not narrow:
            break
        widths[min(narrow, key=lambda place: (widths[place] >= cells[place], widths[place]))] += 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
        column.no_wrap = False
