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
    from collections.abc import Iterable, Sequence

    from celltcp.comparison.explanation.explanation import ExplainedComparison
    from celltcp.present.section import Table
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
    from celltcp.comparison.explanation.trials.proposals import lines_of
    from celltcp.selection.explained_results import explain as explain_results

    check_json(json_file)
    with progress_bar("trying remedies") as progress:
        explained = explain_results(folder, progress=progress)

    def show() -> None:
        if explained.unfinished:
            Terminal().print(f"warning: {explained.unfinished}", style="yellow")
        for line in explained.over_all:
            click.echo(line)
        single = explained.comparisons[""] if explained.is_single else None
        if single is not None:
            _print_answer(single, folder)
        joined = explained.joined
        if joined is not None:
            _print_sentences(joined.limits, joined.notes, joined.blocks)
        for name, result in () if joined else explained.comparisons.items():
            if name:
                click.echo("\n".join([f"{name}:", *result.rankings]))
            _print_causes(result, explained.blocks_of(name), explained.selection(name))
        if (table := causes_table(explained.causes, len(explained.comparisons))) is not None:
            Terminal().print_table(table)
        if tries := explained.remedy_commands(folder):
            _print_lines("Try next:", itertools.chain.from_iterable(map(lines_of, tries)))
        if single is not None and single.plots:
            pictures = "; ".join(f"celltcp show {folder} {plot}" for plot in single.plots)
            click.echo(f"Pictures of it: {pictures}")

    print_result(explained.to_json, json_file, show)


def _print_answer(result: ExplainedComparison, folder: str) -> None:
    """Prints the ranking, the best of all, the alternatives, and the lines that set them."""
    for line in (*_chosen_lines(result, folder), *result.rankings):
        click.echo(line)
    best, alternatives = result.conclusion
    if best is not None:
        _print_lines(best.text, best.lines)
    else:
        _print_settings(result, "")
    if alternatives is not None:
        Terminal().print_table(alternatives.table)
        if alternatives.recommended:
            click.echo(alternatives.legend)
        own = [] if best is None else best.lines
        if lines := _without_repeats(alternatives.lines, own):
            of = " others" if own else ""
            _print_lines(f"Lines for{of or ' those'} with *, each with its host:", lines)
        if lines := alternatives.other_lines:
            _print_lines("Lines for the rows without *:", lines)
    if best is not None:
        printed = [*best.lines, *([] if alternatives is None else alternatives.lines)]
        _print_settings(result, "Without any change but the CCA: ", printed)
    for line in [] if alternatives is None else alternatives.unranked_ccas:
        click.echo(line)
    if lines := result.scenario_lines:
        title = "On Linux, what the scenario sets beside the CCA, and the figures hold with:"
        _print_lines(title, lines)


def _without_repeats(lines: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Returns lines without those that are printed, and joined ones all parts of which are lines."""
    known = {*printed, *lines}
    return [
        line
        for line in lines
        if line not in printed and not ("; " in line and {*line.split("; ")} <= known)
    ]


def _print_settings(result: ExplainedComparison, condition: str, printed: Sequence[str] = ()) -> None:
    """Prints the lines that set the best congestion controls alone, after the condition for it.

    Those that are among the `printed` ones, each after its host, are named as such.
    """
    parts = {part for line in printed for part in line.split("; ")}
    for setting in result.settings:
        if not setting["lines"]:
            text = f"Best for {setting['need']}: {setting['cca']}, which no line of Linux sets."
            click.echo(f"{condition}{text}")
            continue
        lines = [
            line
            for line in setting["lines"]
            if not any(part == line or part.endswith(f": {line}") for part in parts)
        ]
        above = "" if len(lines) == len(setting["lines"]) else " its lines above"
        more = " and" if above and lines else ""
        title = f"the {result.sender} sets {setting['cca']}, best for {setting['need']}:{above}{more}"
        _print_lines(f"{condition or 'On Linux, '}{title}", lines)


def _print_lines(title: str, lines: Iterable[str]) -> None:
    click.echo(title)
    for line in lines:
        click.echo(f"  {line}")


def _chosen_lines(result: ExplainedComparison, folder: str) -> list[str]:
    """Returns the best CCA by each metric by which the command that made the results ranked."""
    from celltcp.comparison.verdicts.verdict_tables import chosen_text
    from celltcp.results.publishing import remembered_metrics
    from celltcp.scenarios.cca_mix import labels

    comparison, names = result.comparison, labels(result.comparison.ccas)
    by = remembered_metrics(Path(folder)) if len(comparison.ccas) > 1 else ()
    return [chosen_text(comparison.best_by(metric), names) for metric in by]


def _print_sentences(
    limits: Table | None, notes: Iterable[str], blocks: Iterable[Iterable[str]]
) -> None:
    console = Terminal()
    if limits is not None:
        console.print_table(limits)
    for note in notes:
        console.print(f"note: {note}", soft_wrap=not console.is_terminal)
    for text in itertools.chain.from_iterable(blocks):
        console.print(text, soft_wrap=not console.is_terminal, highlight=False)


def _print_causes(
    result: ExplainedComparison, blocks: Iterable[Iterable[str]], selected: Sequence[Explanation]
) -> None:
    from celltcp.comparison.tables import limits_table

    _print_sentences(limits_table(result.results), result.notes, blocks)
    if selected:
        from celltcp.cli.select.explain import print_explanation

        for explained in selected:
            print_explanation(explained)
