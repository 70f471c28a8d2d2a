"""Plot of video sessions over time: goodput, bitrates of the segments, buffer and stalls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.axes import Axes

from celltcp._core import CelltcpError
from celltcp.present.palette import colours, lines
from celltcp.present.style import draw_series, shade_capacity
from celltcp.scenarios.cca_mix import labels


def draw_sessions(
    axes: Sequence[Axes],
    slots: pd.DataFrame,
    events: pd.DataFrame,
    runs: pd.DataFrame,
    ccas: Sequence[str],
) -> None:
    """Draws goodput over the capacity, bitrates of the segments, and the buffer with its stalls.

    Args:
        axes: three panels, from top to bottom.
        slots: of the flow under test.
        events: of all runs.
        runs: the run of each CCA, with `run` and `cca`.
        ccas: congestion controls, in the order of the legend.

    Raises:
        CelltcpError: if no video was played.
    """
    rates, bitrates, buffers = axes
    names, shades, styles = labels(ccas), colours(ccas), lines(ccas)
    events = events.assign(t_s=events["t_ns"] * 1e-9)
    events = events[events["kind"].isin(["segment_mbps", "buffer_s", "stall_s"])]
    if events.empty:
        raise CelltcpError("plot: no video was played; video has nothing to draw")
    numbers = dict(zip(runs["cca"].astype(str), runs["run"], strict=True))
    shaded = slots[slots["run"] == numbers[ccas[0]]]
    shade_capacity(rates, shaded["t_s"], shaded["capacity_mbps"])
    for index, cca in enumerate(ccas):
        goodput = slots[slots["run"] == numbers[cca]].set_index("t_s")["goodput_mbps"]
        slot_s = float(goodput.index[1] - goodput.index[0]) if len(goodput) > 1 else 1.0
        # A mean over 1 s evens out the pauses between segments.
        goodput = goodput.rolling(max(1, round(1.0 / slot_s))).mean()
        look = {"color": shades[cca], "lw": 1.0, "ls": styles[cca]}
        draw_series(rates, goodput.index, goodput, label=names[cca], **look)
        session_events = events[events["run"] == numbers[cca]]
        segments, levels = (
            session_events[session_events["kind"] == kind] for kind in ("segment_mbps", "buffer_s")
        )
        bitrates.step(segments["t_s"], segments["detail"].astype(float), where="post", **look)
        buffers.plot(*_buffer_line(levels["t_s"], levels["detail"].astype(float)), **look)
        stalls = session_events[session_events["kind"] == "stall_s"]
        lengths = stalls["detail"].astype(float)
        spans = list(zip(stalls["t_s"] - lengths, lengths, strict=True))
        # Stalls stand below the axis, a row for each CCA.
        buffers.broken_barh(spans, (-1.5 * (index + 1), 1.2), color=shades[cca])
    rates.set_ylabel("goodput, Mbit/s")
    rates.set_ylim(bottom=0)
    bitrates.set_ylabel("segments,\nMbit/s")
    bitrates.set_ylim(bottom=0)
    buffers.set_ylabel("buffer, s\n(bars: stalls)")
    buffers.set_ylim(bottom=min(0.0, buffers.get_ylim()[0]))
    buffers.set_xlabel("time, s")


def _buffer_line(
    times_s: Iterable[float], levels_s: Iterable[float]
) -> tuple[list[float], list[float]]:
    """Returns the line of a buffer level from its values at the ends of segments.

    In between, playback takes a second of it each second, until it is empty.
    """
    line_times_s: list[float] = []
    line_levels_s: list[float] = []
    for time_s, level_s in zip(times_s, levels_s, strict=True):
        if line_times_s:
            before_s, last_s = line_times_s[-1], line_levels_s[-1]
            line_times_s += [min(before_s + last_s, time_s), time_s]
            line_levels_s += [max(last_s - (time_s - before_s), 0.0)] * 2
        line_times_s.append(time_s)
        line_levels_s.append(level_s)
    return line_times_s, line_levels_s
