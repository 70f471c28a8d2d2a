"""Comparing congestion controls on one scenario."""

from __future__ import annotations

from celltcp.comparison.comparing import compare, compare_with
from celltcp.comparison.outcome import METRICS, Comparison

__all__ = ["METRICS", "Comparison", "compare", "compare_with"]
