"""Plots of comparisons and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from celltcp.plots.distribution import draw_ecdf
from celltcp.plots.series import draw_comparison_series, draw_run_series
from celltcp.plots.startup import draw_startup
from celltcp.plots.style import figure
from celltcp.plots.tradeoff import draw_throughput_delay

if TYPE_CHECKING:
    from celltcp.comparison import Comparison
    from celltcp.single import SingleRun


class ComparisonPlots:
    """Plots of a comparison; each is a matplotlib figure."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def throughput_delay(self) -> Figure:
        """Goodput against the 95th percentile of the one-way delay; the upper right is best."""
        picture = figure(5, 3.6)
        draw_throughput_delay(picture.add_subplot(), self._comparison)
        return picture

    def ecdf(self, metric: str = "goodput") -> Figure:
        """Distribution over slots of `goodput`, `rtt`, `owd`, `pm_balanced` or `pm_delay`."""
        picture = figure(5, 3.6)
        draw_ecdf(picture.add_subplot(), self._comparison, metric)
        return picture

    def time_series(self, seed: int | None = None) -> Figure:
        """Goodput and RTT over time in the run with `seed` (the first unless given)."""
        picture = figure(7, 4.5)
        upper, lower = picture.subplots(2, 1, sharex=True)
        draw_comparison_series(upper, lower, self._comparison, seed)
        return picture

    def startup(self, seconds: float = 5.0) -> Figure:
        """Bytes delivered by time t, mean over the runs."""
        picture = figure(5, 3.6)
        draw_startup(picture.add_subplot(), self._comparison, seconds)
        return picture

    def overview(self) -> Figure:
        """All of them on one sheet."""
        picture = figure(11, 7)
        grid = picture.add_gridspec(3, 3, height_ratios=[1.25, 1, 1])
        draw_throughput_delay(picture.add_subplot(grid[0, 0]), self._comparison)
        draw_ecdf(picture.add_subplot(grid[0, 1]), self._comparison, "goodput")
        draw_startup(picture.add_subplot(grid[0, 2]), self._comparison, 5.0)
        upper = picture.add_subplot(grid[1, :])
        lower = picture.add_subplot(grid[2, :], sharex=upper)
        draw_comparison_series(upper, lower, self._comparison, None)
        about = self._comparison.results.about
        picture.suptitle(f"{about['name']}: {about['runs']} runs of each congestion control")
        return picture


class RunPlots:
    """Plots of one run; each is a matplotlib figure."""

    def __init__(self, single: SingleRun) -> None:
        self._single = single

    def time_series(self) -> Figure:
        """Rates over the shaded capacity, RTT and queue, window and data in flight."""
        picture = figure(8, 7)
        axes = picture.subplots(3, 1, sharex=True)
        draw_run_series(list(axes), self._single)
        return picture
