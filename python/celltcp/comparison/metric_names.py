"""Names of metrics: conversion between ranking metrics and the values that plots show."""

from __future__ import annotations

from collections.abc import Iterable

from celltcp.comparison.metrics import RANKED

#: Ranking metric by the name of plotted values of slots or units of work.
_RANKING_METRICS = {
    "goodput": "goodput_mbps",
    "rtt": "rtt_mean_ms",
    "response": "response_p95_s",
    "page_load": "page_load_s",
    "frame_delay": "frame_delay_ms",
    "completion": "completion_s",
}

#: Names of metrics that rank.
RANKING_NAMES = (*RANKED, *_RANKING_METRICS)


def ranking_metric(name: str) -> str:
    """Returns the ranking metric for a name of plotted values; other names as they are."""
    return _RANKING_METRICS.get(name, name)


def plotted_metric(name: str, plotted: Iterable[str]) -> str:
    """Returns the name of the values of a ranking metric: `response` for `response_p95_s`.

    Args:
        name: name of a metric; one of plotted values is returned as it is.
        plotted: names of plotted values.
    """
    known = tuple(plotted)
    # Times to first bytes are not plotted.
    if name in known or name not in RANKED or name.endswith("first_byte_s"):
        return name
    return next((each for each in known if name.startswith(f"{each}_")), name)
