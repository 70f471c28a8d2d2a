"""Plots of captures: the time-sequence picture of a connection, and the overview of all connections."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp._core import CelltcpError
from celltcp.pcap.analysis import CaptureAnalyses, of_connection
from celltcp.present.style import draw_series, figure, footnote, legend_outside, titled
from celltcp.scenarios.cca_mix import count_text

#: Colours of what is sent for the first time, again, and late.
NEW = "#0072B2"
AGAIN = "#D55E00"
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
#: Connections in the overview.
_MOST = 20
#: Maximum of connections that are drawn over time, and the direction of data in words.
_FEW = 3
_DIRECTIONS = {0: "down", 1: "up"}


def plot_connection(
    analyses: CaptureAnalyses, number: int | None = None, file: str | None = None
) -> Figure:
    """Draws sequence numbers, bytes in flight, throughput and RTT of a connection over time.

    Args:
        analyses: of one or more captures, with segments.
        number: of the connection; the one that waited longest unless given.
        file: its capture; the first one unless given.

    Raises:
        CelltcpError: if there is no such connection, or segments were not kept.
    """
    rows = analyses.by_waiting_time()
    if file is not None:
        rows = rows[rows["file"] == file]
    if number is not None:
        chosen = file if file is not None else analyses.summaries[0]["file"]
        rows = rows[(rows["connection"] == number) & (rows["file"] == chosen)]
    if rows.empty:
        wanted = "" if number is None else f" {number}"
        raise CelltcpError(
            f"connection{wanted}: not in the capture; allowed: the numbers of pcap analyze"
        )
    row = rows.iloc[0]
    up = int(row["direction"] == "up")

    segments, losses = (of_connection(each, row) for each in (analyses.segments, analyses.losses))
    intervals = of_connection(analyses.intervals, row, up)
    picture = figure(9, 10)
    top, flight, rate, rtt = picture.subplots(4, 1, sharex=True, height_ratios=[4, 1.3, 1.3, 1.3])
    _draw_sequence(top, segments, up)
    sent = segments[segments["up"] == up]
    draw_series(flight, sent["t_s"], sent["in_flight"] / 1e3, color=NEW, lw=0.9)
    flight.set_ylabel("in flight, kB")
    draw_intervals(rate, rtt, intervals)
    for kind, group in losses[losses["up"] == up].groupby("kind"):
        rtt.plot(group["t_s"], np.zeros(len(group)), "|", color=KIND_COLOURS[str(kind)], ms=8)
    titled(picture, f"{row['client']} and {row['server']}, connection {row['connection']}")
    counts = losses["kind"].value_counts()
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "no losses"
    place = f"captured at: {row['place']} (confidence {row['place_confidence']:.1f})"
    footnote(picture, [f"{row['file']}; {place}; {kinds}"])
    return picture


def draw_intervals(rate: Axes, rtt: Axes, intervals: pd.DataFrame) -> None:
    """Draws throughput and RTT of the intervals of a connection over time."""
    times = intervals["t_s"]
    for column, colour, name in (("bytes", NEW, "new"), ("retransmitted_bytes", AGAIN, "again")):
        draw_series(rate, times, intervals[column] * 8e-5, color=colour, lw=0.9, label=name)
    near, far = intervals["near_rtt_mean_ms"], intervals["rtt_mean_ms"]
    draw_series(rtt, times, far, color=NEW, lw=0.9, label="capture to receiver")
    draw_series(rtt, times, near, color=LATE, lw=0.9, label="capture to sender")
    for axes, label in ((rate, "Mbit/s"), (rtt, "RTT, ms")):
        axes.set_ylabel(label)
        axes.legend(fontsize=7, loc="upper right", ncols=2)
        # An even curve, which has hardly any margin, would lie on the frame.
        axes.set_ylim(0, 1.08 * axes.dataLim.y1 if axes.dataLim.y1 > 0 else None)
    rtt.set_xlabel("time since the first packet, s")


def _draw_sequence(axes: Axes, segments: pd.DataFrame, up: int) -> None:
    """Draws segments, ACKs, SACK blocks and the edge of the window."""
    data = segments[(segments["up"] == up) & (segments["len"] > 0)]
    acks = segments[(segments["up"] != up) & segments["ack"].notna()]
    edge = acks["ack"] + acks["window"]
    axes.step(acks["t_s"], edge / 1e6, where="post", color=_WINDOW, lw=0.8, label="edge of the window")
    axes.step(acks["t_s"], acks["ack"] / 1e6, where="post", color=_ACK, lw=0.8, label="acknowledged")
    for name in (1, 2, 3):
        left, right = acks[f"sack_{name}_left"], acks[f"sack_{name}_right"]
        known = left.notna()
        axes.vlines(
            acks["t_s"][known],
            left[known] / 1e6,
            right[known] / 1e6,
            color=_SACK,
            lw=0.6,
            label="SACK" if name == 1 and known.any() else "_",
        )
    looks = {"new": (NEW, "sent"), "again": (AGAIN, "sent again"), "late": (LATE, "out of order")}
    for kind, (colour, label) in looks.items():
        selected = data[data["kind"] == kind]
        if len(selected):
            axes.plot(selected["t_s"], selected["seq"] / 1e6, ".", color=colour, ms=2, label=label)
    top = float((data["seq"] + data["len"]).max()) / 1e6 if len(data) else 1.0
    # The window often ends far above everything that is sent.
    axes.set_ylim(-0.02 * top, 1.15 * top)
    axes.set_ylabel("sequence number, MB")
    axes.legend(fontsize=7, loc="upper left", markerscale=4)


def overview(analyses: CaptureAnalyses) -> Figure:
    """Draws all connections: time waited, losses by kind, RTT and throughput, and when they were.

    Few connections are drawn over time instead: throughput, data in flight, RTT and losses.
    """
    rows = analyses.by_waiting_time()
    picture = _few_over_time(analyses, rows) if 0 < len(rows) <= _FEW else _many(rows)
    titled(picture, count_text(len(rows), "connection"))
    footnote(picture, [", ".join(str(summary["file"]) for summary in analyses.summaries)])
    return picture


def _few_over_time(analyses: CaptureAnalyses, rows: pd.DataFrame) -> Figure:
    """Draws a column of panels for each connection."""
    picture = figure(max(9, 5.5 * len(rows)), 8)
    columns = picture.subplots(3, len(rows), sharex="col", squeeze=False).T
    for (rate, flight, rtt), (_, row) in zip(columns, rows.iterrows(), strict=True):
        up = int(row["direction"] == "up")
        intervals = of_connection(analyses.intervals, row, up)
        draw_intervals(rate, rtt, intervals)
        draw_series(flight, intervals["t_s"], intervals["in_flight_max"] / 1e3, color=NEW, lw=0.9)
        draw_series(flight, intervals["t_s"], intervals["window_min"] / 1e3, color=_WINDOW, lw=0.9)
        top = float(intervals["in_flight_max"].max()) / 1e3
        # The window often ends far above everything that is in flight.
        flight.set_ylim(0, 1.3 * top if top > 0 else None)
        # Within an interval, a window that grows passes its least: data in flight may lie above it.
        flight.set_ylabel("most in flight, kB\n(grey: least window)")
        losses = of_connection(analyses.losses, row, up)
        for kind, group in losses.groupby("kind"):
            look = {"color": KIND_COLOURS[str(kind)], "ms": 8, "clip_on": False}
            label = f"{kind}: {len(group)}"
            flight.plot(group["t_s"], np.zeros(len(group)), "|", label=label, **look)
        for axes in (rate, flight, rtt):
            legend_outside(axes)
        where = f"{row['server']}, {_DIRECTIONS[up]}"
        rate.annotate(where, (1, 1), (0, 4), "axes fraction", "offset points", ha="right", size=8)
    return picture


def _many(rows: pd.DataFrame) -> Figure:
    """Draws a bar, point or line for each connection."""
    worst = rows.head(_MOST)[::-1]
    picture = figure(11, 8)
    (waited, kinds), (scatter, times) = picture.subplots(2, 2)
    places = np.arange(len(worst))
    names = [f"{n}: {server}" for n, server in zip(worst["connection"], worst["server"], strict=True)]
    for axes in (waited, kinds):
        axes.set_yticks(places, names, fontsize=6)
    waited.barh(places, worst["stalled_s"], color=AGAIN, label="stalled")
    waited.barh(
        places, worst["zero_window_s"], left=worst["stalled_s"], color=LATE, label="window closed"
    )
    waited.set_xlabel("time waited, s")
    waited.legend(fontsize=7)
    left = np.zeros(len(worst))
    for kind, colour in KIND_COLOURS.items():
        column = {"spurious": "spurious", "reordering": "reordered"}.get(kind, f"losses_{kind}")
        counts = worst[column].to_numpy(float)
        kinds.barh(places, counts, left=left, color=colour, label=kind)
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
    begin = rows["start_ns"].min()
    starts = (rows["start_ns"] - begin) / 1e9
    order = np.argsort(starts.to_numpy(), kind="stable")
    times.hlines(
        np.arange(len(rows)),
        starts.to_numpy()[order],
        (starts + rows["duration_s"]).to_numpy()[order],
        color=NEW,
        lw=1,
    )
    times.set_xlabel("time since the first packet, s")
    times.set_ylabel("connections")
    return picture
