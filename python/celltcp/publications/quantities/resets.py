"""Quantities of clients that abort connections: bytes they discard, bytes a tracker suppresses."""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity, of_flows, sum_of


def _with_spread(measure: Callable[[pd.DataFrame], float], each: str) -> Quantity:
    """Returns a measure of the connections of a run; a picture shows the distribution of `each`."""

    def spread(measured: Measured, entry: Published) -> list[float]:
        return [float(value) / 1e3 for flows in measured.flows_of(entry) for value in flows[each]]

    return of_flows(measure, spread)


def _share(part: str, *whole: str) -> Callable[[pd.DataFrame], float]:
    def measure(flows: pd.DataFrame) -> float:
        total = float(flows[list(whole)].sum().sum())
        return 100 * float(flows[part].sum()) / total if total else math.nan

    return measure


def _on_air(flows: pd.DataFrame) -> float:
    return float(flows["bytes"].sum() + flows["discarded_bytes"].sum()) / 1e6


def _per_request(*columns: str) -> Callable[[pd.DataFrame], float]:
    """Mean over the connections that have carried data, kB."""

    def measure(flows: pd.DataFrame) -> float:
        used = flows[flows["bytes"] + flows["discarded_bytes"] > 0]
        return float(used[list(columns)].sum(axis=1).mean()) / 1e3

    return measure


def _between(flows: pd.DataFrame) -> float:
    """Mean time from request to request, s."""
    starts = flows["start_s"].sort_values()
    return float(starts.diff().mean()) if len(starts) > 1 else math.nan


def _signals(column: str) -> Quantity:
    """Signals of the uplink in the whole run."""

    def values(measured: Measured, entry: Published) -> list[float]:
        rows = measured.frame("control").groupby("run")[column].sum()
        return [float(rows.get(run, math.nan)) for run in measured.runs_of(entry)["run"]]

    return Quantity(values)


def _sent_up(measured: Measured, entry: Published) -> list[float]:
    rows = measured.frame("uplink").groupby("run").size()
    return [float(rows.get(run, 0)) for run in measured.runs_of(entry)["run"]]


#: Quantities of clients that abort connections.
OF_RESETS: dict[str, Quantity] = {
    "discard_share": of_flows(_share("discarded_bytes", "bytes", "discarded_bytes")),
    "received_per_get": _with_spread(_per_request("bytes", "discarded_bytes"), "bytes"),
    "discarded_per_get": _with_spread(_per_request("discarded_bytes"), "discarded_bytes"),
    "get_interval": of_flows(_between),
    "spared_share": of_flows(_share("spared_bytes", "bytes", "discarded_bytes", "spared_bytes")),
    "video_on_air": of_flows(_on_air),
    "uplink_resets": sum_of("resets"),
    "uplink_packets": Quantity(_sent_up),
    "uplink_grants": _signals("grants"),
    "uplink_requests": _signals("requests"),
}
