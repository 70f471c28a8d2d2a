"""Table of traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celltcp.present.section import Column, Table, number_columns


def trace_table(traces: Sequence[Mapping[str, Any]]) -> Table:
    """Returns a table with a row for each trace of `celltcp traces info`."""
    names = ("duration_s", "mean_mbps", "min_mbps", "p50_mbps", "max_mbps", "longest_gap_s")
    headings = (
        "duration\ns",
        "mean\nMbit/s",
        "min of 1 s\nMbit/s",
        "median\nMbit/s",
        "max\nMbit/s",
        "longest gap\ns",
    )
    rows = tuple((str(trace["file"]), *(f"{trace[name]:.3f}" for name in names)) for trace in traces)
    return Table((Column("file", folds=True), *number_columns(*headings)), rows)
