"""Standard output with tables in the width of the terminal; texts are never markup."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from celltcp.present.section import Table


#: Width of the output without a terminal, characters.
_COLUMNS = 120


class Terminal(Console):
    """Standard output or a file: in the width of the terminal, or a fixed width without one."""

    def __init__(self, columns: int | None = None, file: IO[str] | None = None) -> None:
        """Opens a console.

        Args:
            columns: width without a terminal, characters; by default the variable `COLUMNS`, else 120.
            file: file to write to; the standard output unless given.
        """
        # Addresses and settings have brackets and colons, which are markup and emoji to rich.
        super().__init__(highlight=False, markup=False, emoji=False, file=file)
        if not self.is_terminal:
            stated = self._environ.get("COLUMNS", "")
            self.width = columns or (int(stated) if stated.isdigit() else _COLUMNS)

    def print_table(self, table: Table) -> None:
        """Prints a table in as many parts as it needs; a terminal lists the columns that it omits."""
        from celltcp.present.fit_table import fit_table

        parts, left_out = fit_table(self, table, keeps_all=not self.is_terminal)
        for part in parts:
            self.print(part)
        if left_out:
            names = ", ".join(left_out)
            hint = "a wider terminal, a pipe such as | cat, or --json has them"
            if not self.is_terminal:
                hint = "no row has a value"
            self.print(f"Columns omitted ({hint}): {names}", style="dim")
