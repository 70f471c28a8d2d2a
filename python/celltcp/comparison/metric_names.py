"""Conversion between ranking metrics and the names of the values that plots show."""

from __future__ import annotations

from collections.abc import Iterable

from celltcp.comparison.metrics import JAIN, RANKED, SHARE

#: Ranking metric by the name of the plotted values of slots or units of work, or in `show --columns`.
_RANKING_METRICS = {
    "goodput": "goodput_mbps",
    "rtt": "rtt_mean_ms",
    "response": "response_p95_s",
    "page_load": "page_load_s",
    "frame_delay": "frame_delay_ms",
    "completion": "completion_s",
    "jain": JAIN,
    "share": SHARE,
}

#: Names by which users select a ranking metric.
RANKING_NAMES = (*RANKED, *_RANKING_METRICS)


def ranking_metric(name: str) -> str:
    """Returns the ranking metric for a name of plotted values, and other names as they are.

    Means of times have no statistic in their names, but one in the headings of tables.
    """
    unnamed = name.replace("_mean_", "_")
    if name not in RANKED and unnamed in RANKED:
        return unnamed
    return _RANKING_METRICS.get(name, name)


def plotted_metric(name: str, plotted: Iterable[str]) -> str:
    """Returns the name among `plotted` for a ranking metric: `response` for `response_p95_s`.

    Other names are returned as they are.
    """
    # Times to first bytes are not plotted.
    if name not in RANKED or name.endswith("first_byte_s"):
        return name
    return next((values for values in plotted if name.startswith(f"{values}_")), name)
