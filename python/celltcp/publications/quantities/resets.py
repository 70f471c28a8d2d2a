"""Quantities of clients that abort connections: bytes they discard, or a reset tracker suppresses."""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity, of_flows, sum_of


def _with_distribution(measure: Callable[[pd.DataFrame], float], column: str) -> Quantity:
    """Returns a measure of connections; a picture shows the distribution of a column (bytes) in kB."""

    def distribution(measured: Measured, entry: Published) -> list[float]:
        return [float(value) / 1e3 for flows in measured.flows_of(entry) for value in flows[column]]

    return of_flows(measure, distribution)


def _percent(part: str, *total_columns: str) -> Callable[[pd.DataFrame], float]:
    """Returns the measure of a column in percent of the sum of some columns."""

    def measure(flows: pd.DataFrame) -> float:
        total = float(flows[list(total_columns)].sum().sum())
        return 100 * float(flows[part].sum()) / total if total else math.nan

    return measure


def _on_air_mb(flows: pd.DataFrame) -> float:
    return float(flows["bytes"].sum() + flows["discarded_bytes"].sum()) / 1e6


def _per_request(*columns: str) -> Callable[[pd.DataFrame], float]:
    """Returns the measure of columns per connection that carried data, kB."""

    def measure(flows: pd.DataFrame) -> float:
        used = flows[flows["bytes"] + flows["discarded_bytes"] > 0]
        return float(used[list(columns)].sum(axis=1).mean()) / 1e3

    return measure


def _interval_s(flows: pd.DataFrame) -> float:
    """Returns the mean time from one request to the next, s."""
    starts = flows["start_s"].sort_values()
    return float(starts.diff().mean()) if len(starts) > 1 else math.nan


def _signals(column: str) -> Quantity:
    """Returns the sum of a column of the table `control` over each run."""

    def values(measured: Measured, entry: Published) -> list[float]:
        rows = measured.frame("control").groupby("run")[column].sum()
        return [float(rows.get(run, math.nan)) for run in measured.runs_of(entry)["run"]]

    return Quantity(values)


def _uplink_packets(measured: Measured, entry: Published) -> list[float]:
    rows = measured.frame("uplink").groupby("run").size()
    return [float(rows.get(run, 0)) for run in measured.runs_of(entry)["run"]]


#: Quantities of clients that abort connections.
OF_RESETS: dict[str, Quantity] = {
    "discard_share": of_flows(_percent("discarded_bytes", "bytes", "discarded_bytes")),
    "received_per_get": _with_distribution(_per_request("bytes", "discarded_bytes"), "bytes"),
    "discarded_per_get": _with_distribution(_per_request("discarded_bytes"), "discarded_bytes"),
    "get_interval": of_flows(_interval_s),
    "spared_share": of_flows(_percent("spared_bytes", "bytes", "discarded_bytes", "spared_bytes")),
    "video_on_air": of_flows(_on_air_mb),
    "uplink_resets": sum_of("resets"),
    "uplink_packets": Quantity(_uplink_packets),
    "uplink_grants": _signals("grants"),
    "uplink_requests": _signals("requests"),
}
