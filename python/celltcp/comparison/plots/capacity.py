"""Plot of a link trace: its rate over time."""

from __future__ import annotations

from matplotlib.figure import Figure

from celltcp._core import Trace
from celltcp.present.style import CAPACITY, figure, titled


def draw_trace(trace: Trace, title: str, bin_s: float) -> Figure:
    """Draws the rate in bins, with the mean."""
    series = trace.rate_series(bin_s)
    picture = figure(8, 3)
    axes = picture.add_subplot()
    times = [index * bin_s for index in range(len(series))]
    axes.fill_between(times, series, step="post", color=CAPACITY, lw=0)
    axes.step(times, series, where="post", color="#0072B2", lw=0.7)
    axes.axhline(trace.mean_mbps, color="#D55E00", lw=1, label=f"mean {trace.mean_mbps:.2f} Mbit/s")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("time, s")
    axes.set_ylabel(f"Mbit/s in bins of {bin_s:g} s")
    titled(picture, title)
    axes.legend()
    return picture
