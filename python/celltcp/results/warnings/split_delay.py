"""Warning about split hosts on a long path with the whole delay on one side."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from celltcp._core import in_unit, middlebox_kinds
from celltcp.scenarios.cca_mix import parse_mix

#: Kinds of middleboxes that split connections.
_SPLIT_KINDS = frozenset(middlebox_kinds(splits=True))
#: Minimum RTT of a long path, ms.
_LONG_PATH_MS = 100.0


def one_sided_delay(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each split host that divides no delay of a long path."""
    scenario = tomllib.loads(about["scenario"])
    path = scenario.get("path", {})
    rtt_ms = in_unit(path.get("rtt", "0ms"), "ms") or 0.0
    if "radio" in scenario or rtt_ms < _LONG_PATH_MS:
        return []
    delays = _delays(path.get("wired", ()), rtt_ms / 2)
    texts = []
    for kind, node in dict.fromkeys(_split_hosts(about, path)):
        delay_ms = _delays_at(node, delays)
        if min(delay_ms.values()) > 0:
            continue
        side = max(delay_ms, key=delay_ms.__getitem__)
        texts.append(
            f"{kind} at {node}: the whole RTT of {path['rtt']} lies between it and the {side}, so that "
            "it divides no delay. Divide path.wired, such as "
            "[{ name = 'internet', delay = '10ms' }, { name = 'satellite' }], and set at=node-1"
        )
    return texts


def dividing_node(scenario: Mapping[str, Any]) -> str | None:
    """Returns the node nearest to the phone that divides the delay of the path; None without one."""
    if "radio" in scenario:
        return "gateway"
    path = scenario.get("path", {})
    delays = _delays(path.get("wired", ()), (in_unit(path.get("rtt", "0ms"), "ms") or 0.0) / 2)
    nodes = (f"node-{number}" for number in range(len(delays) - 1, 0, -1))
    return next((node for node in nodes if min(_delays_at(node, delays).values()) > 0), None)


def _delays_at(node: str, delays: list[float]) -> dict[str, float]:
    """Returns the one-way delays from a node to the server and to the phone, ms."""
    hops = int(node.removeprefix("node-")) if node.startswith("node-") else len(delays)
    return {"server": sum(delays[:hops]), "phone": sum(delays[hops:])}


def _split_hosts(about: Mapping[str, Any], path: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yields kind and node of the split hosts under all congestion controls."""
    for cca in about["cca"]:
        chain = parse_mix(cca).middleboxes
        if not chain:
            boxes = [(box.get("kind", "split"), box.get("at")) for box in path.get("middleboxes", ())]
        else:
            boxes = [_kind_and_node(part) for part in chain.split("@")]
        yield from ((kind, node or "gateway") for kind, node in boxes if kind in _SPLIT_KINDS)


def _kind_and_node(text: str) -> tuple[str, str | None]:
    """Returns kind and node of a middlebox, such as `split:at=node-1`."""
    kind, _, settings = text.partition(":")
    values = dict(part.partition("=")[::2] for part in settings.split(","))
    return kind, values.get("at")


def _delays(hops: Iterable[Mapping[str, Any]], one_way_ms: float) -> list[float]:
    """Returns the delay of each hop, ms; the first hop without one has the rest of the path's delay."""
    given = [in_unit(hop["delay"], "ms") if "delay" in hop else None for hop in hops]
    rest_ms = max(one_way_ms - sum(delay or 0.0 for delay in given), 0.0)
    delays = []
    for delay in given:
        delays.append(rest_ms if delay is None else delay)
        rest_ms = 0.0 if delay is None else rest_ms
    return delays
