"""celltcp pcap."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celltcp.cli.options import draws, option
from celltcp.cli.output import check_json, draw, print_result
from celltcp.cli.verbosity import note, progress_bar

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.pcap import CaptureAnalyses
    from celltcp.pcap.outcome import AnalysisOutcome

_DEADLINE = click.option(
    "--deadline", metavar="TIME", help="Responses and frames that take longer are late."
)
_TAGS = click.option(
    "--tags",
    metavar="FILE",
    help="CSV (start, end, address, tags) that assigns tags to connections.",
)
_CONNECTION = click.option(
    "--connection",
    type=click.IntRange(0),
    metavar="NUMBER",
    help="Number of the connection, as pcap analyze prints it.",
)


@click.group()
def pcap() -> None:
    """Read captures: connections, kinds of loss, and the path."""


@pcap.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@option("out", help="Keep tables (Parquet) and a picture of all connections in this folder.")
@click.option("--segments", is_flag=True, help="Also keep a row per TCP segment.")
@click.option("--database", metavar="FILE", help="Add the tables to this file of DuckDB.")
@_TAGS
@click.option(
    "--rows",
    default=20,
    type=click.IntRange(0),
    metavar="N",
    help="Print so many rows; 0 for all.",
)
@click.option("--units", metavar="FILE", help="Write responses and frames to FILE as CSV, a row each.")
@_DEADLINE
@option("json_file")
@draws
def analyze(
    files: tuple[str, ...],
    out: str | None,
    segments: bool,
    database: str | None,
    tags: str | None,
    rows: int,
    units: str | None,
    deadline: str | None,
    json_file: str | None,
) -> None:
    """Analyse the connections of captures.

    FILE is pcap or pcapng, also packed with gzip or zstd; - is the standard input.

    Connections with a tenth of the payload come first, others by waiting time. A damaged capture is
    read up to the damage; the exit code is 1, and a message names the position of the damage.
    """
    from celltcp.pcap import analyse
    from celltcp.pcap.database import require_duckdb, write_database
    from celltcp.pcap.next_steps import next_steps
    from celltcp.pcap.tables import print_connections, print_summaries
    from celltcp.pcap.tags import read_tag_rules
    from celltcp.pcap.units.unit_tables import paces_itself, print_units, write_units

    check_json(json_file)
    deadline_s = None if deadline is None else _seconds(deadline, "--deadline")
    if database:
        require_duckdb()
    rules = read_tag_rules(Path(tags)) if tags else None
    analyses = analyse(files, out, segments=segments, notes=rules)

    def show() -> None:
        # Of calls, their times come before the pauses between them.
        has_calls = paces_itself(analyses)
        if has_calls:
            print_units(analyses, deadline_s)
        print_connections(analyses, rows)
        if not has_calls:
            print_units(analyses, deadline_s)
        print_summaries(analyses)
        if steps := next_steps(analyses, deadline):
            click.echo("Try next:")
            for step in steps:
                click.echo(f"  {step}")

    print_result(lambda: _document(analyses, deadline_s), json_file, show)
    if units:
        note(f"units: {write_units(analyses, Path(units))}")
    if database:
        note(f"database: {write_database(analyses, Path(database))}")
    if out and len(analyses.connections):
        from celltcp.pcap.plots import overview

        draw(overview(analyses), Path(out), "overview")
    _exit_if_broken(analyses)


def _document(analyses: CaptureAnalyses, deadline_s: float | None) -> AnalysisOutcome:
    """Returns the outcome as JSON: the captures, the connections, main ones first, and their units."""
    from celltcp.pcap.outcome import CaptureOutcome
    from celltcp.pcap.units.unit_tables import applications_of
    from celltcp.results.rows import json_row, json_rows

    captures = []
    for summary in analyses.summaries:
        broken = summary["broken"]
        parts = {
            **summary,
            "broken": broken and {"offset": broken[0], "reason": broken[1]},
            "repairs": analyses.repairs(summary),
        }
        captures.append(json_row(parts, CaptureOutcome))
    return {
        "captures": captures,
        "connections": json_rows(analyses.main_first(), dict),
        "applications": applications_of(analyses, deadline_s),
        "units": json_rows(analyses.units, dict),
    }


def _exit_if_broken(analyses: CaptureAnalyses) -> None:
    """Prints where captures were broken, and then ends with exit code 1."""
    for summary in analyses.broken:
        offset, reason = summary["broken"]
        read = f"{summary['packets']} packets before it were read"
        click.echo(f"celltcp: {summary['file']}: broken at byte {offset}: {reason}; {read}", err=True)
    if analyses.broken:
        sys.exit(1)


@pcap.command()
@click.argument("file", metavar="FILE")
@_CONNECTION
@option(
    "out",
    metavar="PICTURE",
    help="Write the picture to this file.  [default: FILE with the ending .png, in this folder]",
)
@draws
def plot(file: str, connection: int | None, out: str | None) -> None:
    """Draw a connection of a capture.

    The picture has sequence numbers, bytes in flight, throughput and RTT.

    Without --connection it is the first one of celltcp pcap analyze.
    """
    from celltcp.pcap import analyse
    from celltcp.pcap.plots import plot_connection
    from celltcp.present.picture_files import must_be_picture
    from celltcp.present.style import save

    target = Path(out or f"{Path(file).name}.png")
    must_be_picture(target)
    analyses = analyse(file, segments=True)
    note(f"picture: {save(plot_connection(analyses, connection), target)}")
    _exit_if_broken(analyses)


@pcap.command("to-scenario")
@click.argument("file", metavar="FILE")
@_CONNECTION
@option(
    "out",
    metavar="SCENARIO",
    help="Write the scenario to this file.  [default: FILE with the ending .toml, in this folder]",
)
@_DEADLINE
@option("overwrite", help="Replace SCENARIO and its trace if they exist.")
def to_scenario(
    file: str, connection: int | None, out: str | None, deadline: str | None, overwrite: bool
) -> None:
    """Estimate the path of a captured transfer, as a scenario.

    The scenario has the capacity, RTT, buffer and loss of the path. The capacity over time is a link
    trace next to it, of the same name with the ending .csv. Without --connection the transfer with most
    payload is used. `celltcp compare` runs the scenario: which CCA would have been best there?

    The path is simulated with the CCA of the captured sender. A warning names differences.
    """
    import tempfile
    from dataclasses import replace

    from celltcp.files.replacing import check_output
    from celltcp.pcap import analyse
    from celltcp.pcap.estimation.blackout_ends import best_by_ends
    from celltcp.pcap.estimation.blackouts import blackouts_text
    from celltcp.pcap.estimation.endpoint_settings import HEADERS_RATIO, with_deadline
    from celltcp.pcap.estimation.estimate import estimate_path, transfer_row
    from celltcp.pcap.estimation.path import MIN_LOSS_BURST
    from celltcp.pcap.estimation.queue_discipline import simulated
    from celltcp.pcap.estimation.scenario_files import files_of_scenario, write_scenario
    from celltcp.present.section import runs_text
    from celltcp.scenarios.quantity_texts import digits_text

    if deadline is not None:
        _seconds(deadline, "--deadline")
    target = Path(out or f"{Path(file).name.split('.')[0]}.toml")
    for output in files_of_scenario(target):
        check_output(output, overwrite=overwrite, inputs=[file])
    analyses = analyse(file)
    path = estimate_path(analyses, connection)
    if deadline is not None:
        endpoints = with_deadline(path.endpoints, deadline)
        if endpoints is None:
            click.echo("warning: --deadline: the scenario has neither frames nor responses", err=True)
        path = replace(path, endpoints=endpoints or path.endpoints)
    row = transfer_row(analyses, connection)
    with tempfile.TemporaryDirectory(prefix="celltcp-to-scenario-") as folder:
        trial = Path(folder) / target.name
        path = simulated(path, trial, analyses, row)
        again = path.rerun
        assert again is not None
        if not again.differs:
            path = replace(path, best_by_ends=best_by_ends(write_scenario(path, trial)[0], path))
    scenario, series = write_scenario(path, target)
    direction = "from the server" if path.direction == "down" else "from the client"
    click.echo(f"transfer     connection {path.connection}, {direction}")
    rtt = f"{path.rtt_ms:.1f}" if path.rtt_ms >= 1 else digits_text(path.rtt_ms, 2)
    click.echo(f"base RTT     {rtt} ms")
    average = " on average" if path.is_measured.any() else ""
    payload = f"{path.mean_mbps / HEADERS_RATIO:.2f} of payload"
    click.echo(f"capacity     {path.mean_mbps:.2f} Mbit/s{average} ({payload}), {path.capacity_note}")
    bound = f" ({path.buffer_note})" if path.buffer_note else ""
    click.echo(f"buffer       {path.buffer_bytes / 1e3:.0f} kB{bound}")
    bursts = f" in bursts of {path.loss_burst:.1f}" if path.loss_burst >= MIN_LOSS_BURST else ""
    events = f", of {path.loss_rate_text}" if path.loss_rate_text else ""
    click.echo(f"random loss  {100 * path.random_loss:.3f} %{bursts}{events}")
    if path.has_discipline:
        click.echo("queue        fq-codel, for the AQM that explains the losses")
    if path.policing is not None:
        rate, burst = 8e-6 * path.policing.rate, path.burst_bytes / 1e3
        click.echo(f"policer      {rate:.2f} Mbit/s of payload, after a burst of {burst:.0f} kB")
    if path.blackouts:
        click.echo(f"blackouts    {blackouts_text(path.blackouts)}")
    if path.left_out:
        click.echo(f"left out     {'; '.join(path.left_out)}")
    click.echo(f"capture      {again.captured}{again.span_text}")
    of_runs = f", mean of {runs_text(len(again.runs))}" if len(again.runs) > 1 else ""
    click.echo(f"simulated    {again.simulated}{again.span_text}, with {again.cca_text}{of_runs}")
    if again.sentence:
        click.echo(f"warning: {again.sentence}", err=True)
    click.echo(f"{scenario} and {series}: celltcp compare {scenario}")
    _exit_if_broken(analyses)


@pcap.command("validate")
@option("json_file")
@option("cluster")
@option("dry_run")
@click.option("--cases", metavar="TEXT", help="Run only the cases whose name contains TEXT.")
@click.option(
    "--at",
    type=click.Choice(["sender", "between"]),
    default="sender",
    help="Place of the captures.",
)
@click.option(
    "--random",
    "count",
    type=click.IntRange(1),
    metavar="N",
    help="Draw so many cases at random, instead of the usual ones.",
)
@click.option(
    "--paths",
    type=click.IntRange(1),
    metavar="N",
    help="Draw so many paths over RTT, buffer, random loss, delayed ACKs and CCA instead.",
)
@click.option("--seed", default=1, type=click.IntRange(0), help="Seed of the cases drawn.")
def validate_command(
    json_file: str | None,
    cluster: str | None,
    dry_run: bool,
    cases: str | None,
    at: str,
    count: int | None,
    paths: int | None,
    seed: int,
) -> None:
    """Validate the analysis on simulated captures.

    The native engine runs scenarios and writes captures. The outcome of each segment is the ground
    truth. The comparison has kinds of loss, RTT, buffer and capacity. The counts of tshark and
    tcptrace stand beside ours where they are installed. With --paths, each quarter of RTT and buffer
    has scores of its own.
    """
    from celltcp.pcap.tables import print_judgement
    from celltcp.pcap.validation.validation import cost_of, judgement_of, validate
    from celltcp.pcap.validation.validation_cases import CASES, cases_at, path_cases, random_cases

    check_json(json_file)
    if count and paths:
        raise click.UsageError("--random and --paths: allowed: one of them")
    all_cases = CASES
    if count:
        all_cases = random_cases(count, seed)
    elif paths:
        all_cases = path_cases(paths, seed)
    chosen = [case for case in cases_at(all_cases, at) if cases is None or cases in case.name]
    if not chosen:
        names = "; ".join(case.name for case in all_cases)
        raise click.ClickException(f"--cases: {cases!r} is in no name; allowed: {names}")
    if dry_run:
        click.echo(cost_of(chosen))
        return
    with progress_bar("judging") as progress:
        validation = validate(chosen, cluster=cluster, progress=progress)
    outcome = judgement_of(validation)
    print_result(lambda: outcome, json_file, lambda: print_judgement(outcome))


@pcap.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@option("json_file")
def agreement(folder: Path, json_file: str | None) -> None:
    """Compare counts with those of tshark and tcptrace.

    All captures in FOLDER and its folders are read. The tools must be installed, at least one of them.
    """
    from celltcp.pcap.tables import print_agreement
    from celltcp.pcap.validation.agreement import captures_in, measure_agreement

    check_json(json_file)
    files = captures_in(folder)
    with progress_bar("comparing") as progress:
        outcome = measure_agreement(files, progress)
    print_result(lambda: outcome, json_file, lambda: print_agreement(outcome))


@pcap.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--by",
    default="size",
    metavar="TAGS",
    help="Group by these tags, such as place,size.",
)
@_TAGS
@option("json_file")
def compare(first: str, second: str, by: str, tags: str | None, json_file: str | None) -> None:
    """Compare captures B with captures A, group by group.

    The comparison is of throughput.

    A and B are captures, or folders of them. Intervals are at 95 %, by bootstrap. Sizes and places in
    the cell have the weights of Kim 2016, section 5.3.2.
    """
    from celltcp.pcap.comparison import compare_captures
    from celltcp.pcap.tables import print_groups
    from celltcp.pcap.tags import read_tag_rules

    check_json(json_file)
    rules = read_tag_rules(Path(tags)) if tags else []
    grouping = [name.strip() for name in by.split(",") if name.strip()]
    groups = compare_captures(_tagged(first, rules), _tagged(second, rules), grouping)
    print_result(lambda: groups, json_file, lambda: print_groups(groups, grouping))


@pcap.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--delay",
    default="0ms",
    metavar="TIME",
    help="Delay of a RST to the base station; earlier payload is not counted.",
)
@click.option(
    "--discard-for",
    default="5s",
    metavar="TIME",
    help="Time after a RST in which the tracker discards data.",
)
@option("json_file")
def resets(files: tuple[str, ...], delay: str, discard_for: str, json_file: str | None) -> None:
    """Count what a reset tracker would have saved.

    A reset tracker at the base station drops payload that arrives after the client's RST. If the
    capture point is the client, part of this payload was on the air already: see --delay.
    """
    from celltcp.pcap.resets import reset_savings
    from celltcp.pcap.tables import print_resets

    check_json(json_file)
    delay_s, hold_s = _seconds(delay, "--delay"), _seconds(discard_for, "--discard-for")
    result = reset_savings(files, delay_s=delay_s, hold_s=hold_s)
    print_result(result.outcome, json_file, lambda: print_resets(result))
    for file, offset, reason in result.broken:
        click.echo(f"celltcp: {file}: broken at byte {offset}: {reason}", err=True)
    if result.broken:
        sys.exit(1)


def _seconds(text: str, option_name: str) -> float:
    """Returns the time that an option gives, s."""
    from celltcp._core import in_unit

    result = in_unit(text, "s")
    if result is None:
        raise click.UsageError(f"{option_name}: {text!r} is not a time such as 30ms")
    return result


def _tagged(name: str, rules: list[Any]) -> pd.DataFrame:
    """Returns the tagged connections of a capture, or of all captures in a folder."""
    from celltcp.pcap import analyse
    from celltcp.pcap.tags import with_tags

    folder = Path(name)
    files = sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else [folder]
    captures = [str(file) for file in files if any(end in file.name for end in (".pcap", ".cap"))]
    return with_tags(analyse(captures or [name]).connections, rules)
