"""Tables of captures on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from celltcp.pcap import CaptureAnalyses
from celltcp.pcap.analysis import REPAIRS
from celltcp.pcap.outcome import AgreementOutcome, Group, JudgementOutcome, ScoreOutcome
from celltcp.pcap.resets import ResetSavings
from celltcp.present.section import Column, Table, number_columns, whole_percents
from celltcp.present.terminal import Terminal
from celltcp.scenarios.cca_mix import count_text

#: Columns of a terminal that does not say how many it has.
_WIDTH = 80

#: Width of a pipe, in characters: all columns of the table fit.
_PIPE_WIDTH = 1_000

Row = dict[str, Any]


def _number(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _payload(row: Row) -> str:
    return _number((row["bytes_up"] + row["bytes_down"]) / 1e6, 2)


def _again(row: Row) -> str:
    """Returns the share of payload retransmitted: a network card merges segments, but not bytes."""
    again = row["retransmitted_bytes_up"] + row["retransmitted_bytes_down"]
    passed = row["bytes_up"] + row["bytes_down"] + again
    return _number(100 * again / passed, 1) if passed else ""


def _kinds(row: Row) -> str:
    """Returns the losses by kind, such as `12c 3r 1t`."""
    kinds = ("congestion", "random", "outage", "tail")
    counts = [(row[f"losses_{kind}"], kind[0]) for kind in kinds]
    return " ".join(f"{count}{letter}" for count, letter in counts if count)


def _cca(row: Row) -> str:
    return "" if row["cca"] == "unknown" else str(row["cca"])


#: Heading, whether it is a number, and text of each column.
_COLUMNS: dict[str, tuple[bool, Callable[[Row], str]]] = {
    "connection": (True, lambda row: str(row["connection"])),
    "server": (False, lambda row: _shortened(str(row["server"]), 21)),
    "MB": (True, _payload),
    "s": (True, lambda row: _number(row["duration_s"], 1)),
    "Mbit/s": (True, lambda row: _number(row["throughput_mbps"], 2)),
    "min RTT\nms": (True, lambda row: _number(row["rtt_min_ms"], 0)),
    "sent\nagain %": (True, _again),
    "losses": (True, _kinds),
    "sent again\nin vain": (True, lambda row: str(row["spurious"] or "")),
    "resets": (True, lambda row: str(row["resets_up"] + row["resets_down"] or "")),
    "waited s": (True, lambda row: _number(row["harm_s"], 2)),
    "captured\nat": (False, lambda row: str(row["place"])),
    "CCA": (False, _cca),
}

#: Limits of a sender, as their columns are called.
_LIMITS = {
    "idle": "idle",
    "receive_window": "receive window",
    "recovery": "recovery",
    "wait": "wait",
    "network": "network\nor sender",
}

#: Columns that a narrow terminal does without, the least important first.
_DROPPABLE = ("captured\nat", "sent again\nin vain", "CCA", "s", "sent\nagain %", "min RTT\nms")


def print_connections(analyses: CaptureAnalyses, most: int) -> None:
    """Prints the connections, those that waited longest first; nothing if there are none."""
    rows: list[Row] = [
        {str(name): value for name, value in row.items()}
        for row in analyses.by_waiting_time().to_dict("records")
    ]
    if not rows:
        return
    shown = rows[:most] if most else rows
    several = len(analyses.summaries) > 1
    Terminal(_PIPE_WIDTH).print_table(_table(shown, several))
    if (limits := _limits_table(shown, several)) is not None:
        Terminal(_PIPE_WIDTH).print_table(limits)
    if len(shown) < len(rows):
        click.echo(f"{len(rows) - len(shown)} more connections: --rows 0")
    if any(_kinds(row) for row in shown):
        click.echo("losses: c congestion, r random, o outage, t tail")
    for row in shown:
        if row["diagnosis"]:
            file = f"{row['file']} " if several else ""
            click.echo(f"{file}{row['connection']}: {row['diagnosis']}")


def _table(rows: list[Row], several: bool) -> Table:
    columns = [
        Column(name, is_number=is_number, no_wrap=True, name=name)
        for name, (is_number, _) in _COLUMNS.items()
    ]
    texts = [[text(row) for _, text in _COLUMNS.values()] for row in rows]
    return _named(rows, several, columns, texts, droppable=_DROPPABLE)


def _limits_table(rows: list[Row], several: bool) -> Table | None:
    """Returns the shares of the time under each limit; None unless a capture is that of a sender."""
    known = [row for row in rows if not math.isnan(row["limit_network"])]
    if not known:
        return None
    columns = [Column("connection", is_number=True), *number_columns(*_LIMITS.values())]
    texts = [
        [str(row["connection"]), *whole_percents([row[f"limit_{name}"] for name in _LIMITS])]
        for row in known
    ]
    return _named(known, several, columns, texts, title="What limited the senders, %")


def _named(
    rows: list[Row], several: bool, columns: Sequence[Column], texts: list[list[str]], **look: Any
) -> Table:
    """Returns a table of connections, with the names of their files where there are several."""
    if several:
        columns = (Column("file", no_wrap=True), *columns)
        files = [_shortened(str(row["file"]).rsplit("/", 1)[-1], 16) for row in rows]
        texts = [[file, *text] for file, text in zip(files, texts, strict=True)]
    return Table(tuple(columns), tuple(map(tuple, texts)), frame="none", **look)


def _shortened(text: str, length: int) -> str:
    """Returns a text of no more than that length."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def print_summaries(analyses: CaptureAnalyses) -> None:
    """Prints what was read of each capture, and what had to be repaired or left out."""
    connections = analyses.connections
    for summary in analyses.summaries:
        count = int((connections["file"] == summary["file"]).sum())
        click.echo(
            f"{summary['file']}: {summary['packets']} packets, {summary['segments']} of TCP, "
            f"{count_text(count, 'connection')}"
        )
        if summary["left_out"]:
            kinds = (f"{times} of {kind}" for kind, times in summary["left_out"].items())
            click.echo(f"  no TCP, or none that is read: {', '.join(kinds)}")
        for name, times in analyses.repairs(summary).items():
            click.echo(f"  {times} {REPAIRS[name]}")


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _score_table(scores: dict[str, ScoreOutcome]) -> Table:
    kinds = tuple(
        (
            kind,
            *map(_share, (score["precision"], score["recall"], score["f1"])),
            str(score["true"]),
            str(score["found"]),
        )
        for kind, score in scores.items()
    )
    headings = ("precision", "recall", "F1", "true", "found")
    return Table((Column("kind"), *number_columns(*headings)), kinds, frame="none")


def print_judgement(outcome: JudgementOutcome) -> None:
    """Prints the scores of each kind of loss, and the errors of each case."""
    console = Terminal(_WIDTH)
    for name, scores in {"": outcome["kinds"], **outcome["groups"]}.items():
        if name:
            click.echo(name)
        console.print_table(_score_table(scores))
        click.echo()
    cases = []
    for case in outcome["cases"]:
        errors = (case["rtt_error"], case["capacity_error"], case["buffer_error"])
        texts = ("" if error is None else f"{100 * error:.1f}" for error in errors)
        theirs = case["others"].get("tshark", {}).get("retransmissions")
        counts = (case["counts"]["retransmissions"], "" if theirs is None else theirs)
        cases.append((case["name"], *texts, *map(str, counts)))
    numbers = number_columns("RTT %", "capacity %", "buffer %", "again", "tshark")
    console.print_table(Table((Column("case", folds=True), *numbers), tuple(cases), frame="none"))
    click.echo(f"\n{outcome['packets_per_s']:.0f} packets per second")


def print_agreement(outcome: AgreementOutcome) -> None:
    """Prints in how many captures the counts of each tool are equal, and where they are not."""
    console = Terminal(_WIDTH)
    numbers = number_columns("captures", "equal", "celltcp", "tool's")
    rows = tuple(
        (
            each["tool"],
            each["quantity"].replace("_", " "),
            *map(str, (each["captures"], each["equal"], each["own"], each["theirs"])),
        )
        for each in outcome["tools"]
    )
    console.print_table(Table((Column("tool"), Column("count"), *numbers), rows, frame="none"))
    click.echo()
    differing = []
    for capture in outcome["captures"]:
        own = capture["counts"]
        for tool, theirs in capture["others"].items():
            texts = [
                f"{name.replace('_', ' ')} {own[name]} ({count})"
                for name, count in theirs.items()
                if own[name] != count
            ]
            if texts:
                differing.append((Path(capture["file"]).name, tool, ", ".join(texts)))
    columns = (Column("file", folds=True), Column("tool"), Column("celltcp (tool)", folds=True))
    console.print_table(Table(columns, tuple(differing), frame="none"))


def print_groups(groups: Sequence[Group], tags: Sequence[str]) -> None:
    """Prints a comparison of captures, group by group, with the weighted mean as the last row."""
    rows = []
    for group in groups:
        names = [group.tags.get(tag, "weighted" if tag == tags[0] else "") for tag in tags]
        between = ""
        if group.interval:
            between = " to ".join(f"{100 * end:+.0f}" for end in group.interval)
        rows.append(
            (
                *names,
                *(str(count) for count in group.counts),
                *(f"{rate:.2f}" for rate in group.throughput_mbps),
                f"{100 * group.gain:+.0f}",
                between,
                *("" if rtt is None else f"{rtt:.1f}" for rtt in group.rtt_ms),
                *(f"{100 * share:.2f}" for share in group.retransmitted),
            )
        )
    headings = (
        *("n A", "n B", "A Mbit/s", "B Mbit/s", "gain %", "95 %"),
        *("RTT A ms", "RTT B ms", "again A %", "again B %"),
    )
    columns = (*map(Column, tags), *number_columns(*headings))
    console = Terminal(_WIDTH)
    console.print_table(Table(columns, tuple(rows), frame="none"))
    console.print(
        "RTT: mean of the medians of the connections with samples on both sides of the capture, or of "
        "the side that A and B have."
    )


#: Connections that are printed with what a tracker would have saved.
_RESETS = 20


def print_resets(result: ResetSavings) -> None:
    """Prints what a reset tracker would have kept off the air, by connection and in all."""
    late = [connection for connection in result.connections if connection.late_bytes]
    rows = []
    for reset_connection in late[:_RESETS]:
        share = (
            reset_connection.spared_bytes / reset_connection.bytes_down
            if reset_connection.bytes_down
            else math.nan
        )
        rows.append(
            (
                _shortened(reset_connection.server, 24),
                _number(reset_connection.bytes_down / 1e6, 2),
                str(reset_connection.resets),
                _number(reset_connection.late_bytes / 1e3, 1),
                _number(reset_connection.spared_bytes / 1e3, 1),
                _number(100 * share, 1),
            )
        )
    headings = ("MB", "RST", "late kB", "spared kB", "spared %")
    columns = (Column("server", no_wrap=True), *number_columns(*headings))
    if late:
        Terminal(_WIDTH).print_table(Table(columns, tuple(rows), frame="none"))
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
