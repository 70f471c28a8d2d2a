"""Path of a scenario: its RTT, and the bottleneck of constant rates, a wired hop or the access link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from celltcp._core import in_unit

#: Default of `path.rtt`.
_DEFAULT_RTT = "40ms"


def steady_rate(capacity: object) -> float | None:
    """Returns the rate of a capacity, bit/s; None if it varies."""
    value = capacity.get("rate") if isinstance(capacity, Mapping) else capacity
    return in_unit(value, "bit/s") if isinstance(value, str) else None


def base_rtt_ms(scenario: Mapping[str, Any]) -> float:
    """Returns the RTT of the path of a scenario without queues, ms."""
    return in_unit(scenario.get("path", {}).get("rtt", _DEFAULT_RTT), "ms") or 0.0


def path_parts(scenario: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Returns the access link of a scenario and its wired hops, by their fields."""
    path = scenario.get("path", {})
    hops = {f"path.wired.{index}": hop for index, hop in enumerate(path.get("wired", ()))}
    return {"path": path, **hops}


def _highest_rate(capacity: object) -> float | None:
    """Returns the rate of a capacity, or the highest one of its steps, bit/s; None if it is unknown."""
    if isinstance(capacity, Mapping) and capacity.get("steps"):
        rates = [in_unit(step["rate"], "bit/s") for step in capacity["steps"]]
        return max(rate or 0.0 for rate in rates)
    return steady_rate(capacity)


def narrow_link(scenario: Mapping[str, Any], flow: Mapping[str, Any]) -> int | None:
    """Returns the index in `links` of the bottleneck of a flow off the path; None if the path has it.

    With a radio or a varying rate on the way, the path is assumed to have it.

    Args:
        scenario: as parsed from TOML.
        flow: flow of the scenario.
    """
    if scenario.get("radio") or not scenario.get("links"):
        return None
    way = _way(scenario, *_ends(flow))
    rates = [(part.link, steady_rate(part.rate)) for part in way]
    if not rates or any(rate is None for _, rate in rates):
        return None
    return min(rates, key=lambda each: each[1] or 0.0)[0]


def shares_bottleneck(
    scenario: Mapping[str, Any], flow: Mapping[str, Any], other: Mapping[str, Any]
) -> bool:
    """Returns whether the way of another flow has the bottleneck of a flow on it.

    Without further links that is assumed of all flows of the path. A cell has a queue for each UE.
    """
    if not scenario.get("links"):
        nodes = [set(_ends(each)) - {"server"} for each in (flow, other)]
        return not scenario.get("radio") or nodes[0] == nodes[1]
    start, end = _ends(flow)
    link = narrow_link(scenario, flow)
    hop = narrow_hop(scenario, is_upload=end == "server")
    if link is not None:
        own = next(part.nodes for part in _way(scenario, start, end) if part.link == link)
    elif hop is None:
        own = frozenset(("gateway", "phone"))
    else:
        own = frozenset(_path_nodes(scenario)[hop : hop + 2])
    ways = [{part.nodes for part in _way(scenario, *_ends(each))} for each in (flow, other)]
    # Where the bottleneck is not on the own way, any common link may be it.
    return own in ways[1] if own in ways[0] else not ways[0].isdisjoint(ways[1])


class _Part(NamedTuple):
    """A link on the way between two nodes."""

    nodes: frozenset[str]
    #: Index in `links`; None for a hop of the path.
    link: int | None
    rate: object


def _ends(flow: Mapping[str, Any]) -> tuple[str, str]:
    return str(flow.get("from", "server")), str(flow.get("to", "phone"))


def _path_nodes(scenario: Mapping[str, Any]) -> list[str]:
    """Returns the nodes of the path, from the server to the phone."""
    hops = scenario.get("path", {}).get("wired", ())
    return ["server", *(f"node-{index}" for index in range(1, len(hops))), "gateway", "phone"]


def _way(scenario: Mapping[str, Any], start: str, end: str) -> list[_Part]:
    """Returns the links between two nodes."""
    path = scenario.get("path", {})
    hops, nodes = path.get("wired", ()), _path_nodes(scenario)
    neighbours: dict[str, list[tuple[str, int | None, object]]] = {}
    rates = [*((hop.get("rate"), hop.get("rate")) for hop in hops), (path.get("down"), path.get("up"))]
    for one, other, (down, up) in zip(nodes, nodes[1:], rates, strict=False):
        neighbours.setdefault(one, []).append((other, None, down))
        neighbours.setdefault(other, []).append((one, None, up))
    for number, link in enumerate(scenario.get("links", ())):
        one, other = str(link.get("from")), str(link.get("to"))
        neighbours.setdefault(one, []).append((other, number, link.get("rate")))
        neighbours.setdefault(other, []).append((one, number, link.get("rate")))
    # The links form a tree, so that there is one way.
    ways: dict[str, list[_Part]] = {start: []}
    pending = [start]
    while pending:
        node = pending.pop()
        for neighbour, index, rate in neighbours.get(node, ()):
            if neighbour not in ways:
                ways[neighbour] = [*ways[node], _Part(frozenset((node, neighbour)), index, rate)]
                pending.append(neighbour)
    return ways.get(end, [])


def narrow_hop(scenario: Mapping[str, Any], *, is_upload: bool) -> int | None:
    """Returns the index of the wired hop that is the bottleneck of a flow; None for the access link.

    Among equal rates it is the first one on the way of the data: later ones get data no faster than
    they send. A hop whose rate has steps counts with the highest one: where that is lower,
    the access link has no queue. With a radio or a varying access link, the access link is assumed.

    Args:
        scenario: as parsed from TOML.
        is_upload: whether data go to the server.
    """
    path = scenario.get("path", {})
    access = steady_rate(path.get("up" if is_upload else "down", {}))
    if scenario.get("radio") or access is None:
        return None
    rates: list[tuple[int | None, float]] = [
        (index, rate)
        for index, hop in enumerate(path.get("wired", ()))
        if (rate := _highest_rate(hop.get("rate"))) is not None
    ]
    rates.append((None, access))
    if is_upload:
        rates.reverse()
    bottleneck, _ = min(rates, key=lambda hop_rate: hop_rate[1])
    return bottleneck
