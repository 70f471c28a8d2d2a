"""Text lines on the connections of a single run: one line per flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from celltcp.comparison.runs import flow_goodput, weighted_mean
from celltcp.comparison.windows import windows_of
from celltcp.present.section import value_text
from celltcp.results.columns import records
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.scenarios.quantity_texts import rate_text, size_text

_Rows = Sequence[Mapping[str, Any]]


def connection_texts(results: Results) -> list[str]:
    """Returns a line for each flow of a run: the metrics of its connections."""
    flows = records(results.tables["flows"])
    names = labels(dict.fromkeys(flow["cca"] for flow in flows))
    by_flow: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for flow in flows:
        by_flow.setdefault((flow["name"], flow["cca"]), []).append(flow)
    legs = results.tables.get("legs")
    split = set() if legs is None else {int(row["flow"]) for row in records(legs)}
    return [
        f"{name} ({names[cca]}): {_text(rows, is_split=any(flow['flow'] in split for flow in rows))}"
        f"{_window_text(results, name, rows)}"
        for (name, cca), rows in by_flow.items()
    ]


def _text(rows: _Rows, *, is_split: bool) -> str:
    """Returns the metrics of the connections of a flow as text; PM only for a single connection.

    Where a middlebox splits connections, RTT and PM are those of the first leg, and left out.
    """
    delay, title = ("owd", "one-way delay") if is_split else ("rtt", "RTT")
    segments = [flow["segments"] for flow in rows]
    mean_ms = weighted_mean([flow[f"{delay}_mean_ms"] for flow in rows], segments)
    common_parts = [
        f"{title} mean {value_text(mean_ms, 1)} "
        f"p95 {value_text(_statistic(rows, f'{delay}_p95_ms', max), 1)} "
        f"min {value_text(_statistic(rows, f'{delay}_min_ms', min), 1)} ms",
        count_text(sum(flow["retransmissions"] for flow in rows), "retransmission"),
        count_text(int(sum(flow["timeouts"] for flow in rows)), "time-out"),
    ]
    if len(rows) == 1:
        (flow,) = rows
        pm = (value_text(flow[metric], 3) for metric in ("pm_balanced", "pm_delay"))
        pm_parts = [] if is_split else ["PM balanced {} delay {}".format(*pm)]
        return ", ".join([rate_text(flow["goodput_mbps"]), *common_parts, *pm_parts])
    columns = {name: [flow[name] for flow in rows] for name in rows[0]}
    rate = flow_goodput(columns, range(len(rows)))
    bounds = (_statistic(rows, "goodput_mbps", statistic) for statistic in (min, max))
    low, high = map(rate_text, bounds)
    head_parts = [
        f"{count_text(len(rows), 'connection')}",
        f"{rate_text(rate)} together while one ran",
    ]
    return ", ".join([*head_parts, f"each {low} to {high}", *_completions(rows), *common_parts])


def _window_text(results: Results, name: str, rows: _Rows) -> str:
    """Returns the congestion windows of the connections of a flow as text; empty without any."""
    (windows,) = windows_of(results, FlowUnderTest(name), [0])
    arrived = sum(flow["segments"] - flow["retransmissions"] for flow in rows)
    if math.isnan(windows.mean) or arrived <= 0:
        return ""
    size = size_text(windows.largest * sum(flow["bytes"] for flow in rows) / arrived)
    return f", cwnd mean {windows.mean:.1f} max {windows.largest:.0f} segments ({size})"


def _completions(rows: _Rows) -> list[str]:
    """Returns the completion times of the connections that have an end; nothing without any."""
    times = [flow["completion_s"] for flow in rows]
    complete = [time for time in times if time is not None and not math.isnan(time)]
    if not complete:
        return []
    count = "" if len(complete) == len(times) else f"{len(complete)} "
    mean = math.fsum(complete) / len(complete)
    bounds = f"{min(complete):.3f} to {max(complete):.3f} s"
    return [f"{count}complete after {mean:.3f} s on average ({bounds})"]


def _statistic(rows: _Rows, metric: str, statistic: Callable[..., Any]) -> float:
    """Returns a statistic of the known values of a metric; NaN without any."""
    values = (flow[metric] for flow in rows if not math.isnan(flow[metric]))
    return float(statistic(values, default=math.nan))
