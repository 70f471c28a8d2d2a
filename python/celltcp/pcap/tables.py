"""Tables of captures on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import click
from rich.table import Table

from celltcp.pcap import CaptureAnalyses
from celltcp.pcap.outcome import Group, JudgementOutcome
from celltcp.pcap.resets import ResetSavings
from celltcp.present.terminal import fit_to_width

#: Columns of a terminal that does not say how many it has.
_WIDTH = 80

Row = dict[str, Any]


def _number(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _payload(row: Row) -> str:
    return _number((row["bytes_up"] + row["bytes_down"]) / 1e6, 2)


def _again(row: Row) -> str:
    segments = row["segments_up"] + row["segments_down"]
    again = row["retransmissions_up"] + row["retransmissions_down"]
    return _number(100 * again / segments, 1) if segments else ""


def _kinds(row: Row) -> str:
    """Returns the losses by kind, such as `12c 3r 1t`."""
    kinds = ("congestion", "random", "outage", "tail")
    counts = [(row[f"losses_{kind}"], kind[0]) for kind in kinds]
    return " ".join(f"{count}{letter}" for count, letter in counts if count)


def _cca(row: Row) -> str:
    return "" if row["cca"] == "unknown" else str(row["cca"])


#: Heading, whether it is a number, and text of each column.
_COLUMNS: dict[str, tuple[bool, Callable[[Row], str]]] = {
    "no": (True, lambda row: str(row["connection"])),
    "server": (False, lambda row: str(row["server"])),
    "MB": (True, _payload),
    "s": (True, lambda row: _number(row["duration_s"], 1)),
    "Mbit/s": (True, lambda row: _number(row["throughput_mbps"], 2)),
    "RTT ms": (True, lambda row: _number(row["rtt_min_ms"], 0)),
    "again %": (True, _again),
    "losses": (True, _kinds),
    "spur.": (True, lambda row: str(row["spurious"] or "")),
    "RST": (True, lambda row: str(row["resets_up"] + row["resets_down"] or "")),
    "waited s": (True, lambda row: _number(row["harm_s"], 2)),
    "place": (False, lambda row: str(row["place"])),
    "CCA": (False, _cca),
}

#: Columns that a narrow terminal does without, the least important first.
_DROPPABLE = ("place", "spur.", "CCA", "s", "again %", "RTT ms")


def print_connections(analyses: CaptureAnalyses, most: int) -> None:
    """Prints the connections, those that waited longest first; nothing if there are none."""
    from rich.console import Console

    rows: list[Row] = [
        {str(name): value for name, value in row.items()}
        for row in analyses.by_waiting_time().to_dict("records")
    ]
    if not rows:
        return
    shown = rows[:most] if most else rows
    several = len(analyses.summaries) > 1
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    table, left_out = fit_to_width(console, lambda without: _table(shown, several, without), _DROPPABLE)
    console.print(table)
    if left_out:
        click.echo(f"Not shown for lack of room: {', '.join(left_out)}.")
    if len(shown) < len(rows):
        click.echo(f"{len(rows) - len(shown)} more connections: --rows 0")
    if any(_kinds(row) for row in shown):
        click.echo("losses: c congestion, r random, o outage, t tail")


def _table(rows: list[Row], several: bool, without: frozenset[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    if several:
        table.add_column("file", overflow="ellipsis", no_wrap=True, max_width=16)
    columns = {name: column for name, column in _COLUMNS.items() if name not in without}
    for name, (is_number, _) in columns.items():
        width = 21 if name == "server" else None
        table.add_column(name, justify="right" if is_number else "left", no_wrap=True, max_width=width)
    for row in rows:
        texts = [text(row) for _, text in columns.values()]
        name = str(row["file"]).rsplit("/", 1)[-1]
        table.add_row(*([name] if several else []), *texts)
    return table


def print_summaries(analyses: CaptureAnalyses) -> None:
    """Prints what was read of each capture, and what had to be repaired or left out."""
    from celltcp.pcap.analysis import REPAIRS

    connections = analyses.connections
    for summary in analyses.summaries:
        count = int((connections["file"] == summary["file"]).sum())
        click.echo(
            f"{summary['file']}: {summary['packets']} packets, {summary['segments']} of TCP, "
            f"{count} connections"
        )
        for name, times in analyses.repairs(summary).items():
            click.echo(f"  {times} {REPAIRS[name]}")


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def print_judgement(outcome: JudgementOutcome) -> None:
    """Prints the scores of each kind of loss, and the errors of each case."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=None if Console().is_terminal else _WIDTH)
    kinds = Table(box=None, pad_edge=False, header_style="bold")
    kinds.add_column("kind")
    for heading in ("precision", "recall", "F1", "true", "found"):
        kinds.add_column(heading, justify="right")
    for kind, score in outcome["kinds"].items():
        shares = map(_share, (score["precision"], score["recall"], score["f1"]))
        kinds.add_row(kind, *shares, str(score["true"]), str(score["found"]))
    console.print(kinds)
    click.echo()
    cases = Table(box=None, pad_edge=False, header_style="bold")
    cases.add_column("case", overflow="fold")
    for heading in ("RTT %", "capacity %", "buffer %", "again", "tshark"):
        cases.add_column(heading, justify="right")
    for case in outcome["cases"]:
        errors = (case["rtt_error"], case["capacity_error"], case["buffer_error"])
        texts = ("" if error is None else f"{100 * error:.1f}" for error in errors)
        theirs = case["others"].get("tshark", {}).get("retransmissions")
        cases.add_row(
            case["name"],
            *texts,
            str(case["counts"]["retransmissions"]),
            "" if theirs is None else str(theirs),
        )
    console.print(cases)
    click.echo(f"\n{outcome['packets_per_s']:.0f} packets per second")


def print_groups(groups: Sequence[Group], tags: Sequence[str]) -> None:
    """Prints a comparison of captures, group by group, with the weighted mean as the last row."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for tag in tags:
        table.add_column(tag)
    for heading in ("n A", "n B", "A Mbit/s", "B Mbit/s", "gain %", "95 %", "again A %", "again B %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for group in groups:
        names = [group.tags.get(tag, "weighted" if tag == tags[0] else "") for tag in tags]
        between = ""
        if group.interval:
            between = " to ".join(f"{100 * end:+.0f}" for end in group.interval)
        table.add_row(
            *names,
            *(str(count) for count in group.counts),
            *(f"{rate:.2f}" for rate in group.throughput_mbps),
            f"{100 * group.gain:+.0f}",
            between,
            *(f"{100 * share:.2f}" for share in group.retransmitted),
        )
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=_WIDTH)
    console.print(table)


#: Connections that are printed with what a tracker would have saved.
_RESETS = 20


def print_resets(result: ResetSavings) -> None:
    """Prints what a reset tracker would have kept off the air, by connection and in all."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("server", overflow="ellipsis", no_wrap=True, max_width=24)
    for heading in ("MB", "RST", "late kB", "spared kB", "spared %"):
        table.add_column(heading, justify="right", no_wrap=True)
    late = [each for each in result.connections if each.late_bytes]
    for each in late[:_RESETS]:
        share = each.spared_bytes / each.bytes_down if each.bytes_down else math.nan
        table.add_row(
            each.server,
            _number(each.bytes_down / 1e6, 2),
            str(each.resets),
            _number(each.late_bytes / 1e3, 1),
            _number(each.spared_bytes / 1e3, 1),
            _number(100 * share, 1),
        )
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=_WIDTH)
    if late:
        console.print(table)
    if len(late) > _RESETS:
        click.echo(f"{len(late) - _RESETS} more connections: --json -")
    click.echo(
        f"{result.all_connections} connections, {len(result.connections)} reset by their clients, "
        f"{len(late)} with data after that"
    )
    click.echo(
        f"late {result.late_bytes / 1e3:.1f} kB of {result.bytes_down / 1e6:.2f} MB; "
        f"a reset tracker would have spared {result.spared_bytes / 1e3:.1f} kB "
        f"({100 * result.share:.2f} %) in "
        f"{result.spared_segments} segments, and a RST for each"
    )
