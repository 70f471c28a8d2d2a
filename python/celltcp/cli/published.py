"""Our means beside published ones, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.cli.means import mean_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from celltcp.papers.beside import Beside


def print_beside(found: Sequence[Beside], console: Console) -> None:
    """A row per scenario and congestion control, how well the ranks agree, and the sources."""
    from rich.table import Table

    from celltcp.papers.published import source
    from celltcp.statistics import estimate

    table = Table(title="Goodput in Mbit/s as published and here, means and 95 % intervals")
    for heading, justify in (("scenario", "left"), ("CCA", "left"), ("published", "right")):
        table.add_column(heading, justify="right" if justify == "right" else "left")
    table.add_column("here", justify="right")
    table.add_column("here less published", justify="right")
    for each in found:
        for theirs in each.published:
            ours = each.ours[theirs.cca]
            percent = 100 * (estimate(ours).mean / theirs.goodput_mbps - 1)
            table.add_row(
                each.scenario,
                theirs.cca,
                f"{theirs.goodput_mbps:.2f} ±{theirs.ci95:.2f}",
                mean_text(ours, 2),
                f"{percent:+.0f} %",
            )
        table.add_section()
    console.print(table)
    for each in found:
        if each.ranks:
            console.print(
                f"{each.scenario}: Spearman's rank correlation of {each.ranks.count}: {each.ranks}"
            )
        if not each.unchanged:
            console.print(f"{each.scenario} was changed: the published means are of the built-in one.")
    for paper in dict.fromkeys(theirs.paper for each in found for theirs in each.published):
        console.print(f"published: {source(paper)}")
