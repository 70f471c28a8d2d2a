"""celltcp show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

PLOTS = ("overview", "throughput-delay", "ecdf", "time-series", "startup")


@click.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--format", "form", type=click.Choice(["csv", "parquet", "iperf3-json", "qlog"]), help="Export."
)
@click.option("--plot", type=click.Choice(PLOTS), help="Draw a picture.")
@click.option(
    "--metric",
    default="goodput",
    show_default=True,
    type=click.Choice(["goodput", "rtt", "owd", "pm_balanced", "pm_delay"]),
    help="Of the ecdf.",
)
@click.option("--out", metavar="PLACE", help="Folder of the export or file of the picture.")
def show(folder: str, form: str | None, plot: str | None, metric: str, out: str | None) -> None:
    """Show the results in DIR again: table, pictures, exports."""
    from functools import partial
    from pathlib import Path

    from celltcp.cli.compare import print_comparison
    from celltcp.comparison import Comparison
    from celltcp.export import FORMATS
    from celltcp.export.text import must_be_writable
    from celltcp.plots.style import save
    from celltcp.results import prepare_folder
    from celltcp.stored import load

    result = load(folder)
    if form:
        target = prepare_folder(out or Path(folder) / form)
        for file in FORMATS[form](result.results, target):
            click.echo(file)
    if plot:
        file = Path(out) if out and not form else Path(folder) / f"{plot}.png"
        must_be_writable(file)
        if isinstance(result, Comparison):
            plots = result.plot
            draw: dict[str, Callable[[], Figure]] = {
                "overview": plots.overview,
                "throughput-delay": plots.throughput_delay,
                "ecdf": partial(plots.ecdf, metric),
                "time-series": plots.time_series,
                "startup": plots.startup,
            }
            drawn = draw[plot]()
        else:
            drawn = result.plot.time_series()
        click.echo(f"picture: {save(drawn, file)}")
    if not (form or plot):
        print_comparison(result if isinstance(result, Comparison) else Comparison(result.results))
