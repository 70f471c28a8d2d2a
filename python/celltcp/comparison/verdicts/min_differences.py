"""Smallest differences that matter: by metric, what nobody who uses an application would notice."""

from __future__ import annotations

#: Parts of the names of metrics for statistics of a time.
_STATISTICS = ("", "_p50", "_p95", "_p99", "_p999", "_max")

#: Difference below which values of a metric are tied, in the unit of the metric. Metrics that are not
#: here have relative margins only: a microsecond may matter between servers, a bit/s to a sensor.
_MIN_DIFFERENCES = {
    # A tenth of a category of ITU-T P.800.
    "qoe": 0.1,
    "startup_s": 0.1,
    "stalled_s": 0.1,
    # One more in ten runs.
    "stalls": 0.1,
    "switches": 1.0,
    # One frame in 400: the tolerable loss of video is one in 100 (ITU-T G.1010).
    "late_share": 0.0025,
    "dropped_share": 0.0025,
    "completed_share": 0.0025,
    # Less than a picture on a screen at 60 Hz takes; of frames, which come one after another, less.
    **dict.fromkeys((f"page_load{statistic}_s" for statistic in _STATISTICS), 0.015),
    **dict.fromkeys((f"frame_delay{statistic}_ms" for statistic in _STATISTICS), 0.5),
    "retransmissions": 1.0,
}


def min_difference(metric: str) -> float:
    """Returns the difference of a metric below which values are tied; 0 without such a difference."""
    return _MIN_DIFFERENCES.get(metric, 0.0)
