"""Table of the Linux kernels that are built."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from celltcp.present.section import Column, Table, number_columns

if TYPE_CHECKING:
    from celltcp.kernel.status import KernelState


def kernels_table(kernels: Iterable[KernelState]) -> Table:
    """Returns a row per kernel: source, congestion controls, size, build time, and state."""
    text_columns = [Column(name) for name in ("Linux", "source", "congestion controls")]
    rows = tuple(
        (
            row["version"],
            row["source"],
            ", ".join(row["ccas"]),
            f"{row['size_bytes'] / 1e6:.1f}",
            row["built"][:16].replace("T", " "),
            "up to date" if row["up_to_date"] else f"rebuild is due: {row['command']}",
        )
        for row in kernels
    )
    return Table((*text_columns, *number_columns("MB"), Column("built"), Column("state")), rows)
