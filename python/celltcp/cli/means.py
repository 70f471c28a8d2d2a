"""Means with their intervals in the cells of tables."""

from __future__ import annotations

import math
from collections.abc import Iterable


def mean_text(values: Iterable[float], digits: int) -> str:
    """Mean and half the width of the 95 % interval, where there is one; `-` without a value."""
    from celltcp.statistics import estimate

    found = estimate([float(value) for value in values])
    if math.isnan(found.mean):
        return "-"
    spread = f" ±{found.ci95:.{digits}f}" if found.ci95 is not None else ""
    return f"{found.mean:.{digits}f}{spread}"


def percent_text(value: float, half: float) -> str:
    """A percentage with its interval, where there is one."""
    if value != value:
        return "-"
    return f"{value:+.1f}" + (f" ±{half:.1f}" if half == half else "")
