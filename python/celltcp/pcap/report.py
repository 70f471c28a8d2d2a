"""Captures as a part of a report: connections, losses by kind, the one that waited longest."""

from __future__ import annotations

import functools
import shlex

import numpy as np
from matplotlib.figure import Figure as Picture

from celltcp.pcap import CaptureAnalyses
from celltcp.pcap.plots import KIND_COLOURS, overview
from celltcp.present.chart import Chart, Panel, Series, numbers
from celltcp.present.section import Column, Figure, Finding, Part, Section, Table

#: Most connections in the table.
_MOST = 200
#: Length of an interval of the analysis, s.
_INTERVAL = 0.1
_NEW, _AGAIN, _NEAR = "#0072B2", "#D55E00", "#E69F00"

_COLUMNS = (
    *(("file", False), ("no", True), ("client", False), ("server", False), ("MB", True), ("s", True)),
    *(("Mbit/s", True), ("least RTT ms", True), ("retransmitted", True), ("losses", True)),
    *(("waited s", True), ("CCA", False)),
)


def captures_part(analyses: CaptureAnalyses) -> Part:
    """Returns the part of a report on captures."""
    files = [str(summary["file"]) for summary in analyses.summaries]
    rows = analyses.by_waiting_time()
    command = shlex.join(["celltcp", "pcap", "analyze", *files, "--out", "results"])
    return Part(
        title=f"Captures: {', '.join(files)}",
        asked=f"What do {', '.join(files)} tell of connections, losses and the path?",
        findings=_findings(analyses),
        sections=(
            Section("Connections", _connections(analyses), text=_told(len(rows))),
            *_pictures(analyses),
            Section("Command that reproduces the results", code=f"{command}\n"),
        ),
    )


def _told(count: int) -> tuple[str, ...]:
    more = f" The table has the first {_MOST} of {count}." if count > _MOST else ""
    return (f"The connections that waited longest come first.{more}",)


def _findings(analyses: CaptureAnalyses) -> tuple[Finding, ...]:
    rows = analyses.by_waiting_time()
    if rows.empty:
        return (Finding("Connections", "none", "no TCP connection was found", state="open"),)
    kinds = analyses.losses["kind"].astype(str).value_counts()
    losses = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    worst = rows.iloc[0]
    payload = float((rows["bytes_up"] + rows["bytes_down"]).sum()) / 1e6
    return (
        Finding("Connections", str(len(rows)), f"{payload:.2f} MB of payload"),
        Finding("Losses", str(int(kinds.sum())), losses or "none was found"),
        Finding(
            "Longest wait",
            f"{worst['harm_s']:.2f} s",
            f"connection {worst['connection']} to {worst['server']}, {worst['throughput_mbps']:.2f} "
            "Mbit/s",
        ),
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
            f"{row['throughput_mbps']:.2f}",
            f"{row['rtt_min_ms']:.1f}",
            str(row["retransmissions_up"] + row["retransmissions_down"]),
            str(row["losses"]),
            f"{row['harm_s']:.2f}",
            "" if row["cca"] == "unknown" else str(row["cca"]),
        )
        for row in analyses.by_waiting_time().head(_MOST).to_dict("records")
    )
    return Table(tuple(Column(name, is_number=number) for name, number in _COLUMNS), rows)


def _pictures(analyses: CaptureAnalyses) -> list[Section]:
    rows = analyses.by_waiting_time()
    if rows.empty:
        return []
    draw: functools.partial[Picture] = functools.partial(overview, analyses)
    worst = rows.iloc[0]
    title = f"Connection {worst['connection']} of {worst['file']} over time"
    return [
        Section("All connections", figure=Figure(draw, "Waiting, losses, RTT and time of connections")),
        Section(title, figure=Figure(functools.partial(_draw, analyses), title, _chart(analyses))),
    ]


def _intervals(analyses: CaptureAnalyses) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Returns the columns of the intervals of the connection that waited longest, and its losses."""
    worst = analyses.by_waiting_time().iloc[0]
    up = int(worst["direction"] == "up")

    def of(name: str) -> dict[str, np.ndarray]:
        table = getattr(analyses, name)
        here = (table["file"] == worst["file"]) & (table["connection"] == worst["connection"])
        mine = table[here & (table["up"] == up)]
        return {str(column): mine[column].to_numpy() for column in mine}

    return of("intervals"), of("losses")


def _chart(analyses: CaptureAnalyses) -> Chart:
    result, losses = _intervals(analyses)
    times = numbers(result["t_s"])
    rate = 8e-6 / _INTERVAL
    rates = (
        Series("new", _NEW, numbers(result["bytes"]) * rate),
        Series("again", _AGAIN, numbers(result["retransmitted_bytes"]) * rate),
    )
    delays = (
        Series("capture to receiver", _NEW, numbers(result["rtt_mean_ms"])),
        Series("capture to sender", _NEAR, numbers(result["near_rtt_mean_ms"])),
    )
    places = np.searchsorted(times, numbers(losses["t_s"]), "right") - 1
    counts = []
    for kind, colour in KIND_COLOURS.items():
        mine = np.bincount(
            places[losses["kind"].astype(str) == kind].clip(0), minlength=len(times)
        ).astype(float)
        if mine.any():
            counts.append(Series(kind, colour, mine[: len(times)]))
    panels = [Panel("throughput", "Mbit/s", rates, 2), Panel("RTT", "ms", delays, 1)]
    if counts:
        panels.append(Panel("losses", "segments", tuple(counts), 0))
    return Chart(times, "time since the first packet", "s", tuple(panels), digits=1).thinned()


def _draw(analyses: CaptureAnalyses) -> Picture:
    from celltcp.present.style import draw_series, figure

    result, _ = _intervals(analyses)
    picture = figure(8.5, 4.6)
    upper, lower = picture.subplots(2, 1, sharex=True)
    for name, colour, label in (("bytes", _NEW, "new"), ("retransmitted_bytes", _AGAIN, "again")):
        values = result[name] * 8e-6 / _INTERVAL
        draw_series(upper, result["t_s"], values, color=colour, lw=0.9, label=label)
    for name, colour, label in (
        ("rtt_mean_ms", _NEW, "capture to receiver"),
        ("near_rtt_mean_ms", _NEAR, "capture to sender"),
    ):
        draw_series(lower, result["t_s"], result[name], color=colour, lw=0.9, label=label)
    upper.set_ylabel("Mbit/s")
    lower.set_ylabel("RTT, ms")
    lower.set_xlabel("time since the first packet, s")
    for axes in (upper, lower):
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=7, loc="upper right", ncols=2)
    return picture
