"""celltcp explain."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result
from celltcp.cli.verbosity import progress_bar
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.explanation.explanation import ExplainedComparison
    from celltcp.selection.explanation import Explanation


@click.command()
@click.argument("folder", metavar="DIR")
@option("json_file")
def explain(folder: str, json_file: str | None) -> None:
    """Explain stored results: what cost each CCA its place.

    DIR is the folder that --out of compare, run or sweep wrote. For each CCA the causes are named
    that the tables show, with their metrics, then the losses, time-outs and outages that took most
    time. For auto it includes the decisions of its selectors, as celltcp select explain has them.
    What it advises is tried in short runs first, where these are cheap.
    """
    from celltcp.comparison.explanation.causes_over_all import causes_table
    from celltcp.comparison.explanation.proposals import lines_of
    from celltcp.selection.explained_results import explain as explain_results

    check_json(json_file)
    with progress_bar("trying remedies") as progress:
        explained = explain_results(folder, progress=progress)

    def show() -> None:
        if explained.unfinished:
            Terminal().print(f"warning: {explained.unfinished}", style="yellow")
        for name, result in explained.comparisons.items():
            if name:
                click.echo(f"{name}:")
            _print(result, explained.selection(name))
        for line in _chosen_lines(explained.comparisons[""], folder) if explained.is_single else []:
            click.echo(line)
        if (table := causes_table(explained.causes, len(explained.comparisons))) is not None:
            Terminal().print_table(table)
        if tries := explained.remedy_commands(folder):
            click.echo("Try next:")
            for line in itertools.chain.from_iterable(map(lines_of, tries)):
                click.echo(f"  {line}")
        conclusion = explained.comparisons[""].conclusion if explained.is_single else None
        best = conclusion.best if conclusion else None
        for line in explained.over_all:
            click.echo(line)
        for setting in explained.comparisons[""].settings if explained.is_single else []:
            if not setting["lines"]:
                click.echo(
                    f"Best for {setting['need']}: {setting['cca']}, which no line of Linux sets."
                )
                continue
            sender = explained.comparisons[""].sender
            of = " of those compared" if best is not None and best.replaces_setting else ""
            click.echo(f"On Linux, the {sender} sets {setting['cca']}, best{of} for {setting['need']}:")
            for line in setting["lines"]:
                click.echo(f"  {line}")
        if explained.is_single and (lines := explained.comparisons[""].scenario_lines):
            click.echo("On Linux, what the scenario sets beside the CCA, and the figures hold with:")
            for line in lines:
                click.echo(f"  {line}")
        # The conclusion is over all that is above it.
        if conclusion and (alternatives := conclusion.alternatives):
            Terminal().print_table(alternatives.table)
            if alternatives.lines:
                click.echo("Lines for those with *, each with its host:")
                for line in alternatives.lines:
                    click.echo(f"  {line}")
        if best is not None:
            click.echo(best.text)
        if explained.is_single and (plots := explained.comparisons[""].plots):
            pictures = "; ".join(f"celltcp show {folder} {plot}" for plot in plots)
            click.echo(f"Pictures of it: {pictures}")

    print_result(explained.to_json, json_file, show)


def _chosen_lines(result: ExplainedComparison, folder: str) -> list[str]:
    """Returns the best CCA by each metric by which the command that made the results ranked."""
    from celltcp.comparison.verdict_tables import chosen_text
    from celltcp.results.publishing import remembered_metrics
    from celltcp.scenarios.cca_mix import labels

    comparison, names = result.comparison, labels(result.comparison.ccas)
    by = remembered_metrics(Path(folder)) if len(comparison.ccas) > 1 else ()
    return [chosen_text(comparison.best_by(metric), names) for metric in by]


def _print(result: ExplainedComparison, selected: Sequence[Explanation]) -> None:
    from celltcp.comparison.tables import limits_table

    console = Terminal()
    if (table := limits_table(result.results)) is not None:
        console.print_table(table)
    for note in result.notes:
        console.print(f"note: {note}", soft_wrap=not console.is_terminal)
    for block in result.blocks:
        for text in block:
            console.print(text, soft_wrap=not console.is_terminal, highlight=False)
    if selected:
        from celltcp.cli.select.explain import print_explanation

        for explained in selected:
            print_explanation(explained)
