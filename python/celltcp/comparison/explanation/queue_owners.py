"""Owners of queues: the flow whose data stand in the queue of a flow, or before its ACKs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from celltcp.comparison.explanation.evidence import Evidence

#: Minimum share of the goodput or capacity of a direction at which a flow can fill its queue.
_MIN_OWNER_SHARE = 0.05
#: Quantile of the delays of slots from which on a delay is long.
_LONG_QUANTILE = 0.9
#: Tolerance of the number of a slot, slots: its start is a sum of floats.
_ROUNDING = 1e-6
#: Size of an ACK as a share of the two packets that it stands for.
ACK_SHARE = 66 / (2 * 1500)


def competitors(evidence: Evidence) -> dict[str, float]:
    """Returns the other flows of the direction that send enough to fill a queue, in Mbit/s."""
    rates = evidence.competing_mbps
    min_mbps = _MIN_OWNER_SHARE * (evidence.goodput_mbps + sum(rates.values()))
    return {name: rate for name, rate in rates.items() if rate >= min_mbps}


def queue_owner(evidence: Evidence) -> str | None:
    """Returns the flow with most data in flight while packets waited longest.

    It may be the flow itself. None if no other flow sends in its direction.
    """
    if not evidence.competing_mbps:
        return None
    return longest_in_flight(evidence, [evidence.flow_name, *competitors(evidence)])


def queue_owner_text(evidence: Evidence) -> str:
    """Returns the owner of the queue of a flow as the end of a clause; empty without other flows.

    Bulk flows fill a queue together.
    """
    if evidence.is_bulk:
        rates = competitors(evidence)
        others = [_with_rate(name, rates) for name in rates if not evidence.is_thin_flow(name)]
        return f", which its own data and {' and '.join(others)} filled" if others else ""
    owner = queue_owner(evidence)
    if owner is None:
        return ""
    if owner == evidence.flow_name:
        return ", which its own data filled"
    return f", which {_with_rate(owner, evidence.competing_mbps)} filled"


def ack_queue_owner(evidence: Evidence) -> str | None:
    """Returns the flow of the opposite direction that fills the queue before ACKs.

    None if the ACKs themselves are more than it sends, or if it uses little of the link.
    """
    rates = evidence.reverse_mbps
    if not rates:
        return None
    owner = max(rates, key=rates.__getitem__)
    connections = evidence.all_connections
    connections = connections[connections["name"] == owner]
    slots = evidence.comparison.slots.merge(connections[["run", "flow"]], on=["run", "flow"])
    min_mbps = _MIN_OWNER_SHARE * float(slots["capacity_mbps"].mean())
    return owner if rates[owner] >= max(ACK_SHARE * evidence.goodput_mbps, min_mbps) else None


def ack_queue_owner_text(evidence: Evidence) -> str:
    """Returns the owner of the queue before ACKs as a clause; empty without one."""
    owner = ack_queue_owner(evidence)
    return "" if owner is None else f", which {_with_rate(owner, evidence.reverse_mbps)} filled,"


def longest_in_flight(evidence: Evidence, names: Iterable[str]) -> str:
    """Returns the flow of `names` with most data in flight in the slots of longest waits.

    The flow with the highest rate may fill no queue, as BBR, where another one sends in bursts.
    """
    return max(names, key=lambda name: evidence.met_in_flight.get(name, 0.0))


def met_in_flight(evidence: Evidence) -> dict[str, float]:
    """Returns the data in flight of each flow in the slots of the longest waits, segments."""
    delays_ms = evidence.slots[["run", "t_s", "owd_mean_ms"]].dropna()
    is_long = delays_ms["owd_mean_ms"] >= delays_ms["owd_mean_ms"].quantile(_LONG_QUANTILE)
    long = delays_ms[is_long]
    # The queue is that which these packets met: a transfer that ends has no more in flight then.
    met = _with_slot_numbers(long.assign(t_s=long["t_s"] - long["owd_mean_ms"] / 1e3), evidence.slot_s)
    slots = _with_slot_numbers(evidence.comparison.slots, evidence.slot_s)
    slots = slots.merge(met[["run", "slot"]].drop_duplicates(), on=["run", "slot"])
    slots = slots.merge(evidence.all_connections[["run", "flow", "name"]], on=["run", "flow"])
    in_flight = slots.groupby("name", observed=True)["inflight"].sum()
    return {str(name): float(segments) for name, segments in in_flight.items()}


def _with_slot_numbers(rows: pd.DataFrame, slot_s: float) -> pd.DataFrame:
    """Returns rows with the number of the slot in which each time is, of the first for earlier ones."""
    numbers = np.floor(rows["t_s"] / slot_s + _ROUNDING).clip(lower=0)
    return rows.assign(slot=numbers.astype(int))


def _with_rate(name: str, rates: Mapping[str, float]) -> str:
    return f"{name} ({rate_text(rates[name])})"
