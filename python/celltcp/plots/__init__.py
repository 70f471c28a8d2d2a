"""Plots: pictures of results, drawn by matplotlib from data frames."""

from __future__ import annotations

from celltcp.plots.of_results import (
    ComparisonPlots,
    RunPlots,
    plot_evaluation,
    plot_explanation,
    plot_reliability,
    plot_sweep,
)
from celltcp.plots.video import plot_viewing
from celltcp.plots.viewers import plot_viewers

__all__ = [
    "ComparisonPlots",
    "RunPlots",
    "plot_evaluation",
    "plot_explanation",
    "plot_reliability",
    "plot_sweep",
    "plot_viewers",
    "plot_viewing",
]
