"""Terminal: tables of sections as those of rich, and the console on which they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from celltcp.present.section import Table


def fit_to_width(
    console: Console, build: Callable[[frozenset[str]], RichTable], droppable: Sequence[str]
) -> tuple[RichTable, list[str]]:
    """Returns a table that fits the console, and the columns that it is without for that.

    Args:
        console: where it goes.
        build: makes the table without the columns of these names.
        droppable: names of columns, the least important first.
    """
    left_out: list[str] = []
    table = build(frozenset())
    # Otherwise nothing is measured as wider than the console.
    unbounded = console.options.update(max_width=10_000)
    for name in droppable:
        if console.measure(table, options=unbounded).maximum <= console.width:
            break
        left_out.append(name)
        table = build(frozenset(left_out))
    return table, left_out


def wide_console(columns: int = 120) -> Console:
    """Returns the terminal; where there is none, a page of so many columns."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=columns)


def terminal_table(table: Table, *, is_open: bool = False) -> RichTable:
    """Returns a table for a console.

    Args:
        table: what is shown.
        is_open: whether it has a line below its head only, which leaves more room for long rows.
    """
    from rich.box import HEAVY_HEAD, SIMPLE_HEAD
    from rich.table import Table as RichTable

    box, padding = (SIMPLE_HEAD, (0, 1, 0, 0)) if is_open else (HEAVY_HEAD, (0, 1))
    shown = RichTable(title=table.title, box=box, padding=padding)
    for column in table.columns:
        if column.is_number:
            shown.add_column(column.heading, justify="right", no_wrap=True)
        else:
            shown.add_column(column.heading, overflow="fold" if column.folds else "ellipsis")
    for number, row in enumerate(table.rows):
        style = "bold" if number in table.bold else ""
        shown.add_row(*row, style=style, end_section=number in table.ends)
    return shown
