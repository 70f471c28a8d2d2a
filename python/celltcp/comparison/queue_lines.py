"""Linux commands for queue disciplines and shapers, with the interface that each belongs on.

A queue discipline at the root of an interface shapes what leaves there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit

#: Rate of a shaper as a share of the rate of the link after it, so that the link has no queue.
_SHAPER_SHARE = 0.9
#: Interface of a router that a shaper belongs on, by the direction of the data.
_INTERFACES = {"down": "INTERFACE to the LAN, or an ifb", "up": "INTERFACE to the WAN"}
_DIRECTIONS = {"down": "downlink", "up": "uplink"}
#: Queue disciplines with times of CoDel, and these.
_KINDS_WITH_TIMES, _TIMES = ("codel", "fq-codel"), ("interval", "target")
_REPLACE = "tc qdisc replace dev INTERFACE root"


def queue_line(
    parts: list[str], value: str, scenario: Mapping[str, Any] | None, direction: str = ""
) -> str:
    """Returns the command for a queue discipline with default parameters, or with times of CoDel.

    The line has no effect if the queue is in another device, such as a modem. With a scenario, the text
    also has lines for that case: shapers, one for each direction, which move the queue to their host.
    The queue of a cell has no line, as its base station manages it. With a `direction`, only the queue
    of that direction has a shaper.
    """
    if (scenario or {}).get("radio") and parts[1] == "queue":
        return ""
    kind, times = _kind_and_times(value)
    name = {"droptail": "pfifo", "fq-codel": "fq_codel", "codel": "codel", "pie": "pie"}.get(kind)
    if name is None:
        return ""
    times_text = "".join(f" {field} {time}" for field, time in times.items())
    line = f"host before the bottleneck, INTERFACE towards it: {_REPLACE} {name}{times_text}"
    if scenario is None or value == "droptail":
        return line
    directions = [direction] if direction else _directions(scenario)
    rates = _shaped_rates(parts, scenario, directions)
    # CAKE makes target and interval of an RTT.
    rtt = f" rtt {times['interval']}" if "interval" in times else ""
    shapers = [_shaper(f"{rate / 1e3:.0f}kbit", [each], scenario, rtt) for each, rate in rates.items()]
    path = scenario.get("path", {})
    if not shapers and any("trace" in str(path.get(each)) for each in directions):
        rate_text = "RATE, 90 % of the capacity, if that is steady"
        shapers = [_shaper(rate_text, directions, scenario, rtt)]
    shaper_text = "; ".join(shapers) or "only a shaper before it"
    return f"{line}; where the queue is a modem's or the provider's: {shaper_text}"


def _kind_and_times(value: str) -> tuple[str, dict[str, str]]:
    """Returns a queue discipline, and times of CoDel by their names; no kind for other parameters."""
    if not value.startswith("{"):
        return value, {}
    try:
        table = tomllib.loads(f"queue = {value}")["queue"]
    except tomllib.TOMLDecodeError:
        return "", {}
    times = {field: str(table[field]) for field in _TIMES if field in table}
    is_known = len(times) + 1 == len(table) and table.get("kind") in _KINDS_WITH_TIMES
    return (table["kind"], times) if is_known else ("", {})


def shaper_line(rate: str, scenario: Mapping[str, Any]) -> str:
    """Returns the command of a shaper with a rate; empty if that is no constant rate."""
    bits_per_s = in_unit(rate, "bit/s")
    if bits_per_s is None:
        return ""
    return _shaper(f"{bits_per_s / 1e3:.0f}kbit", _directions(scenario), scenario)


def _shaper(
    rate: str, directions: list[str], scenario: Mapping[str, Any], further_options: str = ""
) -> str:
    """Returns host, interface and command of a shaper for some directions."""
    texts = [_INTERFACES[direction] for direction in directions]
    if len(texts) > 1:
        texts = [
            f"{text} ({_DIRECTIONS[direction]})"
            for direction, text in zip(directions, texts, strict=True)
        ]
    interfaces = " and ".join(texts)
    if scenario.get("radio") and "down" in directions:
        interfaces += ", or an operator's router, INTERFACE to the base station"
    return f"router, {interfaces}: {_REPLACE} cake{further_options} bandwidth {rate}"


def _directions(scenario: Mapping[str, Any]) -> list[str]:
    """Returns the directions of the bulk flows, which fill a queue, or else of the first flow."""
    flows = scenario.get("flows") or [{}]
    # Bulk flows have no limit of their own, so that they fill the queue.
    bulk = [flow for flow in flows if flow.get("workload", {}).get("kind", "bulk") == "bulk"]
    return sorted({"up" if flow.get("from") == "phone" else "down" for flow in bulk or flows[:1]})


def _shaped_rates(
    parts: list[str], scenario: Mapping[str, Any], directions: list[str]
) -> dict[str, float]:
    """Returns the rates of shapers before a link, bit/s, by the direction.

    A link with a varying rate has no shaper.
    """
    path = scenario.get("path", {})
    rates = {}
    for direction in directions:
        is_hop = parts[1] == "wired"
        rate = _shaper_rate(path["wired"][int(parts[2])].get("rate") if is_hop else path.get(direction))
        if rate is not None:
            rates[direction] = rate
    return rates


def _shaper_rate(capacity: object) -> float | None:
    """Returns the rate of a shaper before a link, bit/s; None for a link with a varying rate."""
    value = capacity.get("rate") if isinstance(capacity, Mapping) else capacity
    rate = in_unit(value, "bit/s") if isinstance(value, str) else None
    return None if rate is None else _SHAPER_SHARE * rate
