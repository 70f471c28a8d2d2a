"""Plots of captures: the time-sequence picture of a connection, and the overview of all connections."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp._core import CelltcpError
from celltcp.pcap.analysis import CaptureAnalyses, connection_rows
from celltcp.pcap.diagnosis.evidence import INTERVAL_S
from celltcp.present.style import draw_series, figure, footnote, legend_outside, titled
from celltcp.scenarios.cca_mix import count_text

#: Colours of segments that are sent for the first time, are retransmitted, and come out of order.
NEW = "#0072B2"
RETRANSMITTED = "#D55E00"
LATE = "#E69F00"
_SACK = "#009E73"
_WINDOW = "#999999"
_ACK = "#000000"
#: Colour of each kind of loss.
KIND_COLOURS = {
    "congestion": "#D55E00",
    "random": "#56B4E9",
    "outage": "#000000",
    "tail": "#CC79A7",
    "spurious": "#F0C75E",
    "reordering": "#999933",
}
#: Maximum number of connections in the overview.
_MAX_CONNECTIONS = 20
#: Maximum number of connections that the overview draws over time.
_MAX_OVER_TIME = 3
#: Text of the direction of data, by the column `up`.
_DIRECTIONS = {0: "down", 1: "up"}


def plot_connection(
    analyses: CaptureAnalyses, number: int | None = None, file: str | None = None
) -> Figure:
    """Draws sequence numbers, bytes in flight, throughput and RTT of a connection over time.

    Args:
        analyses: analyses of one or more captures, with segments.
        number: number of the connection; by default the first of the main ones.
        file: capture of the connection; by default the first one if `number` is given, else all.

    Raises:
        CelltcpError: if there is no such connection, or segments were not kept.
    """
    rows = analyses.main_first()
    if file is not None:
        rows = rows[rows["file"] == file]
    if number is not None:
        file = file if file is not None else analyses.summaries[0]["file"]
        rows = rows[(rows["connection"] == number) & (rows["file"] == file)]
    if rows.empty:
        number_text = "" if number is None else f" {number}"
        raise CelltcpError(
            f"connection{number_text}: not in the capture; allowed: the numbers of pcap analyze"
        )
    row = rows.iloc[0]
    up = int(row["direction"] == "up")

    segments, losses = connection_rows(analyses.segments, row), connection_rows(analyses.losses, row)
    intervals = connection_rows(analyses.intervals, row, up)
    picture = figure(9, 10)
    sequence, flight, rate, rtt = picture.subplots(4, 1, sharex=True, height_ratios=[4, 1.3, 1.3, 1.3])
    _draw_sequence(sequence, segments, up)
    sent = segments[segments["up"] == up]
    in_flight = sent["in_flight"] / 1e3
    draw_series(flight, sent["t_s"], in_flight, color=NEW, lw=0.9, drawstyle="steps-post")
    flight.set_ylabel("in flight, kB")
    draw_intervals(rate, rtt, intervals)
    for kind, group in losses[losses["up"] == up].groupby("kind"):
        rtt.plot(group["t_s"], np.zeros(len(group)), "|", color=KIND_COLOURS[str(kind)], ms=8)
    titled(picture, f"{row['client']} and {row['server']}, connection {row['connection']}")
    counts = losses["kind"].value_counts()
    losses_text = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "no losses"
    place_text = f"captured at: {row['place']} (confidence {row['place_confidence']:.1f})"
    footnote(picture, [f"{row['file']}; {place_text}; {losses_text}"])
    return picture


def with_silences(intervals: pd.DataFrame) -> pd.DataFrame:
    """Returns intervals of a direction with those in which nothing passed: no bytes and no RTT."""
    numbers = (intervals["t_s"] / INTERVAL_S).round().astype(int)
    if numbers.empty:
        return intervals
    every = pd.RangeIndex(numbers.min(), numbers.max() + 1)
    rows = intervals.set_index(numbers).reindex(every)
    counted = ["bytes", "retransmitted_bytes"]
    rows[counted] = rows[counted].fillna(0)
    return rows.assign(t_s=every * INTERVAL_S)


def draw_intervals(rate: Axes, rtt: Axes, intervals: pd.DataFrame) -> None:
    """Draws throughput and RTT of the intervals of a connection over time."""
    intervals = with_silences(intervals)
    times = intervals["t_s"]
    for column, colour, name in (
        ("bytes", NEW, "new"),
        ("retransmitted_bytes", RETRANSMITTED, "again"),
    ):
        draw_series(rate, times, intervals[column] * 8e-5, color=colour, lw=0.9, label=name)
    for column, colour, name in (
        ("rtt_mean_ms", NEW, "capture to receiver"),
        ("near_rtt_mean_ms", LATE, "capture to sender"),
    ):
        draw_series(rtt, times, intervals[column], color=colour, lw=0.9, label=name)
    for axes, label in ((rate, "Mbit/s"), (rtt, "RTT, ms")):
        axes.set_ylabel(label)
        axes.legend(fontsize=7, loc="upper right", ncols=2)
        # An even curve, which has hardly any margin, would lie on the frame.
        axes.set_ylim(0, 1.08 * axes.dataLim.y1 if axes.dataLim.y1 > 0 else None)
    rtt.set_xlabel("time since the first packet, s")


def _draw_sequence(axes: Axes, segments: pd.DataFrame, up: int) -> None:
    """Draws segments of a direction, and ACKs, SACK blocks and window of the other; `up` is 1 or 0."""
    data = segments[(segments["up"] == up) & (segments["len"] > 0)]
    acks = segments[(segments["up"] != up) & segments["ack"].notna()]
    edge = acks["ack"] + acks["window"]
    axes.step(acks["t_s"], edge / 1e6, where="post", color=_WINDOW, lw=0.8, label="edge of the window")
    axes.step(acks["t_s"], acks["ack"] / 1e6, where="post", color=_ACK, lw=0.8, label="acknowledged")
    for number in (1, 2, 3):
        blocks = acks[acks[f"sack_{number}_left"].notna()]
        axes.vlines(
            blocks["t_s"],
            blocks[f"sack_{number}_left"] / 1e6,
            blocks[f"sack_{number}_right"] / 1e6,
            color=_SACK,
            lw=0.6,
            label="SACK" if number == 1 and len(blocks) else "_",
        )
    for kind, colour, label in (
        ("new", NEW, "sent"),
        ("again", RETRANSMITTED, "sent again"),
        ("late", LATE, "out of order"),
    ):
        selected = data[data["kind"] == kind]
        if len(selected):
            axes.plot(selected["t_s"], selected["seq"] / 1e6, ".", color=colour, ms=2, label=label)
    top = float((data["seq"] + data["len"]).max()) / 1e6 if len(data) else 1.0
    # The window often ends far above everything that is sent.
    axes.set_ylim(-0.02 * top, 1.15 * top)
    axes.set_ylabel("sequence number, MB")
    axes.legend(fontsize=7, loc="upper left", markerscale=4)


def overview(analyses: CaptureAnalyses) -> Figure:
    """Draws all connections: time waited, losses by kind, RTT and throughput, start and end.

    Up to three connections are drawn over time instead: throughput, data in flight, RTT and losses.
    """
    rows = analyses.by_waiting_time()
    picture = _over_time(analyses, rows) if 0 < len(rows) <= _MAX_OVER_TIME else _summary(rows)
    titled(picture, count_text(len(rows), "connection"))
    footnote(picture, [", ".join(str(summary["file"]) for summary in analyses.summaries)])
    return picture


def _over_time(analyses: CaptureAnalyses, rows: pd.DataFrame) -> Figure:
    """Draws a column of panels over time for each connection."""
    picture = figure(max(9, 5.5 * len(rows)), 8)
    columns = picture.subplots(3, len(rows), sharex="col", squeeze=False).T
    for (rate, flight, rtt), (_, row) in zip(columns, rows.iterrows(), strict=True):
        up = int(row["direction"] == "up")
        intervals = with_silences(connection_rows(analyses.intervals, row, up))
        draw_intervals(rate, rtt, intervals)
        draw_series(flight, intervals["t_s"], intervals["in_flight_max"] / 1e3, color=NEW, lw=0.9)
        draw_series(flight, intervals["t_s"], intervals["window_min"] / 1e3, color=_WINDOW, lw=0.9)
        top = float(intervals["in_flight_max"].max()) / 1e3
        # The window often ends far above everything that is in flight.
        flight.set_ylim(0, 1.3 * top if top > 0 else None)
        # A window that grows within an interval starts at its least: data in flight may lie above that.
        flight.set_ylabel("most in flight, kB\n(grey: least window)")
        losses = connection_rows(analyses.losses, row, up)
        for kind, group in losses.groupby("kind"):
            style = {"color": KIND_COLOURS[str(kind)], "ms": 8, "clip_on": False}
            label = f"{kind}: {len(group)}"
            flight.plot(group["t_s"], np.zeros(len(group)), "|", label=label, **style)
        for axes in (rate, flight, rtt):
            legend_outside(axes)
        heading = f"{row['server']}, {_DIRECTIONS[up]}"
        rate.annotate(heading, (1, 1), (0, 4), "axes fraction", "offset points", ha="right", size=8)
    return picture


def _summary(rows: pd.DataFrame) -> Figure:
    """Draws a bar, point or line for each connection."""
    worst = rows.head(_MAX_CONNECTIONS)[::-1]
    picture = figure(11, 8)
    (waited, kinds), (scatter, times) = picture.subplots(2, 2)
    positions = np.arange(len(worst))
    names = [f"{n}: {server}" for n, server in zip(worst["connection"], worst["server"], strict=True)]
    for axes in (waited, kinds):
        axes.set_yticks(positions, names, fontsize=6)
    waited.barh(positions, worst["stalled_s"], color=RETRANSMITTED, label="stalled")
    waited.barh(
        positions, worst["zero_window_s"], left=worst["stalled_s"], color=LATE, label="window closed"
    )
    waited.set_xlabel("time waited, s")
    waited.legend(fontsize=7)
    left = np.zeros(len(worst))
    for kind, colour in KIND_COLOURS.items():
        column = {"spurious": "spurious", "reordering": "reordered"}.get(kind, f"losses_{kind}")
        counts = worst[column].to_numpy(float)
        kinds.barh(positions, counts, left=left, color=colour, label=kind)
        left += counts
    kinds.set_xlabel("segments")
    kinds.legend(fontsize=7)
    known = rows[rows["rtt_min_ms"].notna() & (rows["throughput_mbps"] > 0)]
    size = 4 + 40 * np.sqrt((known["bytes_up"] + known["bytes_down"]) / 1e7).clip(0, 5)
    scatter.scatter(known["rtt_min_ms"], known["throughput_mbps"], s=size, color=NEW, alpha=0.6)
    scatter.set_xlabel("lowest RTT, ms")
    scatter.set_ylabel("throughput, Mbit/s")
    if len(known):
        scatter.set_xscale("log")
        scatter.set_yscale("log")
    in_order = rows.sort_values("start_ns", kind="stable")
    starts = (in_order["start_ns"] - rows["start_ns"].min()) / 1e9
    times.hlines(np.arange(len(rows)), starts, starts + in_order["duration_s"], color=NEW, lw=1)
    times.set_xlabel("time since the first packet, s")
    times.set_ylabel("connections")
    return picture
