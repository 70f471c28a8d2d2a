"""Terminal renderer of sections: their tables as those of rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from celltcp.present.section import Table


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
