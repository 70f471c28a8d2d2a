"""Part of a report about captures: times of units of work, connections, losses by kind."""

from __future__ import annotations

import functools
import math
import shlex
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from celltcp.pcap.analysis import CaptureAnalyses, connection_rows, mean_mbps, waited_s
from celltcp.pcap.diagnosis.evidence import INTERVAL_S
from celltcp.pcap.estimation.endpoint_settings import cca_text
from celltcp.pcap.next_steps import next_steps
from celltcp.pcap.plots import (
    KIND_COLOURS,
    LATE,
    NEW,
    RETRANSMITTED,
    draw_intervals,
    overview,
    with_silences,
)
from celltcp.pcap.units.unit_tables import NOUNS, shown_applications, unit_sections
from celltcp.present.chart import Chart, Panel, Series, numbers
from celltcp.present.section import Column, Figure, Finding, Part, Section, Table
from celltcp.present.style import figure
from celltcp.scenarios.quantity_texts import ms_text

if TYPE_CHECKING:
    from celltcp.pcap.outcome import UnitsOutcome

#: Maximum number of connections in the table.
_MAX_ROWS = 200
#: Heading of each column, and whether it has numbers.
_COLUMNS = (
    *(("file", False), ("no", True), ("client", False), ("server", False), ("MB", True), ("s", True)),
    *(("Mbit/s", True), ("least RTT ms", True), ("retransmitted", True), ("losses", True)),
    *(("waited s", True), ("CCA", False), ("diagnosis", False)),
)


def captures_part(analyses: CaptureAnalyses) -> Part:
    """Returns the part of a report on captures."""
    files = [str(summary["file"]) for summary in analyses.summaries]
    rows = analyses.by_waiting_time()
    command = shlex.join(["celltcp", "pcap", "analyze", *files, "--out", "results"])
    steps = next_steps(analyses)
    order = "Connections with a tenth of the payload come first, then those that waited longest."
    more = f" The table has the first {_MAX_ROWS} of {len(rows)}." if len(rows) > _MAX_ROWS else ""
    return Part(
        title=f"Captures: {', '.join(files)}",
        question=f"What do {', '.join(files)} tell of connections, losses and the path?",
        findings=_findings(analyses),
        sections=(
            *unit_sections(analyses, None),
            Section("Connections", _connections(analyses), text=(f"{order}{more}",)),
            *([Section("What to try next", code="\n".join([*steps, ""]))] if steps else []),
            *_pictures(analyses),
            Section("Command that reproduces the results", code=f"{command}\n"),
        ),
    )


def _findings(analyses: CaptureAnalyses) -> tuple[Finding, ...]:
    rows = analyses.by_waiting_time()
    if rows.empty:
        return (Finding("Connections", "none", "no TCP connection was found", state="undecided"),)
    kinds = analyses.losses["kind"].astype(str).value_counts()
    # The table has retransmissions without a loss, too.
    losses = int(kinds.drop(["spurious", "reordering"], errors="ignore").sum())
    losses_text = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    worst = rows.iloc[0]
    payload_mb = float((rows["bytes_up"] + rows["bytes_down"]).sum()) / 1e6
    return (
        *map(_longest_unit, shown_applications(analyses, None)[:1]),
        Finding("Connections", str(len(rows)), f"{payload_mb:.2f} MB of payload"),
        Finding("Losses", str(losses), losses_text or "none was found"),
        Finding(
            "Most time in waits",
            f"{worst['harm_s'] + worst['turns_down_s']:.2f} s",
            f"connection {worst['connection']} to {worst['server']}, "
            f"{mean_mbps(worst.to_dict()):.2f} Mbit/s; the sum, without pauses of the client",
        ),
    )


def _longest_unit(application: UnitsOutcome) -> Finding:
    """Returns the longest time of the units of a kind, beside those of the others."""
    noun = NOUNS[application["unit"]]
    times = {
        "mean": application["mean_s"],
        "median": application["p50_s"],
        "95 %": application["p95_s"],
    }
    times_text = ", ".join(
        f"{name} {ms_text(1e3 * time_s)}" for name, time_s in times.items() if time_s
    )
    longest_s = application["max_s"] or math.nan
    return Finding(
        f"Longest of {application['count']} {noun}",
        ms_text(1e3 * longest_s),
        f"of {application['server']}: {times_text}",
    )


def _connections(analyses: CaptureAnalyses) -> Table:
    rows = tuple(
        (
            str(row["file"]),
            str(row["connection"]),
            str(row["client"]),
            str(row["server"]),
            f"{(row['bytes_up'] + row['bytes_down']) / 1e6:.2f}",
            f"{row['duration_s']:.1f}",
            f"{mean_mbps(row):.2f}",
            f"{row['rtt_min_ms']:.1f}",
            str(row["retransmissions_up"] + row["retransmissions_down"]),
            str(row["losses"]),
            f"{waited_s(row):.2f}",
            cca_text(row),
            str(row["diagnosis"]),
        )
        for row in analyses.main_first().head(_MAX_ROWS).to_dict("records")
    )
    return Table(tuple(Column(name, is_number=is_number) for name, is_number in _COLUMNS), rows)


def _pictures(analyses: CaptureAnalyses) -> list[Section]:
    rows = analyses.main_first()
    if rows.empty:
        return []
    draw: functools.partial[Picture] = functools.partial(overview, analyses)
    main = rows.iloc[0]
    title = f"Connection {main['connection']} of {main['file']} over time"
    return [
        Section("All connections", figure=Figure(draw, "Waiting, losses, RTT and time of connections")),
        Section(title, figure=Figure(functools.partial(_draw, analyses), title, _chart(analyses))),
    ]


def _intervals(analyses: CaptureAnalyses) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns intervals and losses of the data of the first connection."""
    main = analyses.main_first().iloc[0]
    up = int(main["direction"] == "up")
    return (
        with_silences(connection_rows(analyses.intervals, main, up)),
        connection_rows(analyses.losses, main, up),
    )


def _chart(analyses: CaptureAnalyses) -> Chart:
    intervals, losses = _intervals(analyses)
    times = numbers(intervals["t_s"])
    mbps_per_byte = 8e-6 / INTERVAL_S
    rates = (
        Series("new", NEW, numbers(intervals["bytes"]) * mbps_per_byte),
        Series("again", RETRANSMITTED, numbers(intervals["retransmitted_bytes"]) * mbps_per_byte),
    )
    rtts = (
        Series("capture to receiver", NEW, numbers(intervals["rtt_mean_ms"])),
        Series("capture to sender", LATE, numbers(intervals["near_rtt_mean_ms"])),
    )
    interval_indices = (np.searchsorted(times, numbers(losses["t_s"]), "right") - 1).clip(0)
    counts = []
    for kind, colour in KIND_COLOURS.items():
        is_kind = (losses["kind"].astype(str) == kind).to_numpy()
        if is_kind.any():
            count = np.bincount(interval_indices[is_kind], minlength=len(times)).astype(float)
            counts.append(Series(kind, colour, count[: len(times)]))
    panels = [Panel("throughput", "Mbit/s", rates, 2), Panel("RTT", "ms", rtts, 1)]
    if counts:
        panels.append(Panel("losses", "segments", tuple(counts), 0))
    return Chart(times, "time since the first packet", "s", tuple(panels), digits=1).thinned()


def _draw(analyses: CaptureAnalyses) -> Picture:
    intervals, _ = _intervals(analyses)
    picture = figure(8.5, 4.6)
    upper, lower = picture.subplots(2, 1, sharex=True)
    draw_intervals(upper, lower, intervals)
    upper.set_ylim(bottom=0)
    return picture
