"""Means with their intervals in the cells of tables."""

from __future__ import annotations

import math
from collections.abc import Iterable

from celltcp.scenarios.cca_mix import counted


def mean_text(values: Iterable[float], digits: int) -> str:
    """Returns the mean and half the width of its 95 % interval as text; `-` without a value."""
    from celltcp.results.statistics import estimate

    result = estimate([float(value) for value in values])
    if math.isnan(result.mean):
        return "-"
    spread = f" ±{result.ci95:.{digits}f}" if result.ci95 is not None else ""
    return f"{result.mean:.{digits}f}{spread}"


def runs_text(runs: int) -> str:
    """Returns a number of runs in words."""
    return counted(runs, "run")


def percent_text(value: float, half: float, digits: int = 1) -> str:
    """Returns a percentage as text, with its interval where there is one."""
    if math.isnan(value):
        return "-"
    # A zero without a minus sign: -0.0 says nothing.
    text = f"{round(value, digits) + 0.0:+.{digits}f}"
    return text if math.isnan(half) else f"{text} ±{half:.{digits}f}"
