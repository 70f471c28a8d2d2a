"""Part of `celltcp show`: the summary as CSV, LaTeX or Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.summary import Orientation, Summary
from celltcp.comparison.sweep.parameter_sweep import SCENARIO, Sweep
from celltcp.files.atomic_write import write_text
from celltcp.files.replacing import FileKind, check_output
from celltcp.present.latex import latex_tables
from celltcp.present.markdown import markdown_table
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp.cli.show import Shown
    from celltcp.present.section import Table

#: First line of the file of a summary, by format; CSV has further columns in front of this text.
SUMMARY_FORMATS = {
    "summary-csv": ",".join(Summary.COLUMNS),
    "latex": "% summary of celltcp",
    "markdown": "<!-- summary of celltcp -->",
}


def show_summary(
    shown: Shown,
    form: str,
    out: str | None,
    layout: Orientation,
    *,
    columns: str | None,
    is_document: bool,
) -> None:
    """Prints the summary of results, or writes it to a file; `form` is one of `SUMMARY_FORMATS`.

    Raises:
        CelltcpError: if a file that is no summary would be replaced, or a metric is unknown.
    """
    if out:
        line = SUMMARY_FORMATS[form].encode()
        check_output(Path(out), FileKind(f"summary of celltcp as {form}", first_line=line))
    summary = _chosen(shown, columns)
    if form == "summary-csv":
        text = summary.to_csv()
    elif form == "latex":
        text = latex_tables(summary.tables(layout), is_document=is_document)
    else:
        tables = summary.tables(layout)
        text = "\n".join(
            f"**{table.title}**\n\n{markdown_table(table)}\n{_notes(table)}" for table in tables
        )
    if out:
        # The same command may replace a file with this mark.
        mark = "" if form == "summary-csv" else f"{SUMMARY_FORMATS[form]}\n"
        click.echo(write_text(Path(out), mark + text))
    else:
        click.echo(text, nl=False)


def _notes(table: Table) -> str:
    """Returns the footnotes of a table as paragraphs of Markdown."""
    return "".join("\n" + note.replace("*", "\\*") + "\n" for note in table.notes)


def print_summary(shown: Shown, layout: Orientation, columns: str) -> None:
    """Prints the summary of results with chosen columns as tables.

    Raises:
        CelltcpError: if a metric is unknown.
    """
    console = Terminal()
    for table in _chosen(shown, columns).tables(layout):
        console.print_table(table)
        for note in table.notes:
            console.print(note, style="dim")


def _chosen(shown: Shown, columns: str | None) -> Summary:
    """Returns the summary of results with chosen columns."""
    summary = summary_of(shown)
    if columns is None:
        return summary
    return Summary.of_columns([part.strip() for part in columns.split(",")], summary)


def summary_of(shown: Shown) -> Summary:
    """Returns the summary of results of any kind."""
    if isinstance(shown, Sweep):
        names = dict.fromkeys(str(point.results.about["name"]) for point in shown.points.values())
        return Summary(shown.axes, shown.points, ", ".join(names), shown.unfinished, shown.warnings)
    if isinstance(shown, Comparison | SingleRun):
        comparison = shown if isinstance(shown, Comparison) else Comparison(shown.results)
        name = str(shown.results.about["name"])
        return Summary((), {(): comparison}, name, shown.unfinished, comparison.warnings)
    points: Mapping[tuple[str, ...], Comparison]
    if isinstance(shown, ScenarioSet):
        axes: tuple[str, ...] = (SCENARIO,)
        points = {(name,): each for name, each in shown.comparisons.items()}
    else:
        axes, points = (SCENARIO, "abr"), dict(shown.comparisons.items())
    scenarios = dict.fromkeys(point[0] for point in points)
    title = f"{len(scenarios)} scenarios" if len(scenarios) > 1 else next(iter(scenarios))
    return Summary(axes, points, title, shown.unfinished)
