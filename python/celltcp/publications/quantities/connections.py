"""Quantities of connections: slow start, completion times, losses, RTT increments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity, of_flows, sum_of


def _column(column: str, factor: float = 1.0) -> Quantity:
    """Returns the value of a column for the first connection of each run."""

    def distribution(measured: Measured, entry: Published) -> list[float]:
        return [value for value in quantity.values(measured, entry) if not math.isnan(value)]

    quantity = of_flows(lambda flows: float(flows[column].iloc[0]) * factor)
    return replace(quantity, distribution=distribution)


def _ends_s(flows: pd.DataFrame) -> pd.Series:
    return flows["start_s"] + flows["completion_s"]


def _long(flows: pd.DataFrame) -> pd.DataFrame:
    """Returns the connection of the long flow, in scenarios with short flows one after another."""
    return flows.loc[flows["name"] == "long"]


def _short(flows: pd.DataFrame) -> pd.DataFrame:
    return flows.loc[flows["name"] == "short"]


def _competing(flows: pd.DataFrame) -> pd.DataFrame:
    """Returns the short connections that started before the end of the long one."""
    end_s = _ends_s(_long(flows)).max()
    short = _short(flows)
    return short if math.isnan(end_s) else short[short["start_s"] < end_s]


def _total_s(flows: pd.DataFrame) -> float:
    """Returns the time from the first start to the last completion, s."""
    ends_s = _ends_s(flows)
    return math.nan if ends_s.isna().any() else float(ends_s.max() - flows["start_s"].min())


def _completion(part: Callable[[pd.DataFrame], pd.DataFrame]) -> Quantity:
    return of_flows(lambda flows: float(part(flows)["completion_s"].mean()))


def _rtt(part: Callable[[pd.DataFrame], pd.DataFrame]) -> Quantity:
    """Returns the mean RTT of some connections; a picture shows the distribution over slots."""

    def distribution(measured: Measured, entry: Published) -> list[float]:
        keys = pd.concat(
            [part(flows)[["run", "flow"]] for flows in measured.flows_of(entry)], ignore_index=True
        )
        slots = measured.all_slots.merge(keys, on=["run", "flow"])
        return slots["rtt_mean_ms"].dropna().tolist()

    return of_flows(lambda flows: float(part(flows)["rtt_mean_ms"].mean()), distribution)


def _max_rtt_rise(flows: pd.DataFrame) -> float:
    """Returns the largest rise from one RTT sample to the next, in % of the minimum RTT."""
    first = flows.iloc[0]
    return float(100 * first["rtt_increment_max_ms"] / first["rtt_min_ms"])


def _ratio(numerator: str, denominator: str) -> Callable[[pd.DataFrame], float]:
    def measure(flows: pd.DataFrame) -> float:
        total = float(flows[denominator].sum())
        return float(flows[numerator].sum()) / total if total else math.nan

    return measure


#: Quantities of connections.
OF_CONNECTIONS: dict[str, Quantity] = {
    "slow_start_exit": _column("slow_start_exit_cwnd"),
    "slow_start_exit_s": _column("slow_start_exit_s"),
    "slow_start_bytes": _column("slow_start_bytes", 1e-3),
    "rtt_min": _column("rtt_min_ms"),
    "rtt_jump": of_flows(_max_rtt_rise),
    "completion_long": _completion(_long),
    "completion_total": of_flows(_total_s),
    "completion_competing": _completion(_competing),
    "completion_short": _completion(_short),
    "rtt_long": _rtt(_long),
    "rtt_competing": _rtt(_competing),
    "retransmitted": sum_of("retransmissions"),
    "duplicate_acks_of_each": of_flows(_ratio("duplicate_acks", "retransmissions")),
    "retransmission_share": of_flows(_ratio("retransmissions", "segments")),
    "timeouts": sum_of("timeouts"),
    "goodput_sum": sum_of("goodput_mbps"),
}
