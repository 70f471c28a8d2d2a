"""Remedies of a sending program: parallel connections, and a cap of its rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.scenarios.demand import offered_mbps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Number of parallel connections.
_CONNECTIONS = 5
#: Minimum part of a transfer for each of them, bytes.
_MIN_PART_BYTES = 100_000
#: Cap of the rate of a sender as a share of the rate of the link after it, with headers, so that the
#: link has no queue.
_CAP_SHARE = 0.98
#: Shares of the mean rate of a link for a transfer beside others that send at times.
_SHARES_BESIDE = (0.9, 0.75, 0.5)
#: Minimum share of the mean capacity that a link has nearly always, for a cap to suit it.
_MIN_STEADY_SHARE = 0.95
#: Quantile of what others leave of a link that varies, for a cap that it nearly always has room for.
_LOW_QUANTILE = 0.05


def parallel_connections(evidence: Evidence, against: str) -> Iterator[Remedy]:
    """Yields parallel connections that divide a transfer; each of them has a window of its own."""
    flow = f"flows.{evidence.flow_index}"
    if not evidence.is_bulk or evidence.sessions != 1 or evidence.is_bbr:
        return
    changes = [f"{flow}.count={_CONNECTIONS}"]
    total = in_unit(str(evidence.workload.get("bytes", "")) or None, "B")
    if total is not None:
        part = math.ceil(total / _CONNECTIONS)
        if part < _MIN_PART_BYTES:
            return
        changes.append(f"{flow}.workload.bytes={_with_prefix(part, ('B', 'kB', 'MB', 'GB'))}")
    yield Remedy(
        f"{against}: {_CONNECTIONS} parallel connections",
        tuple(changes),
        linux=connections_line(_CONNECTIONS),
        price="more than a fair share beside other flows",
    )


def connections_line(count: int) -> str:
    """Returns the host and the program that have some parallel connections."""
    return f"sender: a program with {count} connections, as iperf3 -P {count}"


def capped_sender(evidence: Evidence, against: str, limit: str = "link") -> Iterator[Remedy]:
    """Yields a cap of the pacing rate below that of a steady link or policer without other flows.

    BBR finds the rate of a link itself, but sends on beyond that of a policer. Of a link only transfers
    get one, as others send less on average.
    """
    is_one = evidence.sessions == 1 and (evidence.is_bulk or limit == "policer")
    if is_one and not evidence.competing_mbps and not (evidence.is_bbr and limit == "link"):
        capacity_mbps = evidence.capacity_mbps
        if _is_steady(evidence.capacities_1s_mbps, capacity_mbps):
            yield from _cap(evidence, evidence.flow_index, _CAP_SHARE * capacity_mbps, against, limit)


def capped_owner(evidence: Evidence, owner: str) -> Iterator[Remedy]:
    """Yields caps of transfers that fill a queue, in sum below what others need of the link.

    Of a link that varies that is a low quantile of its rate, or half of the mean: the other half drains
    what waits after slow times. Beside pages and others that send at times it is shares of the mean. A
    flow whose own data fill most of the queue has those of the transfer beside it.
    """
    rivals = {**evidence.competing_mbps}
    if owner == evidence.flow_name:
        owner = max(rivals, key=rivals.__getitem__, default=owner)
    index = evidence.index_of(owner)
    if index is None or index == evidence.flow_index or not _is_transfer(evidence, owner):
        return
    rivals.pop(owner, None)
    rates, connections = (
        evidence.link_rates_1s_mbps,
        int(evidence.scenario["flows"][index].get("count", 1)),
    )
    if any(_is_transfer(evidence, each) for each in rivals) or not len(rates):
        return
    beside = {evidence.flow_name: evidence.goodput_mbps, **rivals}
    if not all(map(evidence.is_thin_flow, beside)):
        parts_mbps = [share * rates.mean() for share in _SHARES_BESIDE]
    else:
        needed_mbps = sum(_needed_mbps(evidence, *each) for each in beside.items())
        left = _CAP_SHARE * rates - needed_mbps
        is_steady = _is_steady(rates, rates.mean())
        left = left[left > 0]
        parts_mbps = [] if left.empty else [left.mean() if is_steady else _low_part(left)]
    against = f"the queue that {owner} fills"
    for variant, part_mbps in enumerate(parts_mbps):
        for each in _cap(evidence, index, part_mbps / connections, against, "link"):
            yield each._replace(variant=variant)


def _low_part(left_mbps: pd.Series) -> float:
    """Returns the part of what a varying link leaves, Mbit/s, that a cap takes nearly always."""
    return min(float(left_mbps.quantile(_LOW_QUANTILE)), float(left_mbps.mean()) / 2)


def _needed_mbps(evidence: Evidence, name: str, got_mbps: float) -> float:
    """Returns the rate of a flow beside a transfer, Mbit/s: all its frames, also if it got less."""
    index = evidence.index_of(name)
    if index is None:
        return got_mbps
    flow = evidence.scenario["flows"][index]
    per_session_mbps = offered_mbps(flow.get("workload", {})) or 0.0
    return max(got_mbps, int(flow.get("count", 1)) * per_session_mbps)


def _is_transfer(evidence: Evidence, name: str) -> bool:
    """Returns whether a flow sends without pauses; cross-traffic of no flow may."""
    index = evidence.index_of(name)
    return (
        index is None
        or evidence.scenario["flows"][index].get("workload", {}).get("kind", "bulk") == "bulk"
    )


def _is_steady(rates_mbps: pd.Series, mean_mbps: float) -> bool:
    """Returns whether the rates of a link in single seconds are near their mean."""
    return len(rates_mbps) > 0 and bool(rates_mbps.quantile(0.05) >= _MIN_STEADY_SHARE * mean_mbps)


def _cap(
    evidence: Evidence, index: int, rate_mbps: float, against: str, limit: str
) -> Iterator[Remedy]:
    """Yields a cap of the rate of each connection of a flow, below that of a link or policer."""
    field = f"flows.{index}.max_pacing_rate"
    kbps = math.floor(1e3 * rate_mbps)
    if kbps <= 0 or evidence.value_at(field) is not None:
        return
    step = 10 ** max(len(str(kbps)) - 3, 0)
    rate = _with_prefix(kbps // step * step, ("kbit", "Mbit", "Gbit"))
    yield Remedy(
        f"{against}: a cap of the rate of each connection below that of the {limit}",
        (f"{field}={rate}/s",),
        price=f"goodput if the {limit} becomes faster",
    )


def _with_prefix(value: int, units: Sequence[str]) -> str:
    """Returns a whole number with the largest of some units, each a thousand times the one before."""
    index = 0
    while value and value % 1000 == 0 and index + 1 < len(units):
        value, index = value // 1000, index + 1
    return f"{value}{units[index]}"
