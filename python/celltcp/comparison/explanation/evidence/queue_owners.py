"""Owners of queues: the flow whose data stand in the queue of a flow, or before its ACKs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.scenarios.packets import HEADERS_BYTES
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum share of the goodput or capacity of a direction at which a flow can fill its queue.
_MIN_OWNER_SHARE = 0.05
#: Quantile of the delays of slots from which on a delay is long.
_LONG_QUANTILE = 0.9
#: Tolerance of the number of a slot, slots: its start is a sum of floats.
_ROUNDING = 1e-6
#: Least part of a queue of an owner, as a share of the largest one; most owners that a text names.
_MIN_OWNER_PART, _MAX_NAMED_OWNERS = 0.5, 4
#: Size of an ACK as a share of the two packets that it stands for.
ACK_SHARE = 66 / (2 * 1500)


def competitors(evidence: Evidence) -> dict[str, float]:
    """Returns the other flows of the direction that send enough to fill a queue, in Mbit/s."""
    rates = evidence.competing_mbps
    min_mbps = _MIN_OWNER_SHARE * (evidence.goodput_mbps + sum(rates.values()))
    return {name: rate for name, rate in rates.items() if rate >= min_mbps}


def queue_owner(evidence: Evidence) -> str | None:
    """Returns the flow that has the largest part of the mean wait of packets.

    It may be the flow itself. None if no other flow sends in its direction.
    """
    if not evidence.competing_mbps:
        return None
    parts = evidence.queue_parts
    return max(parts, key=parts.__getitem__)


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
    parts = evidence.queue_parts
    min_part = _MIN_OWNER_PART * parts[owner]
    names = sorted((name for name in parts if parts[name] >= min_part), key=lambda name: -parts[name])
    if len(names) > _MAX_NAMED_OWNERS:
        part_text = percent_text(sum(parts[name] for name in names))
        return f", which {len(names)} flows filled together (by {part_text} of what waited)"
    texts = [
        "its own data" if name == evidence.flow_name else _with_rate(name, evidence.competing_mbps)
        for name in names
    ]
    if len(texts) == 1:
        return f", which {texts[0]} filled"
    parts_text = ", ".join(percent_text(parts[name]) for name in names)
    return f", which {' and '.join(texts)} filled (by {parts_text} of what waited)"


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
    """Returns the data in flight of each flow in the slots of the longest waits, bytes."""
    delays_ms = evidence.slots["owd_mean_ms"]
    long = evidence.slots[delays_ms >= delays_ms.quantile(_LONG_QUANTILE)]
    in_flight = _met(evidence, long).groupby("name", observed=True)["inflight"].sum()
    return {str(name): float(size) for name, size in in_flight.items()}


def queue_parts(evidence: Evidence) -> dict[str, float]:
    """Returns the part of the flow, and of each that fills its queue, in the mean wait of packets.

    The wait of a packet is divided as the data in flight that it met, but data make no more of it than
    the link needs for them. The parts have the sum 1.
    """
    names = [evidence.flow_name, *competitors(evidence)]
    slots = evidence.slots[evidence.slots["owd_mean_ms"].notna()]
    slots = slots.assign(wait_ms=evidence.wait_ms(slots["owd_mean_ms"]))
    met = _met(evidence, slots[slots["wait_ms"] > 0])
    met = met[met["name"].isin(names) & (met["inflight"] > 0)]
    totals = met.groupby(["run", "t_s"])["inflight"].transform("sum")
    # Slots have the data in flight at their end, when those that filled the queue may have left it.
    sent_ms = 8e-3 * met["inflight"] / evidence.capacity_mbps
    waits_ms = np.minimum(met["wait_ms"] * met["inflight"] / totals, sent_ms)
    sums = (met["rate_mbps"] * waits_ms).groupby(met["name"].astype(str)).sum()
    total = float(sums.sum()) or 1.0
    return {name: float(sums.get(name, 0.0)) / total for name in names}


def _met(evidence: Evidence, slots: pd.DataFrame) -> pd.DataFrame:
    """Returns a row for each slot of a flow and each flow, with its bytes in flight when packets came.

    A transfer that ends has no more in flight when the last of these packets arrive.
    """
    met = _with_slot_numbers(
        slots.drop(columns=["flow", "inflight"], errors="ignore"),
        slots["t_s"] - slots["owd_mean_ms"] / 1e3,
        evidence.slot_s,
    )
    all_slots = evidence.comparison.slots[["run", "flow", "t_s", "inflight"]]
    all_slots = _with_slot_numbers(all_slots, all_slots["t_s"], evidence.slot_s)
    connections = evidence.all_connections
    # Small messages have segments of their own.
    sizes = connections["bytes"] / (connections["segments"] - connections["retransmissions"])
    connections = connections[["run", "flow", "name"]].assign(segment_bytes=sizes + HEADERS_BYTES)
    all_slots = all_slots.merge(connections, on=["run", "flow"])
    all_slots["inflight"] *= all_slots.pop("segment_bytes")
    return met.merge(all_slots.drop(columns="t_s"), on=["run", "slot"])


def _with_slot_numbers(rows: pd.DataFrame, times_s: pd.Series, slot_s: float) -> pd.DataFrame:
    """Returns rows with the number of the slot in which each time is, of the first for earlier ones."""
    numbers = np.floor(times_s / slot_s + _ROUNDING).clip(lower=0)
    return rows.assign(slot=numbers.astype(int))


def _with_rate(name: str, rates: Mapping[str, float]) -> str:
    return f"{name} ({rate_text(rates[name])})"
