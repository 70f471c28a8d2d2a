"""Console on which tables are printed."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.table import Table

#: Spelling of characters that a terminal may lack.
_SPELT = {"±": "+-", "µ": "u", "\u2013": "-", "…": "...", "\u00d7": "x"}


def spell_what_terminals_lack() -> None:
    """Lets output in ASCII and the like spell what it lacks, rather than fail after all runs."""

    def spelt(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        lacking = error.object[error.start : error.end]
        return "".join(_SPELT.get(each, "?") for each in lacking), error.end

    codecs.register_error("celltcp-spell", spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="celltcp-spell")


def fitting(
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
