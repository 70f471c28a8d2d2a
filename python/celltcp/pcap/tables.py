"""Tables of captures on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from celltcp.pcap import CaptureAnalyses
from celltcp.pcap.analysis import REPAIRS, connection_rows, mean_mbps, waited_s
from celltcp.pcap.common_queues import CommonQueues
from celltcp.pcap.diagnosis.causes import UNDECIDED, Cause, names
from celltcp.pcap.diagnosis.evidence import has_time_of_server, path_rtts_ms
from celltcp.pcap.estimation.endpoint_settings import cca_text
from celltcp.pcap.outcome import AgreementOutcome, Group, JudgementOutcome, ScoreOutcome
from celltcp.pcap.resets import ResetSavings
from celltcp.pcap.shared_queue import link_text, sharing_transfers
from celltcp.pcap.transfers import Transfers
from celltcp.present.section import Column, Table, number_columns, whole_percents
from celltcp.present.terminal import Terminal
from celltcp.scenarios.cca_mix import count_text

#: Width of a terminal that does not tell its own, characters.
_WIDTH = 80

#: Width of a pipe, characters: all columns of the table fit.
_PIPE_WIDTH = 1_000

Row = dict[str, Any]


def _number(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _retransmitted_percent(row: Row) -> str:
    """Returns the retransmitted share of the payload: a network card merges segments, but not bytes."""
    retransmitted = row["retransmitted_bytes_up"] + row["retransmitted_bytes_down"]
    passed = row["bytes_up"] + row["bytes_down"] + retransmitted
    return _number(100 * retransmitted / passed, 1) if passed else ""


def _losses(row: Row) -> str:
    """Returns the losses by kind, such as `12c 3r 1t`, as the sentence on the connection has them."""
    kinds = ("congestion", "random", "outage", "tail")
    counts = {kind[0]: int(row[f"losses_{kind}"]) for kind in kinds}
    # Kinds are those of single losses. The sentence weighs all of them.
    if names(row, *UNDECIDED):
        sure = counts.pop("c") if names(row, Cause.IN_FULL_QUEUE) else 0
        counts = {"c": sure, "?": counts.pop("c", 0) + counts.pop("r"), **counts}
    elif names(row, Cause.IN_FULL_QUEUE, Cause.SHARED_BUFFER):
        counts = {"c": counts.pop("c") + counts.pop("r"), **counts}
    elif names(row, Cause.POLICER):
        counts = {"p": counts.pop("c") + counts.pop("r"), **counts}
    return " ".join(f"{count}{letter}" for letter, count in counts.items() if count)


def _mean_and_p95(row: Row, least_ms: float) -> str:
    """Returns mean and 95th percentile of the RTT of the path beyond a least one, ms; empty without."""
    rtts_ms = [row[name] - least_ms for name in ("path_rtt_mean_ms", "path_rtt_p95_ms")]
    return "" if any(map(math.isnan, rtts_ms)) else "/".join(f"{max(ms, 0):.0f}" for ms in rtts_ms)


def _path_rtts(analyses: CaptureAnalyses, row: Row) -> Row:
    """Returns mean and 95th percentile of the path's RTT, ms; those of intervals but at the sender."""
    mean_ms, p95_ms = row["far_rtt_mean_ms"], row["far_rtt_p95_ms"]
    if has_time_of_server(row):
        return dict.fromkeys(("path_rtt_mean_ms", "path_rtt_p95_ms"), math.nan)
    if row["place"] != "sender":
        intervals = connection_rows(analyses.intervals, row, int(row["direction"] == "up"))
        rtts_ms = path_rtts_ms(intervals, row["place"])
        mean_ms, p95_ms = rtts_ms.mean(), rtts_ms.quantile(0.95)
    return {"path_rtt_mean_ms": float(mean_ms), "path_rtt_p95_ms": float(p95_ms)}


#: Letters of losses, with their meanings.
_LETTERS = {
    "c": "c congestion",
    "r": "r random",
    "p": "p policer",
    "?": "? one of the causes below",
    "o": "o outage",
    "t": "t tail",
}

#: For each column, by its heading: whether it has numbers, and a function for its text.
_COLUMNS: dict[str, tuple[bool, Callable[[Row], str]]] = {
    "connection": (True, lambda row: str(row["connection"])),
    "server": (False, lambda row: _shortened(str(row["server"]), 21)),
    "MB": (True, lambda row: _number((row["bytes_up"] + row["bytes_down"]) / 1e6, 2)),
    "s": (True, lambda row: _number(row["duration_s"], 1)),
    "Mbit/s": (True, lambda row: _number(mean_mbps(row), 2)),
    "link\nMbit/s": (True, lambda row: str(row["link_text"])),
    "min RTT\nms": (True, lambda row: _number(row["rtt_min_ms"], 0)),
    "RTT ms\nmean/95 %": (True, lambda row: _mean_and_p95(row, 0.0)),
    "queue ms\nmean/95 %": (True, lambda row: _mean_and_p95(row, row["rtt_min_ms"])),
    "sent\nagain %": (True, _retransmitted_percent),
    "losses": (True, _losses),
    "sent again\nin vain": (True, lambda row: str(row["spurious"] or "")),
    "resets": (True, lambda row: str(row["resets_up"] + row["resets_down"] or "")),
    "waited s": (True, lambda row: _number(waited_s(row), 2)),
    "captured\nat": (False, lambda row: str(row["place"])),
    "CCA": (False, cca_text),
}

#: Headings of the limits of a sender, by the names in their columns `limit_*`.
_LIMITS = {
    "idle": "idle",
    "receive_window": "receive window",
    "recovery": "recovery",
    "wait": "wait",
    "in_flight": "all in flight",
    "network": "congestion window,\npacing, send buffer",
}

#: Meaning of the last of them: no packet shows which of the three it is.
_OF_SENDER = (
    "congestion window, pacing, send buffer: any of these; packets do not show which "
    "(ss -ti at the sender: cwnd, pacing_rate, sndbuf_limited)"
)
#: Meaning of the waits, and the minimum one that counts where no sentence is about it, s.
_WAITED = (
    "waited s: silences beyond 200 ms or two RTTs, closed windows, repeated SYNs, and applications"
)
_MIN_UNNAMED_S = 0.1
#: Columns that a narrow terminal does without, the least important first.
_DROPPABLE = (
    "captured\nat",
    "link\nMbit/s",
    "sent again\nin vain",
    "CCA",
    "s",
    "queue ms\nmean/95 %",
    "sent\nagain %",
    "RTT ms\nmean/95 %",
    "min RTT\nms",
)


def print_connections(analyses: CaptureAnalyses, max_rows: int) -> None:
    """Prints the connections, main ones first; all of them if `max_rows` is 0."""
    rows: list[Row] = [
        {str(name): value for name, value in row.items()}
        for row in analyses.main_first().to_dict("records")
    ]
    if not rows:
        return
    transfers = Transfers(analyses.connections)
    queues = CommonQueues(transfers, analyses.intervals)
    shown = []
    for row in rows[:max_rows] if max_rows else rows:
        key: Mapping[Any, Any] = row
        others = [*sharing_transfers(transfers, key), *queues.others(key)]
        shown.append(row | _path_rtts(analyses, row) | {"link_text": link_text(row, others)})
    names_files = len(analyses.summaries) > 1
    Terminal(_PIPE_WIDTH).print_table(_connections_table(shown, names_files))
    if (limits := _limits_table(shown, names_files)) is not None:
        Terminal(_PIPE_WIDTH).print_table(limits)
        if any(_LIMITS["network"] == column.heading for column in limits.columns):
            click.echo(_OF_SENDER)
    if len(shown) < len(rows):
        click.echo(f"{len(rows) - len(shown)} more connections: --rows 0")
    letters = {each[-1] for row in shown for each in _losses(row).split()}
    if letters:
        click.echo(f"losses: {', '.join(text for key, text in _LETTERS.items() if key in letters)}")
    if any(waited_s(row) >= _MIN_UNNAMED_S and "waited" not in row["diagnosis"] for row in shown):
        click.echo(_WAITED)
    for row in shown:
        if row["diagnosis"]:
            file = f"{row['file']} " if names_files else ""
            click.echo(f"{file}{row['connection']}: {row['diagnosis']}")


def _connections_table(rows: list[Row], names_files: bool) -> Table:
    columns = [
        Column(name, is_number=is_number, no_wrap=True, name=name)
        for name, (is_number, _) in _COLUMNS.items()
    ]
    texts = [[text(row) for _, text in _COLUMNS.values()] for row in rows]
    # The last column has the CCA, which most captures do not show.
    if not any(row[-1] for row in texts):
        columns, texts = columns[:-1], [row[:-1] for row in texts]
    return _table(rows, names_files, columns, texts, droppable=_DROPPABLE)


def _limits_table(rows: list[Row], names_files: bool) -> Table | None:
    """Returns the shares of the time under each limit; None unless a capture is that of a sender."""
    known = [row for row in rows if not math.isnan(row["limit_network"])]
    if not known:
        return None
    headings = dict(_LIMITS)
    if not all(row["diagnosis"] for row in known):
        headings["network"] = "other"
    columns = [Column("connection", is_number=True), *number_columns(*headings.values())]
    texts = [
        [str(row["connection"]), *whole_percents([row[f"limit_{name}"] for name in _LIMITS])]
        for row in known
    ]
    return _table(known, names_files, columns, texts, title="What limited the senders, %")


def _table(
    rows: list[Row], names_files: bool, columns: Sequence[Column], texts: list[list[str]], **style: Any
) -> Table:
    """Returns a table of connections, with the names of their captures if `names_files`."""
    if names_files:
        columns = (Column("file", no_wrap=True), *columns)
        files = [_shortened(str(row["file"]).rsplit("/", 1)[-1], 16) for row in rows]
        texts = [[file, *text] for file, text in zip(files, texts, strict=True)]
    return Table(tuple(columns), tuple(map(tuple, texts)), frame="none", **style)


def _shortened(text: str, length: int) -> str:
    """Returns a text with at most `length` characters; an ellipsis stands for what is cut off."""
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
            protocols = (f"{count} of {name}" for name, count in summary["left_out"].items())
            click.echo(f"  no TCP, or none that is read: {', '.join(protocols)}")
        for name, count in analyses.repairs(summary).items():
            click.echo(f"  {count} {REPAIRS[name]}")


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
        tshark = case["others"].get("tshark", {}).get("retransmissions", "")
        cases.append((case["name"], *texts, str(case["counts"]["retransmissions"]), str(tshark)))
    numbers = number_columns("RTT %", "capacity %", "buffer %", "again", "tshark")
    console.print_table(Table((Column("case", folds=True), *numbers), tuple(cases), frame="none"))
    click.echo(f"\n{outcome['packets_per_s']:.0f} packets per second")


def print_agreement(outcome: AgreementOutcome) -> None:
    """Prints in how many captures the counts of each tool are equal, and where they are not."""
    console = Terminal(_WIDTH)
    numbers = number_columns("captures", "equal", "celltcp", "tool's")
    rows = tuple(
        (
            agreement["tool"],
            agreement["quantity"].replace("_", " "),
            *(str(agreement[name]) for name in ("captures", "equal", "own", "theirs")),
        )
        for agreement in outcome["tools"]
    )
    console.print_table(Table((Column("tool"), Column("count"), *numbers), rows, frame="none"))
    click.echo()
    differing = []
    for capture in outcome["captures"]:
        own = capture["counts"]
        for tool, counts in capture["others"].items():
            texts = [
                f"{name.replace('_', ' ')} {own[name]} ({count})"
                for name, count in counts.items()
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
        interval = " to ".join(f"{100 * bound:+.0f}" for bound in group.interval or ())
        rows.append(
            (
                *names,
                *(str(count) for count in group.counts),
                *(f"{rate:.2f}" for rate in group.throughput_mbps),
                f"{100 * group.gain:+.0f}",
                interval,
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


#: Maximum number of connections that are printed with what a tracker would have saved.
_MAX_RESETS = 20


def print_resets(savings: ResetSavings) -> None:
    """Prints what a reset tracker would have kept off the air, by connection and in all."""
    late = [connection for connection in savings.connections if connection.late_bytes]
    rows = [
        (
            _shortened(connection.server, 24),
            _number(connection.bytes_down / 1e6, 2),
            str(connection.resets),
            _number(connection.late_bytes / 1e3, 1),
            _number(connection.spared_bytes / 1e3, 1),
            f"{100 * (connection.spared_bytes / connection.bytes_down):.1f}"
            if connection.bytes_down
            else "",
        )
        for connection in late[:_MAX_RESETS]
    ]
    headings = ("MB", "RST", "late kB", "spared kB", "spared %")
    columns = (Column("server", no_wrap=True), *number_columns(*headings))
    if late:
        Terminal(_WIDTH).print_table(Table(columns, tuple(rows), frame="none"))
    if len(late) > _MAX_RESETS:
        click.echo(f"{len(late) - _MAX_RESETS} more connections: --json -")
    click.echo(
        f"{savings.all_connections} connections, {len(savings.connections)} reset by their clients, "
        f"{len(late)} with data after that"
    )
    click.echo(
        f"late {savings.late_bytes / 1e3:.1f} kB of {savings.bytes_down / 1e6:.2f} MB; "
        f"a reset tracker would have spared {savings.spared_bytes / 1e3:.1f} kB "
        f"({100 * savings.share:.2f} %) in "
        f"{savings.spared_segments} segments, and a RST for each"
    )
