"""celltcp explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.explanation.explanation import ExplainedComparison
    from celltcp.selection.explanation import Explanation
    from celltcp.selection.outcomes.explained_folder import ExplainedFolder, ExplainedFolders


@click.command()
@click.argument("folder", metavar="DIR")
@option("json_file")
def explain(folder: str, json_file: str | None) -> None:
    """Explain stored results: what cost each CCA its place.

    DIR is the folder that --out of compare, run or sweep wrote. For each CCA the causes are named
    that the tables show, with their figures, then the losses, time-outs and outages that took most
    time. For auto it includes the decisions of its selectors, as celltcp select explain has them.
    """
    from pathlib import Path

    from celltcp.campaign.planned import completeness_in
    from celltcp.comparison.explanation.explanation import explain_folder

    check_json(json_file)
    explained = {name: (each, _selected(each)) for name, each in explain_folder(folder).items()}

    unfinished = completeness_in(Path(folder)).text(of_several="" not in explained)

    def to_json() -> ExplainedFolder | ExplainedFolders:
        if "" in explained:
            return _json(*explained[""])
        folders = {name: _json(*each) for name, each in explained.items()}
        return {"folders": folders, "unfinished": unfinished}

    def show() -> None:
        if unfinished:
            Terminal().print(f"warning: {unfinished}", style="yellow")
        for name, (result, selected) in explained.items():
            if name:
                click.echo(f"{name}:")
            _print(result, selected)
            if not name and result.plots:
                commands = "; ".join(f"celltcp show {folder} {each}" for each in result.plots)
                click.echo(f"Pictures of it: {commands}")

    print_result(to_json, json_file, show)


def _json(result: ExplainedComparison, selected: Sequence[Explanation]) -> ExplainedFolder:
    return {
        **result.to_json(),
        "selection": [each.to_json() for each in selected],
        "unfinished": result.result.unfinished,
    }


def _selected(result: ExplainedComparison) -> list[Explanation]:
    """Returns the explanations of selectors; none where none has decided anything."""
    if not {"decisions", "estimates"} <= {*result.results.tables}:
        return []
    from celltcp.selection.explanation import explain as explain_selectors

    return explain_selectors(result.results)


def _print(result: ExplainedComparison, selected: Sequence[Explanation]) -> None:
    from celltcp.comparison.tables import limits_table

    console = Terminal()
    if (table := limits_table(result.results)) is not None:
        console.print_table(table)
    for note in result.notes:
        console.print(f"note: {note}")
    for each in result.ccas:
        for text in result.texts(each):
            console.print(text, soft_wrap=not console.is_terminal, highlight=False)
    if selected:
        from celltcp.cli.select.explain import print_explanation

        for explained in selected:
            print_explanation(explained)
