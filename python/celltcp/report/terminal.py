"""Terminal renderer of sections: their tables as those of rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from celltcp.report.section import Table


def terminal_table(table: Table) -> RichTable:
    """Returns a table for a console."""
    from rich.table import Table as RichTable

    shown = RichTable(title=table.title)
    for column in table.columns:
        if column.is_number:
            shown.add_column(column.heading, justify="right", no_wrap=True)
        else:
            shown.add_column(column.heading, overflow="fold" if column.folds else "ellipsis")
    for number, row in enumerate(table.rows):
        shown.add_row(*row, end_section=number in table.ends)
    return shown
