"""celltcp traces."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celltcp._core import CelltcpError, trace_formats
from celltcp.cli.options import draws, option, reading_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp._core import Trace
    from celltcp.logs.overview import TracesOutcome

_OVERWRITE = "Replace TARGET if it exists."


def _trace_options(command: Any) -> Any:
    """Adds --format and the options for reading the file."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(trace_formats()),
        help="Format of the file.  [default: found from its contents]",
    )
    return form(reading_options(command))


def _read(
    file: str, form: str | None, reading: Mapping[str, Any] | None, **columns: str | None
) -> Trace:
    """Reads a trace with the options `reading`, --column, --unit and --direction.

    A log with rates of the uplink alone needs no direction, as nothing is simulated with it.
    """
    from celltcp._core import Trace

    try:
        return Trace.read(file, form, **columns, **(reading or {}))
    except CelltcpError as error:
        if columns.get("direction") or "--direction up" not in str(error):
            raise
    return Trace.read(file, form, **{**columns, "direction": "up"}, **(reading or {}))


def _read_and_print(file: str, form: str | None, **options: Any) -> Trace:
    """Reads a trace, and prints on stderr how it was read."""
    trace = _read(file, form, **options)
    summary = f"{trace.how}: {trace.duration_s:.1f} s, mean {trace.mean_mbps:.3f} Mbit/s"
    click.echo(f"{file}: {summary}", err=True)
    return trace


@click.group()
def traces() -> None:
    """Describe, convert, draw and generate link traces."""


@traces.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--where",
    metavar="CONDITION",
    help="Only traces of which this holds, such as 'mean<6Mbit/s and gap<2s'; also min, median, max "
    "and duration.",
)
@option("json_file")
@_trace_options
def info(
    files: tuple[str, ...],
    where: str | None,
    json_file: str | None,
    form: str | None,
    **options: Any,
) -> None:
    """Describe FILE: how it was read, its duration, rates and gaps.

    Of several files, or those of a folder, each has a row.
    """
    from celltcp.cli.output import check_json, print_result
    from celltcp.logs.overview import files_of, filter_of, trace_statistics

    check_json(json_file)
    is_wanted = filter_of(where)
    log_files = files_of(files)
    is_single_file = list(files) == log_files and len(log_files) == 1
    outcome: TracesOutcome = {"traces": [], "left_out": []}
    trace = None
    for file in log_files:
        try:
            trace = _read(file, form, **options)
            statistics = trace_statistics(file, trace)
        except CelltcpError as error:
            if is_single_file:
                raise
            outcome["left_out"].append({"file": file, "error": str(error)})
            continue
        if is_wanted(statistics):
            outcome["traces"].append(statistics)

    def show() -> None:
        if is_single_file and trace is not None:
            _print_one(trace)
        else:
            _print_rows(outcome)

    print_result(lambda: outcome, json_file, show)


def _print_one(trace: Trace) -> None:
    from celltcp.logs.summaries import parts_of

    facts, doubts = parts_of(trace.how)
    for label, fact in zip(itertools.chain(["read as"], itertools.repeat("")), facts, strict=False):
        click.echo(f"{label:<13}{fact}")
    click.echo(f"duration     {trace.duration_s:.3f} s")
    click.echo(f"mean         {trace.mean_mbps:.3f} Mbit/s")
    for percent, rate in trace.percentiles(1.0):
        click.echo(f"{percent:>2} % of 1 s bins at most {rate:.3f} Mbit/s")
    click.echo(f"longest gap  {trace.longest_gap_s:.3f} s")
    for text in doubts:
        click.echo(f"warning: {text}", err=True)


def _print_rows(outcome: TracesOutcome) -> None:
    from celltcp.logs.summaries import parts_of
    from celltcp.present.terminal import Terminal
    from celltcp.present.trace_table import trace_table

    Terminal().print_table(trace_table(outcome["traces"]))
    for statistics in outcome["traces"]:
        for text in parts_of(statistics["read_as"]).doubts:
            click.echo(f"warning: {statistics['file']}: {text}", err=True)
    for failed in outcome["left_out"]:
        click.echo(f"warning: left out: {failed['error']}", err=True)


@traces.command()
@click.argument("file")
@click.argument("target")
@option("overwrite", help=_OVERWRITE)
@_trace_options
def convert(file: str, target: str, overwrite: bool, form: str | None, **options: Any) -> None:
    """Convert FILE to TARGET.

    The ending of TARGET decides its format: .csv for a table of seconds and Mbit/s, any other one for
    mahimahi.
    """
    from celltcp.files.atomic_write import write_text
    from celltcp.files.replacing import check_output

    check_output(Path(target), overwrite=overwrite, inputs=[file])
    trace = _read_and_print(file, form, **options)
    text = trace.to_csv() if target.endswith(".csv") else trace.to_mahimahi()
    write_text(Path(target), text)


@traces.command()
@click.argument("file")
@option(
    "out",
    metavar="PICTURE",
    help="File of the picture (.png, .svg or .pdf).  [default: FILE with .png, in this folder]",
)
@click.option("--bin", "bin_s", default=0.5, metavar="SECONDS", help="Length of a bin.")
@_trace_options
@draws
def plot(file: str, out: str | None, bin_s: float, form: str | None, **options: Any) -> None:
    """Draw the capacity of FILE over time."""
    from celltcp.comparison.plots.capacity import draw_trace
    from celltcp.present.picture_files import must_be_picture
    from celltcp.present.style import save

    target = Path(out or f"{Path(file).name}.png")
    must_be_picture(target)
    trace = _read_and_print(file, form, **options)
    click.echo(f"picture: {save(draw_trace(trace, Path(file).name, bin_s), target)}")


@traces.command()
@click.argument("target")
@click.option(
    "--mean",
    default=20.0,
    metavar="MBPS",
    help="Mean rate, Mbit/s, outages included.",
)
@click.option(
    "--variability",
    default=0.6,
    help="Standard deviation of the rate over its mean.",
)
@click.option(
    "--correlation",
    default=2.0,
    metavar="SECONDS",
    help="Time in which the correlation of the rate falls to 1/e.",
)
@click.option(
    "--outage-interval",
    default=0.0,
    metavar="SECONDS",
    help="Mean time between outages; 0 for no outages.",
)
@click.option(
    "--outage-duration",
    default=1.0,
    metavar="SECONDS",
    help="Mean length of an outage.",
)
@click.option("--duration", default=600.0, metavar="SECONDS", help="Length of the trace.")
@option("seed", help="Seed of the trace.")
@option("overwrite", help=_OVERWRITE)
def generate(
    target: str,
    mean: float,
    variability: float,
    correlation: float,
    outage_interval: float,
    outage_duration: float,
    duration: float,
    seed: int,
    overwrite: bool,
) -> None:
    """Generate a synthetic trace of a cellular link.

    The ending of TARGET decides its format: .csv for a table of seconds and Mbit/s, any other one for
    mahimahi.

    The logarithm of the rate is an Ornstein-Uhlenbeck process (lognormal rate, exponential
    correlation); outages come as a Poisson process and last an exponential time.
    """
    from celltcp._core import Trace
    from celltcp.files.atomic_write import write_text
    from celltcp.files.replacing import check_output

    check_output(Path(target), overwrite=overwrite)
    trace = Trace.generate(
        mean, variability, correlation, outage_interval, outage_duration, duration, seed
    )
    text = trace.to_csv() if target.endswith(".csv") else trace.to_mahimahi()
    write_text(Path(target), text)
