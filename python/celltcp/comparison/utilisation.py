"""Utilisation of a link: the goodput of all flows on it as a share of its capacity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celltcp.comparison.shares import bottleneck_links
from celltcp.results.columns import (
    connection_keys,
    distinct,
    group_means,
    group_sums,
    indices_of,
    numbers,
    rows_of,
)
from celltcp.scenarios.sides import SERVER

if TYPE_CHECKING:
    import pyarrow as pa

    from celltcp.comparison.comparison import Comparison


class LinkLoad(NamedTuple):
    """Goodput of all flows on the link of the flow under test in a run, and its capacity."""

    goodput_mbps: float
    capacity_mbps: float

    @property
    def utilisation(self) -> float:
        """Goodput as a share of the capacity, from 0 to 1; NaN in an outage of the whole run."""
        capacity = self.capacity_mbps
        return min(self.goodput_mbps / capacity, 1.0) if capacity > 0 else math.nan


def link_loads(comparison: Comparison) -> dict[str, list[LinkLoad]]:
    """Returns by CCA the means over the time in which the flow under test is active, in seed order.

    They are those of its direction. Runs whose capacity is unknown have NaN.
    """
    tables, about = comparison.results.tables, comparison.results.about
    slots, flows = tables["slots"], tables["flows"]
    is_tested, is_on_link = _connections(comparison)
    index = indices_of(connection_keys(slots), connection_keys(flows))
    run, t_s, goodput, capacity = (
        numbers(slots[name]) for name in ("run", "t_s", "goodput_mbps", "capacity_mbps")
    )
    # Times of slots are sums of floating-point numbers.
    steps = np.rint(t_s / float(about["slot_s"])).astype(np.int64)
    moments = (run.astype(np.int64) << 32) | steps
    is_own = is_tested[index] & ~np.isnan(capacity)
    active, first, _ = distinct(moments[is_own])
    at = indices_of(moments, active)
    is_beside = is_on_link[index] & (at >= 0)
    # The capacity of a connection is what all others left, by the rate of their packets.
    sent = np.where(is_own, _payload_rates(slots, is_own), goodput)
    totals, all_sent = (
        group_sums(values[is_beside], at[is_beside], len(active)) for values in (goodput, sent)
    )
    left = (capacity - sent)[is_own][first]
    runs, _, group = distinct(active >> 32)
    means = (group_means(values, group, len(runs)).tolist() for values in (totals, left + all_sent))
    loads = dict(zip(runs.tolist(), map(LinkLoad, *means), strict=True))
    unknown = LinkLoad(math.nan, math.nan)
    return {
        cca: [loads.get(int(run), unknown) for run in comparison.values(cca, "run")]
        for cca in comparison.ccas
    }


def _connections(comparison: Comparison) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns for each connection whether it is of the flow under test, and whether on its link."""
    rows = list(rows_of(comparison.results.tables["flows"], "name", "ue"))
    links = bottleneck_links(comparison.results.about, {name for name, _ in rows})
    places = [(links[name], ue == SERVER) for name, ue in rows]
    is_tested = [comparison.tested.includes(name) for name, _ in rows]
    own = {place for place, is_own in zip(places, is_tested, strict=True) if is_own}
    return np.array(is_tested, bool), np.array([place in own for place in places], bool)


def _payload_rates(slots: pa.Table, is_own: NDArray[np.bool_]) -> NDArray[Any]:
    """Returns the rates of the packets of connections, without headers, Mbit/s."""
    goodput = numbers(slots["goodput_mbps"])
    if "rate_mbps" not in slots.column_names:
        return goodput
    rate = numbers(slots["rate_mbps"])
    total = np.nansum(rate[is_own])
    payload: NDArray[Any] = rate * (np.nansum(goodput[is_own]) / total if total > 0 else 1.0)
    return payload


def utilisation(comparison: Comparison) -> dict[str, list[float]]:
    """Returns by CCA the utilisation of the link of the flow under test, from 0 to 1, in seed order."""
    return {cca: [each.utilisation for each in runs] for cca, runs in link_loads(comparison).items()}
