"""celltcp show."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from celltcp.cli.options import draws, option
from celltcp.cli.verbosity import note

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.sets.scenario_set import ScenarioSet
    from celltcp.comparison.single_run import SingleRun
    from celltcp.comparison.summary import Orientation
    from celltcp.comparison.sweep.parameter_sweep import Sweep
    from celltcp.video.comparison import VideoComparison

    #: Results of one folder.
    Shown = Comparison | SingleRun | Sweep | ScenarioSet | VideoComparison

PLOTS = (
    *("overview", "throughput-delay", "ecdf", "ecdf-grid", "spider", "time-series"),
    *("time-series-raw", "window", "startup"),
    *("legs", "video", "units", "sweep"),
)
#: Formats of the summary.
_SUMMARIES = ("summary-csv", "latex", "markdown")
#: Metrics of --by-position and --by-phase.
_VIEW_METRICS = ("goodput", "rtt", "owd", "pm_balanced", "pm_delay")
#: Pictures of a metric that --metric chooses.
_METRIC_PLOTS = ("ecdf", "units", "sweep", "throughput-delay")
#: Pictures that compare several folders.
_FOLDER_PLOTS = ("ecdf-grid", "spider", "throughput-delay", "window")


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "iperf3-json", "qlog", *_SUMMARIES]),
    help="Export the data in this format; summary-csv, latex and markdown have the summary, with "
    "differences and verdicts.",
)
@click.option(
    "--scenarios-as",
    "layout",
    type=click.Choice(["rows", "columns"]),
    help="Scenarios and values of a sweep as rows or columns of the summary.  [default: rows]",
)
@click.option(
    "--columns",
    metavar="LIST",
    help="Print these metrics, also as summary-csv, latex and markdown, in their order, such as "
    "goodput,rtt or share:flow-2,jain. rtt stands for all that begin so; median and sd add those of "
    "the runs.  [default: all metrics]",
)
@click.option("--fragment", is_flag=True, help="LaTeX tables to include, in place of a whole document.")
@click.option("--plot", type=click.Choice(PLOTS), help="Draw this picture.")
@click.option(
    "--by-position",
    "view",
    flag_value="position",
    help="Compare, place by place, movement away from the base station (first DIR) with movement "
    "towards it (second DIR).",
)
@click.option(
    "--by-mcs",
    "view",
    flag_value="mcs",
    help="Count wasted transmission opportunities by modulation; needs results with --radio-log.",
)
@click.option(
    "--by-phase",
    "view",
    flag_value="phase",
    help="Compare the phases of the UE's movement through the cell.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Compare all files in each DIR with the digests that were written with them, and print those "
    "that are damaged. DIR may be a policy, a memory or a table of outcomes, too.",
)
@option("cca", default=None, help="Show only these congestion controls.")
@click.option(
    "--metric",
    default=None,
    metavar="METRIC[:FLOW]",
    help="Metric of --plot ecdf, --by-position and --by-phase: goodput, rtt, owd, pm_balanced, "
    "pm_delay, of the first flow or of FLOW. --plot ecdf and units have the times of units of work as "
    "well: response, page_load, frame_delay, fetch, completion, of all flows or of FLOW. --plot sweep "
    "and throughput-delay of a sweep take the metrics of sweep --by.  [default: goodput; of --plot "
    "units all that there are]",
)
@option(
    "out",
    metavar="PLACE",
    help="Folder for the export, or file for the summary or the picture (.png, .svg, .pdf, or .pgf for "
    "LaTeX).",
)
@option(
    "by",
    help="Rank by this metric, of this flow, in tables and JSON; may be repeated.  [default: that of "
    "the command that made DIR]",
)
@option("json_file", help="Write the results as JSON to FILE, as compare and run do; - prints them.")
@draws
def show(
    folders: tuple[str, ...],
    form: str | None,
    layout: Orientation | None,
    columns: str | None,
    fragment: bool,
    plot: str | None,
    view: str | None,
    verify: bool,
    cca: str | None,
    metric: str | None,
    out: str | None,
    by: tuple[str, ...],
    json_file: str | None,
) -> None:
    """Show stored results: tables, pictures, exports.

    DIR is a folder that --out of compare, run, sweep or video wrote, finished or not. --by-position,
    --by-mcs and --by-phase are for scenarios with a radio; each prints a table and draws a picture,
    and takes several DIR.
    """
    from pathlib import Path

    from celltcp.cli.comparison_output import print_comparison
    from celltcp.cli.output import check_json, print_result
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.load_results import comparison_of
    from celltcp.comparison.single_run import SingleRun
    from celltcp.video.load_results import load

    chosen = [name for name, value in (("--format", form), ("--plot", plot)) if value]
    if verify:
        if chosen or view or json_file:
            raise click.UsageError("--verify goes with no other option")
        _verify(folders)
        return
    if columns is not None and (form or plot or view or json_file) and form not in _SUMMARIES:
        raise click.UsageError("--columns goes alone or with --format summary-csv, latex or markdown")
    if layout and form not in ("latex", "markdown") and columns is None:
        raise click.UsageError("--scenarios-as goes with --format latex or markdown, or --columns")
    if metric and not view and plot not in _METRIC_PLOTS:
        raise click.UsageError(
            f"--metric goes with --plot {', '.join(_METRIC_PLOTS)}, --by-position and --by-phase"
        )
    if fragment and form != "latex":
        raise click.UsageError("--fragment goes with --format latex")
    if view:
        if chosen:
            raise click.UsageError(f"{chosen[0]} and --by-{view} do not go together")
        metric = metric or "goodput"
        if metric not in _VIEW_METRICS:
            allowed = ", ".join(_VIEW_METRICS)
            raise click.UsageError(
                f"--metric: {metric!r} goes not with --by-{view}; allowed: {allowed}"
            )
        file = Path(out) if out else Path(folders[0]) / f"by-{view}.png"
        _view(_comparisons(folders, cca), view, metric, file)
        return
    if len(folders) > 1 and plot in _FOLDER_PLOTS and not form:
        file = Path(out or Path(folders[0]) / f"{plot}.png")
        _draw_folders(_comparisons(folders, cca), plot, file)
        return
    if len(folders) > 1:
        raise click.UsageError(
            "several DIR go with --by-position, --by-mcs, --by-phase, and --plot "
            f"{', '.join(_FOLDER_PLOTS)}"
        )
    if out and not chosen:
        raise click.UsageError(
            "--out goes with --format, --plot, --by-position, --by-mcs or --by-phase"
        )
    result = load(folders[0])
    if result.unfinished and (chosen or json_file):
        note(f"{folders[0]}: {result.unfinished}")
    if columns is None and not form and not by:
        from celltcp.results.publishing import remembered_metrics

        by = remembered_metrics(Path(folders[0]))
        if by:
            note(f"ranked by {', '.join(by)}, as by the command that made {folders[0]}")
    if columns is not None and not form:
        from celltcp.cli.show_summary import print_summary

        print_summary(_only(result, cca) if cca else result, layout or "rows", columns)
        return
    if form in _SUMMARIES:
        if plot or json_file:
            raise click.UsageError(f"--format {form} goes with neither --plot nor --json")
        from celltcp.cli.show_summary import show_summary

        if cca:
            result = _only(result, cca)
        show_summary(result, form, out, layout or "rows", columns=columns, is_document=not fragment)
        return
    if not isinstance(result, Comparison | SingleRun):
        from celltcp.cli.show_several import show_several

        if cca:
            raise click.UsageError("--cca goes with the folder of one comparison")
        show_several(result, Path(folders[0]), form, plot, metric, out, json_file, by)
        return
    if cca:
        result = _only(result, cca)
    if json_file:
        check_json(json_file)
        print_whole = functools.partial(print_comparison, comparison_of(result), by=by)
        document = (
            result.to_json if isinstance(result, SingleRun) else functools.partial(result.to_json, by)
        )
        print_result(document, json_file, print_whole)
        if not chosen:
            return
    from celltcp.cli.show_one import show_one

    show_one(result, Path(folders[0]), form, plot, metric, out, by)


def _verify(folders: tuple[str, ...]) -> None:
    """Prints the number of unchanged files; ends with exit code 1 if some have changed."""
    import sys
    from pathlib import Path

    from celltcp.results.verifying import verify

    result = [verify(Path(folder)) for folder in folders]
    for folder, verified in zip(folders, result, strict=True):
        for line in verified.damaged:
            click.echo(f"celltcp: {line}", err=True)
        damaged = f", {len(verified.damaged)} damaged or missing" if verified.damaged else ""
        click.echo(f"{folder}: {verified.intact} intact{damaged}")
    if any(verified.damaged for verified in result):
        sys.exit(1)


def _only(shown: Shown, cca: str) -> Comparison:
    """Returns the comparison with chosen congestion controls only."""
    from celltcp.comparison.comparison import Comparison
    from celltcp.scenarios.ccas import select_ccas

    if not isinstance(shown, Comparison):
        raise click.UsageError("--cca chooses among several of one comparison; DIR holds another kind")
    return shown.only(select_ccas(cca, shown.ccas))


def _comparisons(folders: tuple[str, ...], cca: str | None) -> list[Comparison]:
    """Returns all comparisons in some folders, with chosen congestion controls if `cca` is given."""
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.load_results import comparison_of
    from celltcp.comparison.single_run import SingleRun
    from celltcp.video.load_results import load

    comparisons: list[Comparison] = []
    for result in map(load, folders):
        if isinstance(result, Comparison | SingleRun):
            comparisons.append(comparison_of(result))
        else:
            comparisons += result.comparisons.values()
    return [_only(comparison, cca) for comparison in comparisons] if cca else comparisons


def _draw_folders(comparisons: list[Comparison], plot: str, file: Path) -> None:
    """Draws a picture of comparisons in several folders."""
    from celltcp.comparison.plots.grids import GRIDS
    from celltcp.present.picture_files import must_be_picture
    from celltcp.present.style import save

    must_be_picture(file)
    click.echo(f"picture: {save(GRIDS[plot](comparisons), file)}")


def _view(results: list[Comparison], view: str, metric: str, file: Path) -> None:
    """Prints the table of a view of the radio, and draws its picture."""
    from celltcp.present.picture_files import must_be_picture
    from celltcp.present.style import save
    from celltcp.publications.publications import publications
    from celltcp.publications.published import published_phases
    from celltcp.radio.tables import view_mcs, view_phases, view_positions

    must_be_picture(file)
    source = f"{publications()['atxutegi2018'].source}, table 6.2"
    views: dict[str, Callable[[], Figure]] = {
        "position": lambda: view_positions(results, metric),
        "mcs": lambda: view_mcs(results),
        "phase": lambda: view_phases(results, metric, published_phases, source),
    }
    note(f"picture: {save(views[view](), file)}")
