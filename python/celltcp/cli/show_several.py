"""Part of `celltcp show` for folders with several comparisons: sweeps, sets of scenarios, videos."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from celltcp.cli.output import check_json, print_result
from celltcp.cli.scenario_set import print_set
from celltcp.cli.sweep import print_sweep
from celltcp.cli.video import print_video
from celltcp.comparison.export import FORMATS
from celltcp.comparison.plots.grids import GRIDS
from celltcp.comparison.plots.sweep_tradeoff import draw_sweep_tradeoff
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.sets.scenario_set import folder_name as scenario_folder
from celltcp.comparison.sweep.parameter_sweep import SCENARIO, Sweep
from celltcp.comparison.sweep.parameter_sweep import folder_name as point_folder
from celltcp.present.picture_files import must_be_picture
from celltcp.present.style import save
from celltcp.results.folder import prepare_folder
from celltcp.video.comparison import VideoComparison
from celltcp.video.comparison import folder_name as video_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from celltcp.comparison.comparison import Comparison

    Several = Sweep | ScenarioSet | VideoComparison

#: Pictures that follow the metrics which rank.
_OF_METRICS = ("sweep", "ecdf", "throughput-delay")


def show_several(
    several: Several,
    folder: Path,
    form: str | None,
    plot: str | None,
    metric: str | None,
    out: str | None,
    json_file: str | None,
    by: Sequence[str] = (),
) -> None:
    """Prints, draws (`plot`) or exports (`form`) all comparisons of a folder, each to its own folder.

    `by` are metrics that rank, as in `Comparison.best_by`.

    Raises:
        UsageError: if these results have no such picture.
    """
    if json_file:
        check_json(json_file)
        document = (
            several.to_json if isinstance(several, VideoComparison) else partial(several.to_json, by)
        )
        print_result(document, json_file, lambda: _print(several, by))
        if not (form or plot):
            return
    if form:
        target = prepare_folder(out or folder / form)
        for name, comparison in _comparisons_by_folder(several).items():
            for exported in FORMATS[form](comparison.results, prepare_folder(target / name)):
                click.echo(exported)
    if plot:
        file = Path(out) if out and not form else folder / f"{plot}.png"
        _draw(several, plot, [metric] if metric else [*by] if plot in _OF_METRICS else [], file)
    if not (form or plot):
        _print(several, by)


def _comparisons_by_folder(several: Several) -> Mapping[str, Comparison]:
    """Returns the comparisons by the names of their folders."""
    if isinstance(several, Sweep):
        points = several.points.items()
        return {point_folder(several.axes, point): comparison for point, comparison in points}
    if isinstance(several, ScenarioSet):
        return {scenario_folder(name): comparison for name, comparison in several.comparisons.items()}
    return {video_folder(*key): comparison for key, comparison in several.comparisons.items()}


def _print(several: Several, by: Sequence[str]) -> None:
    if isinstance(several, Sweep):
        print_sweep(several, by)
    elif isinstance(several, ScenarioSet):
        print_set(several, by=by)
    else:
        print_video(several)


def _coordinates(several: Several) -> list[tuple[str, ...]]:
    """Returns the coordinates of the comparisons; values of settings are prefixed by their names."""
    if not isinstance(several, Sweep):
        return [key if isinstance(key, tuple) else (key,) for key in several.comparisons]
    return [
        tuple(
            value if axis == SCENARIO else f"{axis}={value}"
            for axis, value in zip(several.axes, point, strict=True)
        )
        for point in several.points
    ]


def _draw(several: Several, plot: str, by: list[str], file: Path) -> None:
    comparisons = list(several.comparisons.values())
    names = _coordinates(several)
    pictures: dict[str, Callable[[], Figure]] = {
        name: partial(draw_grid, comparisons, names) for name, draw_grid in GRIDS.items()
    }
    of_metrics: dict[str, Callable[[], Figure]] = {}
    if isinstance(several, Sweep):
        of_metrics["sweep"] = partial(several.plot, by)
        of_metrics["throughput-delay"] = partial(draw_sweep_tradeoff, several, by)
    if isinstance(several, ScenarioSet):
        of_metrics["ecdf"] = partial(several.plot, by)
    pictures |= of_metrics
    if isinstance(several, VideoComparison):
        pictures["video"] = several.plot
        pictures["ecdf"] = several.plot_ecdf
    if plot not in pictures:
        example = next(iter(_comparisons_by_folder(several)))
        raise click.UsageError(
            f"--plot {plot} goes with the folder of one comparison, such as {example}; allowed here: "
            f"{', '.join(pictures)}"
        )
    if by and plot not in of_metrics:
        raise click.UsageError(f"--metric goes not with --plot {plot} of several comparisons")
    must_be_picture(file)
    click.echo(f"picture: {save(pictures[plot](), file)}")
