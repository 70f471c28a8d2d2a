"""Terminal: tables and lines in its width, whose texts are data and never markup."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from celltcp.present.section import Table


class Terminal(Console):
    """The standard output: a terminal, or a page of a fixed width where there is none."""

    def __init__(self, columns: int = 120, file: IO[str] | None = None) -> None:
        """Takes the width where there is no terminal, and another file than the standard output."""
        # Addresses and settings have brackets and colons, which are markup and emoji to rich.
        super().__init__(highlight=False, markup=False, emoji=False, file=file)
        if not self.is_terminal and not self._environ.get("COLUMNS", "").isdigit():
            self.width = columns

    def print_table(self, table: Table) -> None:
        """Prints a table in as many parts as it needs, and says which columns it leaves out."""
        from celltcp.present.fit_table import fit_table

        parts, left_out = fit_table(self, table)
        for part in parts:
            self.print(part)
        if left_out:
            names = ", ".join(left_out)
            self.print(f"Columns omitted (terminal too narrow; --json has them): {names}", style="dim")
