"""Part of `celltcp show` for the folder of one comparison or run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from celltcp.cli.comparison_output import print_comparison
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.export import FORMATS
from celltcp.comparison.load_results import comparison_of
from celltcp.comparison.single_run import SingleRun
from celltcp.present.picture_files import must_be_picture
from celltcp.present.style import save
from celltcp.results.folder import prepare_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    #: Functions that draw, by the name of the picture.
    Pictures = dict[str, Callable[[], Figure]]


def show_one(
    result: Comparison | SingleRun,
    folder: Path,
    form: str | None,
    plot: str | None,
    metric: str | None,
    out: str | None,
    by: Sequence[str] = (),
) -> None:
    """Prints, draws (`plot`) or exports (`form`) a comparison or a run to `out`, or to its folder.

    Raises:
        UsageError: if these results have no such picture.
    """
    if form:
        target = prepare_folder(out or folder / form)
        for exported in FORMATS[form](result.results, target):
            click.echo(exported)
    if plot:
        file = Path(out) if out and not form else folder / f"{plot}.png"
        must_be_picture(file)
        pictures = _comparison_pictures(result, metric)
        if isinstance(result, SingleRun):
            pictures = _run_pictures(result, pictures)
        if plot == "sweep":
            raise click.UsageError("--plot sweep goes with the folder of a sweep")
        if plot not in pictures:
            raise click.UsageError(
                f"--plot {plot} compares congestion controls, and {folder} has a single run; allowed "
                f"here: {', '.join(pictures)}"
            )
        click.echo(f"picture: {save(pictures[plot](), file)}")
    if not (form or plot):
        print_comparison(comparison_of(result), by=by)


def _comparison_pictures(result: Comparison | SingleRun, metric: str | None) -> Pictures:
    plots = comparison_of(result).plot
    return {
        "overview": plots.overview,
        "throughput-delay": plots.throughput_delay,
        "ecdf": partial(plots.ecdf, metric or "goodput"),
        "ecdf-grid": plots.ecdf_grid,
        "spider": plots.spider,
        "window": plots.window,
        "time-series": plots.time_series,
        "time-series-raw": partial(plots.time_series, raw=True),
        "startup": plots.startup,
        "legs": plots.legs,
        "video": plots.video,
        "units": partial(plots.units, metric),
    }


def _run_pictures(single_run: SingleRun, of_comparison: Pictures) -> Pictures:
    """Returns the pictures of a single run, without those that compare congestion controls."""
    plots = single_run.plot
    pictures = {
        "time-series": plots.time_series,
        "time-series-raw": partial(plots.time_series, raw=True),
        "legs": plots.legs,
        "video": plots.video,
    }
    shared = ("ecdf", "ecdf-grid", "window", "startup", "units")
    return {**pictures, **{name: of_comparison[name] for name in shared}}
