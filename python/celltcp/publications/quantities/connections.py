"""Quantities of connections: slow start, completion times, losses, RTT increments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity, of_flows, sum_of

#: Names of flows in the scenarios with one long flow and short ones after another.
_LONG, _SHORT = "long", "short"


def _column(column: str, factor: float = 1.0) -> Quantity:
    """Returns the quantity of a column of the first connection."""

    def spread(measured: Measured, entry: Published) -> list[float]:
        return [value for value in quantity.values(measured, entry) if not math.isnan(value)]

    quantity = of_flows(lambda flows: float(flows[column].iloc[0]) * factor)
    return replace(quantity, spread=spread)


def _ends(flows: pd.DataFrame) -> pd.Series:
    return flows["start_s"] + flows["completion_s"]


def _long(flows: pd.DataFrame) -> pd.DataFrame:
    return flows.loc[flows["name"] == _LONG]


def _short(flows: pd.DataFrame) -> pd.DataFrame:
    return flows.loc[flows["name"] == _SHORT]


def _competing(flows: pd.DataFrame) -> pd.DataFrame:
    """Short connections that began while the long one ran."""
    end = _ends(_long(flows)).max()
    short = _short(flows)
    return short if math.isnan(end) else short[short["start_s"] < end]


def _total(flows: pd.DataFrame) -> float:
    ends = _ends(flows)
    return math.nan if ends.isna().any() else float(ends.max() - flows["start_s"].min())


def _completion(part: Callable[[pd.DataFrame], pd.DataFrame]) -> Quantity:
    return of_flows(lambda flows: float(part(flows)["completion_s"].mean()))


def _delay(part: Callable[[pd.DataFrame], pd.DataFrame]) -> Quantity:
    """Mean RTT of the slots of some connections."""

    def spread(measured: Measured, entry: Published) -> list[float]:
        wanted = pd.concat(
            [part(flows)[["run", "flow"]] for flows in measured.flows_of(entry)], ignore_index=True
        )
        slots = measured.all_slots.merge(wanted, on=["run", "flow"])
        return [float(each) for each in slots["rtt_mean_ms"].dropna()]

    return of_flows(lambda flows: float(part(flows)["rtt_mean_ms"].mean()), spread)


def _jump(flows: pd.DataFrame) -> float:
    """Largest rise from one RTT sample to the next, in % of the lowest RTT."""
    first = flows.iloc[0]
    return float(100 * first["rtt_increment_max_ms"] / first["rtt_min_ms"])


def _ratio(upper: str, lower: str) -> Callable[[pd.DataFrame], float]:
    def measure(flows: pd.DataFrame) -> float:
        whole = float(flows[lower].sum())
        return float(flows[upper].sum()) / whole if whole else math.nan

    return measure


#: Quantities of connections.
OF_CONNECTIONS: dict[str, Quantity] = {
    "slow_start_exit": _column("slow_start_exit_cwnd"),
    "slow_start_exit_s": _column("slow_start_exit_s"),
    "slow_start_bytes": _column("slow_start_bytes", 1e-3),
    "rtt_min": _column("rtt_min_ms"),
    "rtt_jump": of_flows(_jump),
    "completion_long": _completion(_long),
    "completion_total": of_flows(_total),
    "completion_competing": _completion(_competing),
    "completion_short": _completion(_short),
    "rtt_long": _delay(_long),
    "rtt_competing": _delay(_competing),
    "retransmitted": sum_of("retransmissions"),
    "duplicate_acks_of_each": of_flows(_ratio("duplicate_acks", "retransmissions")),
    "retransmission_share": of_flows(_ratio("retransmissions", "segments")),
    "timeouts": sum_of("timeouts"),
    "goodput_sum": sum_of("goodput_mbps"),
}
