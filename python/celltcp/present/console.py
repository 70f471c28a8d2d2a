"""Console on which tables are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.table import Table


def fit_to_width(
    console: Console, build: Callable[[frozenset[str]], Table], droppable: Sequence[str]
) -> tuple[Table, list[str]]:
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
