"""Openings of connections: outages between the request of a connection and its first data."""

from __future__ import annotations

import collections
import math
from typing import TYPE_CHECKING

from celltcp.results.columns import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celltcp.results.tables import Results


def opening_outages_s(results: Results) -> dict[tuple[int, int], float]:
    """Returns the time of outages before the first data, s, by run and connection; only those with any.

    All outages of a connection without data are before it.
    """
    if "outages" not in results.tables:
        return {}
    ends_s = {
        (run, flow): math.inf if math.isnan(first_data_s) else first_data_s
        for run, flow, first_data_s in rows_of(results.tables["flows"], "run", "flow", "first_data_s")
    }
    intervals = collections.defaultdict(list)
    for run, flow, start_s, length_s, direction in rows_of(
        results.tables["outages"], "run", "flow", "t_s", "duration_s", "direction"
    ):
        end_s = min(start_s + length_s, ends_s[run, flow])
        if direction == "data" and end_s > start_s:
            intervals[run, flow].append((start_s, end_s))
    return {key: union_s(of_connection) for key, of_connection in intervals.items()}


def union_s(intervals: Iterable[tuple[float, float]]) -> float:
    """Returns the length of the union of intervals, s."""
    total, last = 0.0, -math.inf
    for start, end in sorted(intervals):
        total += max(end - max(start, last), 0.0)
        last = max(last, end)
    return total
